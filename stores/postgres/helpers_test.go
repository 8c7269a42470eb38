package postgres_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/testkit/replicatest"
	"github.com/carryon-go/carryon/internal/testkit/servertest"
	"github.com/carryon-go/carryon/records"
	"github.com/carryon-go/carryon/stores/postgres"
)

var tables atomic.Int64

// newTable returns a name that no other test has.
func newTable() postgres.Option {
	return postgres.WithTable(fmt.Sprint("records_", tables.Add(1)))
}

// connect returns a store on the server.
func connect(tb testing.TB, url string, opts ...postgres.Option) *postgres.Engine {
	tb.Helper()
	s, err := postgres.Open(tb.Context(), url, opts...)
	require.NoError(tb, err)
	tb.Cleanup(func() { _ = s.Close() })
	return s
}

// on returns a store on a pool of the test's.
func on(tb testing.TB, pool *pgxpool.Pool, opts ...postgres.Option) *postgres.Engine {
	tb.Helper()
	s, err := postgres.New(pool, opts...)
	assert.NoError(tb, err)
	return s
}

// open returns a store on the server, with its table.
func open(tb testing.TB, url string, opts ...postgres.Option) *postgres.Engine {
	tb.Helper()
	s := connect(tb, url, opts...)
	require.NoError(tb, s.CreateTable(tb.Context()))
	return s
}

// server starts a server for the test.
func server(tb testing.TB) *servertest.Server {
	tb.Helper()
	return servertest.StartPostgres(tb)
}

func TestMain(m *testing.M) {
	replicatest.Main(m, func(url string) (records.Records, error) { return postgres.Open(context.Background(), url) })
}
