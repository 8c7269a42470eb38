package redis_test

import (
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/testkit/replicatest"
	"github.com/carryon-go/carryon/records"
	"github.com/carryon-go/carryon/stores/redis"
)

// open returns a store on the URL.
func open(tb testing.TB, url string) *redis.Engine {
	tb.Helper()
	s, err := redis.Open(url)
	require.NoError(tb, err)
	tb.Cleanup(func() { _ = s.Close() })
	return s
}

// startMini starts a server that lives in this process, and returns its URL.
func startMini(tb testing.TB) (*miniredis.Miniredis, string) {
	tb.Helper()
	server := miniredis.NewMiniRedis()
	require.NoError(tb, server.Start())
	tb.Cleanup(server.Close)
	return server, "redis://" + server.Addr()
}

func TestMain(m *testing.M) {
	replicatest.Main(m, func(url string) (records.Records, error) { return redis.Open(url) })
}
