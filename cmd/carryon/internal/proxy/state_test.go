package proxy

import (
	"bufio"
	"context"
	"errors"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/internal/testkit/servertest"
	"github.com/carryon-go/carryon/stores/postgres"
)

// Proxies with the same -state are one.
func TestProxiesShareTheirState(t *testing.T) {
	t.Parallel()
	address := "redis://" + miniredis.RunT(t).Addr()
	upstream := carryontest.NewServer(t)
	var scenes []*scene
	for range 2 {
		s := sceneAt(t, upstream.URL(), "-max-attempts", "1", "-state", address)
		s.upstream = upstream
		scenes = append(scenes, s)
	}
	before := 0
	scenes[0].ask(t, conversation{session: "a"}, stalls()...)
	assert.Equal(t, 2, scenes[0].asked(&before))
	scenes[1].ask(t, conversation{session: "a"}, carryontest.Text(plan))
	assert.Equal(t, 1, scenes[0].asked(&before), "the budget is used up")
}

// counting is an engine that keeps expired records, and fails once to delete them.
type counting struct {
	engine

	swept []time.Time
}

func (c *counting) Sweep(context.Context) (int64, error) {
	if c.swept = append(c.swept, time.Now()); len(c.swept) == 2 {
		return 0, errors.New("the server is down")
	}
	return 3, nil
}

func TestExpiredRecordsAreDeletedEveryHour(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		state, logs, began := new(counting), newBuffer(), time.Now()
		go sweep(ctx, state, loggerTo(logs))
		<-time.After(2*time.Hour + time.Minute)
		stop()
		synctest.Wait()
		assert.Equal(t, []time.Time{began, began.Add(time.Hour), began.Add(2 * time.Hour)}, state.swept)
		assert.Contains(t, logs.String(), `level=WARN msg="expired records of -state were not deleted" error="the server is down"`)
		assert.Contains(t, logs.String(), "level=DEBUG msg=\"deleted expired records of -state\" records=3")
	})
}

func TestExpiredRecordsAreDeletedFromPostgres(t *testing.T) {
	t.Parallel()
	address := servertest.StartPostgres(t).URL
	store, err := postgres.Open(t.Context(), address)
	require.NoError(t, err)
	defer store.Close()
	require.NoError(t, store.CreateTable(t.Context()))
	for key, keep := range map[string]time.Duration{"expired": time.Nanosecond, "live": time.Hour} {
		require.NoError(t, store.Update(t.Context(), key, func(time.Time, []byte) ([]byte, time.Duration, error) {
			return []byte("x"), keep, nil
		}))
	}
	said, logs, err := os.Pipe()
	require.NoError(t, err)
	defer said.Close()
	defer logs.Close()
	proxy, err := Start(t.Context(), parsed(t, "-listen", "127.0.0.1:0", "-state", address), loggerTo(logs))
	require.NoError(t, err)
	readUntil(t, bufio.NewReader(said), "deleted expired records of -state\" records=1")
	require.NoError(t, proxy.Stop(t.Context()))
	deleted, err := store.Sweep(t.Context())
	require.NoError(t, err)
	assert.Zero(t, deleted, "the proxy has deleted it")
}

func TestStateThatCannotBeOpened(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"mongo://secret@host":               "-state: mongo:// is not supported: use redis:// or postgres://",
		"redis://:secret%zz@host":           "-state: not a URL such as redis://127.0.0.1:6379 or postgres://127.0.0.1/carryon",
		"foo":                               "-state: not a URL such as",
		"redis://:secret@" + nobody(t):      "-state: no answer: ",
		"postgres://u:secret@" + nobody(t):  "-state: ",
		"redis://:secret@host/not-a-number": "-state: ",
	} {
		_, err := openState(t.Context(), address)
		require.ErrorContains(t, err, want)
		assert.NotContains(t, err.Error(), "secret")
	}
}
