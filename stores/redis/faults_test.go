package redis_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/recordtable"
	"github.com/carryon-go/carryon/internal/session"
	"github.com/carryon-go/carryon/internal/testkit/servertest"
	"github.com/carryon-go/carryon/records"
	"github.com/carryon-go/carryon/stores/redis"
)

// count adds an attempt to the state of "s".
func count(ctx context.Context, engine records.Records) (attempts int, err error) {
	err = session.NewSharedStore(engine, continuation.DefaultLimits().SessionLife).Update(ctx, "s", func(s decision.State) decision.State {
		s.Attempts++
		attempts = s.Attempts
		return s
	})
	return attempts, err
}

// stateKey is the key of the state of "s".
var stateKey = recordtable.Format{Kind: "state"}.Key("s")

func TestAServerThatIsNotThere(t *testing.T) {
	t.Parallel()
	server, url := startMini(t)
	engine := open(t, url)
	_, err := count(t.Context(), engine)
	require.NoError(t, err)
	server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err = count(ctx, engine)
	require.ErrorContains(t, err, "redis: ")
	require.ErrorContains(t, err, "connection refused")
	require.ErrorContains(t, engine.Ping(ctx), "connection refused")
	assert.NoError(t, ctx.Err(), "it fails at once, and not when the ctx ends")

	require.NoError(t, server.Restart())
	attempts, err := count(t.Context(), engine)
	require.NoError(t, err, "it is there again")
	assert.Equal(t, 2, attempts)
}

// A server that accepts connections and never answers must not cost more than the ctx.
func TestAServerThatHangs(t *testing.T) {
	t.Parallel()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	engine := open(t, "redis://"+listener.Addr().String())
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err = count(ctx, engine)
	require.Error(t, err)
}

func TestAWrongPassword(t *testing.T) {
	t.Parallel()
	url := servertest.StartRedis(t, "--requirepass", "right").URL
	for password, want := range map[string]string{"wrong": "WRONGPASS", "": "NOAUTH"} {
		engine := open(t, strings.Replace(url, "unix://", "unix://:"+password+"@", 1))
		if password == "" {
			engine = open(t, url)
		}
		_, err := count(t.Context(), engine)
		require.ErrorContains(t, err, want)
		assert.NotContains(t, err.Error(), "wrong@")
	}
	_, err := count(t.Context(), open(t, strings.Replace(url, "unix://", "unix://:right@", 1)))
	require.NoError(t, err)
}

func TestAServerWithoutMemory(t *testing.T) {
	t.Parallel()
	url := servertest.StartRedis(t).URL
	engine, admin := open(t, url), client(t, url)
	_, err := count(t.Context(), engine)
	require.NoError(t, err)
	require.NoError(t, admin.ConfigSet(t.Context(), "maxmemory", "1").Err())
	_, err = count(t.Context(), engine)
	require.ErrorContains(t, err, "redis: OOM ")
	require.NoError(t, admin.ConfigSet(t.Context(), "maxmemory", "0").Err())
	attempts, err := count(t.Context(), engine)
	require.NoError(t, err)
	assert.Equal(t, 2, attempts, "what failed was not stored")
}

func TestAKeyThatWasEvicted(t *testing.T) {
	t.Parallel()
	server, url := startMini(t)
	engine := open(t, url)
	for want := range 2 {
		attempts, err := count(t.Context(), engine)
		require.NoError(t, err)
		assert.Equal(t, want+1, attempts)
	}
	server.Del(stateKey)
	attempts, err := count(t.Context(), engine)
	require.NoError(t, err)
	assert.Equal(t, 1, attempts, "the session has its budgets back")
}

func TestKeysOfOtherPrograms(t *testing.T) {
	t.Parallel()
	url := servertest.StartRedis(t).URL
	admin := client(t, url)
	for name, occupy := range map[string]func() error{
		"short":  func() error { return admin.Set(t.Context(), stateKey, "x", 0).Err() },
		"empty":  func() error { return admin.Set(t.Context(), stateKey, "", 0).Err() },
		"long":   func() error { return admin.Set(t.Context(), stateKey, strings.Repeat("x", 100), 0).Err() },
		"spaced": func() error { return admin.Set(t.Context(), stateKey, `{"a":12345} {"b":1}`, 0).Err() },
		"list":   func() error { return admin.RPush(t.Context(), stateKey, "x").Err() },
		"hash":   func() error { return admin.HSet(t.Context(), stateKey, "x", "y").Err() },
	} {
		require.NoError(t, admin.Del(t.Context(), stateKey).Err())
		require.NoError(t, occupy())
		before, err := admin.Dump(t.Context(), stateKey).Result()
		require.NoError(t, err)
		for range 2 {
			_, err = count(t.Context(), open(t, url))
			require.ErrorIs(t, err, records.ErrForeign, name)
		}
		after, err := admin.Dump(t.Context(), stateKey).Result()
		require.NoError(t, err)
		assert.Equal(t, before, after, name)
	}
}

