package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"time"

	"github.com/carryon-go/carryon/records"
	"github.com/carryon-go/carryon/stores/postgres"
	"github.com/carryon-go/carryon/stores/redis"
)

// stateTime is how long an engine has to answer when the proxy starts.
const stateTime = 10 * time.Second

// engine keeps records for several proxies.
type engine interface {
	records.Records
	io.Closer
	Ping(ctx context.Context) error
}

// openState opens the engine at a URL. It is nil for "", where each proxy keeps
// its own state in memory.
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
	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("not a URL") // which may have a password in it
	}
	switch u.Scheme {
	case "redis", "rediss", "unix", "redis+cluster", "rediss+cluster", "redis+sentinel", "rediss+sentinel":
		return redis.Open(address)
	case "postgres", "postgresql":
		store, err := postgres.Open(ctx, address)
		if err != nil {
			return nil, err
		}
		if err := store.CreateTable(ctx); err != nil {
			return nil, errors.Join(err, store.Close())
		}
		return store, nil
	}
	return nil, fmt.Errorf("%s:// is not supported: use redis:// or postgres://", u.Scheme)
}

// recordsOf returns the engine as a nil interface if there is none.
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
