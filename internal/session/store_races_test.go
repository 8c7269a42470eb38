package session_test

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/testkit/recordtest"
)

// Count implements recordtest.Counter.
func (c *storeCheck) Count(key string) (int, error) {
	result := 0
	err := c.store.Update(c.Context(), key, func(s decision.State) decision.State {
		recordtest.GiveWay()
		s.Attempts++
		result = s.Attempts
		return s
	})
	return result, err
}

// Counted implements recordtest.Counter.
func (c *storeCheck) Counted(key string) string { return strconv.Itoa(c.get(key).Attempts) }

// atomicUpdates counts under one key.
func (c *storeCheck) atomicUpdates() { recordtest.AtomicUpdates(c, c) }

// concurrentKeys counts under several keys.
func (c *storeCheck) concurrentKeys() { recordtest.ConcurrentKeys(c, c) }

// claims checks what updates are atomic for: that only one call gets a claim.
func (c *storeCheck) claims() {
	const rounds, callers = 20, 8
	for round := range rounds {
		key := "shared " + strconv.Itoa(round)
		holders := c.compete(key, callers)
		require.Len(c, holders, 1, "tokens of calls that were told that they hold the session")
		assert.Equal(c, holders[0], c.get(key).Claim.Token)
	}
}

// compete lets callers claim a session at the same time, and returns the tokens of those that were told that they hold it.
func (c *storeCheck) compete(key string, callers uint64) (holders []uint64) {
	now := time.Unix(1_900_000_000, 0)
	var (
		wg sync.WaitGroup
		mu sync.Mutex
	)
	begin := make(chan struct{})
	for token := uint64(1); token <= callers; token++ {
		wg.Go(func() {
			<-begin
			got := false
			err := c.store.Update(c.Context(), key, func(s decision.State) decision.State {
				recordtest.GiveWay()
				got = s.Claim.Token == token || !s.Claim.Active(now)
				if got {
					return s.Acquire(token, now, continuation.DefaultLimits().ClaimLife)
				}
				return s
			})
			if err == nil && got {
				mu.Lock()
				holders = append(holders, token)
				mu.Unlock()
			}
		})
	}
	close(begin)
	wg.Wait()
	return holders
}

// endedContext ends the ctx of an update, before it and while f runs. A store may finish the update anyway, because a
// release needs that.
func (c *storeCheck) endedContext() {
	for _, when := range []string{"before the update", "while f runs"} {
		c.put(when, decision.State{Attempts: 1})
		ctx, cancel := context.WithCancel(c.Context())
		if when == "before the update" {
			cancel()
		}
		err := c.try(ctx, when, func(s decision.State) decision.State {
			cancel()
			s.Attempts++
			return s
		})
		cancel() // f may not have run
		want := 2
		if err != nil {
			want = 1
		}
		assert.Equal(c, want, c.get(when).Attempts, "the ctx ended %s, and the error was %v", when, err)
	}
}

// panics updates with a function that panics. The store may pass the panic on or turn it into an error.
func (c *storeCheck) panics() {
	c.put("old", decision.State{Attempts: 1})
	for key, want := range map[string]int{"old": 1, "new": 0} {
		err := c.try(c.Context(), key, func(decision.State) decision.State { panic("f panics") })
		require.Error(c, err, "key %q: nothing can have been stored", key)
		got := -1
		require.NoError(c, c.try(c.Context(), key, func(s decision.State) decision.State {
			got = s.Attempts
			return s
		}), "key %q: the update after the panic", key)
		assert.Equal(c, want, got, "key %q: the state after the panic", key)
	}
}

// try runs an update that may panic, which counts as an error.
func (c *storeCheck) try(ctx context.Context, key string, f func(decision.State) decision.State) (err error) {
	c.Helper()
	defer func() {
		if panicked := recover(); panicked != nil {
			err = fmt.Errorf("panic: %v", panicked)
		}
	}()
	return c.store.Update(ctx, key, f)
}