// A client that sends a change again, because the answer to the first was lost, must not have it done twice.
func TestAChangeThatIsSentTwiceCountsOnce(t *testing.T) {
	t.Parallel()
	_, url := startMini(t)
	c := client(t, url)
	c.AddHook(&sendTwice{})
	engine, err := redis.New(c)
	require.NoError(t, err)
	for want := range 5 {
		attempts, err := count(t.Context(), engine)
		require.NoError(t, err)
		assert.Equal(t, want+1, attempts)
	}
}

// sendTwice sends every script twice, and gives back the second answer.
type sendTwice struct{}

func (*sendTwice) DialHook(next goredis.DialHook) goredis.DialHook { return next }
func (*sendTwice) ProcessPipelineHook(h goredis.ProcessPipelineHook) goredis.ProcessPipelineHook {
	return h
}

func (*sendTwice) ProcessHook(next goredis.ProcessHook) goredis.ProcessHook {
	return func(ctx context.Context, cmd goredis.Cmder) error {
		if err := next(ctx, cmd); err != nil || !strings.HasPrefix(cmd.Name(), "eval") {
			return err
		}
		return next(ctx, cmd)
	}
}

// The script is gone after a restart, a failover or SCRIPT FLUSH.
func TestAServerThatForgetsTheScript(t *testing.T) {
	t.Parallel()
	_, url := startMini(t)
	engine, admin := open(t, url), client(t, url)
	for want := range 3 {
		attempts, err := count(t.Context(), engine)
		require.NoError(t, err)
		assert.Equal(t, want+1, attempts)
		require.NoError(t, admin.ScriptFlush(t.Context()).Err())
	}
}

func client(t *testing.T, url string) *goredis.Client {
	t.Helper()
	o, err := goredis.ParseURL(url)
	require.NoError(t, err)
	o.ContextTimeoutEnabled = true
	c := goredis.NewClient(o)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestOpenRefusesWrongURLs(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"":                                "cannot be read",
		"postgres://localhost":            "invalid URL scheme",
		"redis+ring://localhost":          `unknown kind of server "ring"`,
		"redis+sentinel://localhost":      "master_name",
		"redis://localhost/x":             "invalid database number",
		"redis://:secret@localhost:x:y/%": "cannot be read",
		"redis+cluster://:secret@%":       "cannot be read",
		"redis://localhost?colour=red":    "unexpected option",
	} {
		_, err := redis.Open(url)
		require.ErrorContains(t, err, want, url)
		assert.NotContains(t, err.Error(), "secret")
	}
	for _, url := range []string{
		"redis://localhost", "rediss://user:secret@localhost:1/2?pool_size=3", "unix:///run/redis.sock?db=1",
		"redis+cluster://localhost?addr=localhost:2", "redis+sentinel://localhost/1?master_name=main", "rediss+sentinel://localhost?master_name=main",
	} {
		s, err := redis.Open(url)
		require.NoError(t, err, url)
		require.NoError(t, s.Close())
	}
}

func TestNewRefusesClientsThatIgnoreTheCtx(t *testing.T) {
	t.Parallel()
	_, err := redis.New(nil)
	require.EqualError(t, err, "redis: nil client")
	for _, c := range []goredis.UniversalClient{
		goredis.NewClient(&goredis.Options{}),
		goredis.NewClusterClient(&goredis.ClusterOptions{Addrs: []string{"localhost:1"}}),
		goredis.NewUniversalClient(&goredis.UniversalOptions{MasterName: "main", Addrs: []string{"localhost:1"}}),
	} {
		_, err := redis.New(c)
		require.ErrorContains(t, err, "ContextTimeoutEnabled")
		require.NoError(t, c.Close())
	}
}

func TestMessages(t *testing.T) {
	t.Parallel()
	_, url := startMini(t)
	a, b := open(t, url), open(t, url)
	ctx, cancel := context.WithCancel(t.Context())
	heard, ended := make(chan string, 10), make(chan error)
	go func() { ended <- b.Listen(ctx, "topic", func(message string) { heard <- message }) }()
	assert.Empty(t, <-heard, "it is listening")
	require.NoError(t, a.Notify(t.Context(), "another", "x"))
	require.NoError(t, a.Notify(t.Context(), "topic", "s\x00\xff 1"))
	assert.Equal(t, "s\x00\xff 1", <-heard)
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
	require.NoError(t, b.Close())
	err := b.Listen(t.Context(), "topic", func(string) {})
	require.ErrorIs(t, err, goredis.ErrClosed)
	require.NotErrorIs(t, err, context.Canceled)
}
