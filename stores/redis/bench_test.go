package redis_test

import (
	"errors"
	"strconv"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/session"
	"github.com/carryon-go/carryon/internal/testkit/servertest"
)

// BenchmarkUpdate changes states of 1,000 sessions in turn. Its base is a GET and a SET, which lose updates.
func BenchmarkUpdate(b *testing.B) {
	url := servertest.StartRedis(b).URL
	keys := make([]string, 1000)
	for i := range keys {
		keys[i] = "session " + strconv.Itoa(i)
	}
	b.Run("GET and SET", func(b *testing.B) {
		o, err := goredis.ParseURL(url)
		require.NoError(b, err)
		o.ContextTimeoutEnabled = true
		client := goredis.NewClient(o)
		defer client.Close()
		for i := 0; b.Loop(); i++ {
			key := keys[i%len(keys)]
			if err := client.Get(b.Context(), key).Err(); err != nil && !errors.Is(err, goredis.Nil) {
				b.Fatal(err)
			}
			if err := client.Set(b.Context(), key, "a state of some fifty bytes, as a session has it..", time.Hour).Err(); err != nil {
				b.Fatal(err)
			}
		}
	})
	for name, change := range map[string]func(*decision.State){
		"change": func(s *decision.State) { s.Attempts++ },
		"look":   func(*decision.State) {},
	} {
		b.Run(name, func(b *testing.B) {
			store := session.NewSharedStore(open(b, url), continuation.DefaultLimits().SessionLife)
			for i := 0; b.Loop(); i++ {
				err := store.Update(b.Context(), keys[i%len(keys)], func(s decision.State) decision.State {
					s.UserTurn = 1
					change(&s)
					return s
				})
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
