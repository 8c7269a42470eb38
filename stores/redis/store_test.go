package redis_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/internal/testkit/servertest"
	"github.com/carryon-go/carryon/records"
)

func TestRecordsOnMiniredis(t *testing.T) {
	t.Parallel()
	carryontest.TestRecords(t, func() (records.Records, records.Records) {
		server, url := startMini(t)
		runClock(t, server)
		return open(t, url), open(t, url)
	})
}

func TestShortRecordsAndTimes(t *testing.T) {
	t.Parallel()
	server, url := startMini(t)
	engine := open(t, url)
	put := func(key string) error {
		return engine.Update(t.Context(), key, func(time.Time, []byte) ([]byte, time.Duration, error) {
			return []byte("1"), time.Microsecond, nil
		})
	}
	require.NoError(t, put("short"))
	assert.Equal(t, time.Millisecond, server.TTL("short"), "it is not kept for ever")
	require.NoError(t, server.Set("no record", "AAAAAAAAAAA "))
	require.ErrorIs(t, put("no record"), records.ErrForeign)
}

// runClock makes the records of a miniredis expire, which by itself has no clock.
func runClock(t *testing.T, server *miniredis.Miniredis) {
	t.Helper()
	ticker := time.NewTicker(10 * time.Millisecond)
	done := make(chan struct{})
	t.Cleanup(func() { ticker.Stop(); close(done) })
	go func() {
		for last := time.Now(); ; {
			select {
			case now := <-ticker.C:
				server.FastForward(now.Sub(last))
				last = now
			case <-done:
				return
			}
		}
	}()
}

func TestRecordsOnRedis(t *testing.T) {
	t.Parallel()
	url := servertest.StartRedis(t).URL
	n := 0
	carryontest.TestRecords(t, func() (records.Records, records.Records) {
		n++
		prefix := strconv.Itoa(n) + ":"
		return records.WithPrefix(open(t, url), prefix), records.WithPrefix(open(t, url), prefix)
	})
}
