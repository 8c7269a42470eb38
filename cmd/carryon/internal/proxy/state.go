package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"time"

	"github.com/carryon-go/carryon/records"
	"github.com/carryon-go/carryon/stores/postgres"
	"github.com/carryon-go/carryon/stores/redis"
)

// stateTime is how long the database has to answer when the proxy starts.
const stateTime = 10 * time.Second

// engine is a database that several proxies share.
type engine interface {
	records.Records
	io.Closer
	Ping(ctx context.Context) error
}

// openState opens the database at a URL and checks that it answers. For "" it
// returns nil: the proxy then keeps its state in memory.
func openState(ctx context.Context, address string) (engine, error) {
	if address == "" {
		return nil, nil //nolint:nilnil // no engine is asked for
	}
	ctx, cancel := context.WithTimeout(ctx, stateTime)
	defer cancel()
	state, err := open(ctx, address)
	if err != nil {
		return nil, fmt.Errorf("-state: %w", err)
	}
	if err := state.Ping(ctx); err != nil {
		return nil, fmt.Errorf("-state: no answer: %w", errors.Join(err, state.Close()))
	}
	return state, nil
}

func open(ctx context.Context, address string) (engine, error) {
	opens, err := opener(address)
	if err != nil {
		return nil, err
	}
	return opens(ctx, address)
}

// opener returns the function that opens the database at a URL. It never quotes the URL,
// which may contain a password.
func opener(address string) (func(context.Context, string) (engine, error), error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme == "" {
		return nil, errors.New("not a URL such as redis://127.0.0.1:6379 or postgres://127.0.0.1/carryon")
	}
	switch u.Scheme {
	case "redis", "rediss", "unix", "redis+cluster", "rediss+cluster", "redis+sentinel", "rediss+sentinel":
		return openRedis, nil
	case "postgres", "postgresql":
		return openPostgres, nil
	}
	return nil, fmt.Errorf("%s:// is not supported: use redis:// or postgres://", u.Scheme)
}

func openRedis(_ context.Context, address string) (engine, error) { return redis.Open(address) }

// openPostgres also creates the table, unless it exists.
func openPostgres(ctx context.Context, address string) (engine, error) {
	store, err := postgres.Open(ctx, address)
	if err != nil {
		return nil, err
	}
	if err := store.CreateTable(ctx); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return store, nil
}

// sweepEvery is how often expired records are deleted from a database that does not
// do so by itself.
const sweepEvery = time.Hour

// sweeper is an engine that keeps expired records until it is told to delete them.
type sweeper interface {
	Sweep(ctx context.Context) (deleted int64, err error)
}

// sweep deletes the expired records of an engine now, and then again and again until
// ctx ends. It returns at once if the engine needs no such help.
func sweep(ctx context.Context, state engine, logger *slog.Logger) {
	s, ok := state.(sweeper)
	if !ok {
		return
	}
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		deleted, err := s.Sweep(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			logger.WarnContext(ctx, "expired records of -state were not deleted", slog.Any("error", err))
		case deleted > 0:
			logger.DebugContext(ctx, "deleted expired records of -state", slog.Int64("records", deleted))
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// recordsOf returns the engine as records, or a nil interface if there is none.
func recordsOf(state engine) records.Records {
	if state == nil {
		return nil
	}
	return state
}

func closeState(state engine) error {
	if state == nil {
		return nil
	}
	return state.Close()
}
