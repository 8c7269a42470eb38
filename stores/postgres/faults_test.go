package postgres_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/recordtable"
	"github.com/carryon-go/carryon/internal/session"
	"github.com/carryon-go/carryon/records"
	"github.com/carryon-go/carryon/stores/postgres"
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

func TestWhatCanGoWrong(t *testing.T) {
	t.Parallel()
	server := server(t)
	pool, err := pgxpool.New(t.Context(), server.URL)
	require.NoError(t, err)
	t.Cleanup(pool.Close)

	t.Run("no table", func(t *testing.T) {
		_, err := count(t.Context(), on(t, pool, newTable()))
		require.ErrorContains(t, err, "Engine.CreateTable makes the table")
	})
	t.Run("the table is created by several at once", func(t *testing.T) {
		table, done := newTable(), make(chan error)
		for range 8 {
			go func() { done <- on(t, pool, table).CreateTable(t.Context()) }()
		}
		for range 8 {
			require.NoError(t, <-done)
		}
	})
	t.Run("a wrong password", func(t *testing.T) {
		engine, err := postgres.Open(t.Context(), strings.Replace(server.URL, "secret", "wrong", 1))
		require.NoError(t, err)
		defer engine.Close()
		_, err = count(t.Context(), engine)
		require.ErrorContains(t, err, "password authentication failed")
		assert.NotContains(t, err.Error(), "wrong")
		require.Error(t, engine.Ping(t.Context()))
	})
	t.Run("a record of somebody else's", func(t *testing.T) {
		engine := open(t, server.URL, postgres.WithTable("foreign_records"))
		key := recordtable.Format{Kind: "state"}.Key("s")
		_, err := pool.Exec(t.Context(), "insert into foreign_records values ($1, 1, 'theirs', null)", []byte(key))
		require.NoError(t, err)
		_, err = count(t.Context(), engine)
		require.ErrorIs(t, err, records.ErrForeign)
		var record string
		require.NoError(t, pool.QueryRow(t.Context(), "select encode(record, 'escape') from foreign_records").Scan(&record))
		assert.Equal(t, "theirs", record)
	})
	t.Run("a stricter isolation level", func(t *testing.T) {
		config, err := pgxpool.ParseConfig(server.URL)
		require.NoError(t, err)
		config.ConnConfig.RuntimeParams["default_transaction_isolation"] = "serializable"
		strict, err := pgxpool.NewWithConfig(t.Context(), config)
		require.NoError(t, err)
		defer strict.Close()
		table, done := newTable(), make(chan error)
		require.NoError(t, on(t, strict, table).CreateTable(t.Context()))
		a, b := on(t, strict, table), on(t, strict, table)
		for _, engine := range []*postgres.Engine{a, b} {
			go func() {
				var failed error
				for range 50 {
					if _, err := count(t.Context(), engine); err != nil {
						failed = err
					}
				}
				done <- failed
			}()
		}
		require.NoError(t, <-done)
		require.NoError(t, <-done)
		attempts, err := count(t.Context(), a)
		require.NoError(t, err)
		assert.Equal(t, 101, attempts)
	})
	t.Run("messages", func(t *testing.T) { messages(t, server.URL) })
	t.Run("records over their time", func(t *testing.T) {
		engine := open(t, server.URL, newTable())
		for key, keep := range map[string]time.Duration{"soon": time.Millisecond, "later": time.Hour, "never": records.Off} {
			require.NoError(t, engine.Update(t.Context(), key, func(time.Time, []byte) ([]byte, time.Duration, error) {
				return []byte("x"), keep, nil
			}))
		}
		for total := int64(0); total < 1; { // until its millisecond is over
			deleted, err := engine.Sweep(t.Context())
			require.NoError(t, err)
			total += deleted
		}
		deleted, err := engine.Sweep(t.Context())
		require.NoError(t, err)
		assert.Zero(t, deleted)
	})
	t.Run("the server ends", func(t *testing.T) {
		engine := open(t, server.URL, newTable())
		_, err := count(t.Context(), engine)
		require.NoError(t, err)
		server.Kill()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err = count(ctx, engine)
		require.ErrorContains(t, err, "postgres: ")
		assert.NoError(t, ctx.Err(), "it fails at once, and not when the ctx ends")
	})
}

func messages(t *testing.T, url string) {
	t.Helper()
	table := newTable()
	a, b := open(t, url, table), open(t, url, table)
	ctx, cancel := context.WithCancel(t.Context())
	heard, ended := make(chan string, 10), make(chan error)
	go func() { ended <- b.Listen(ctx, "topic", func(message string) { heard <- message }) }()
	assert.Empty(t, <-heard, "it is listening")
	require.NoError(t, a.Notify(t.Context(), "another", "x"))
	require.NoError(t, a.Notify(t.Context(), "topic", "s\x00\xff 1"))
	assert.Equal(t, "s\x00\xff 1", <-heard)
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
}

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	_, err := postgres.New(nil)
	require.EqualError(t, err, "postgres: nil pool")
	_, err = postgres.Open(t.Context(), "postgres://localhost:secret:x")
	require.ErrorContains(t, err, "postgres: ")
	for _, name := range []string{"", "Records", "a b", "a;drop table b", "a.b.c", "1a", strings.Repeat("a", 64)} {
		_, err := postgres.Open(t.Context(), "postgres://localhost", postgres.WithTable(name))
		require.ErrorContains(t, err, "is no name for a table", name)
	}
	for _, name := range []string{"a", "a.b_2"} {
		s, err := postgres.Open(t.Context(), "postgres://localhost", postgres.WithTable(name), nil)
		require.NoError(t, err)
		require.NoError(t, s.Close())
	}
}
