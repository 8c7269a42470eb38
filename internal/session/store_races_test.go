package session_test

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/session"
)

// atomicUpdates counts from many goroutines. An update that fails must not have been counted, and one that succeeds must
// have been, with the last result of f.
func (c *storeCheck) atomicUpdates() {
	const workers, rounds = 8, 50
	var (
		wg      sync.WaitGroup
		mu      sync.Mutex
		results []int
	)
	for range workers {
		wg.Go(func() {
			for range rounds {
				result := 0
				err := c.store.Update(c.Context(), "shared", func(s continuation.State) continuation.State {
					giveWay()
					s.Attempts++
					result = s.Attempts
					return s
				})
				if err == nil {
					mu.Lock()
					results = append(results, result)
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	require.NotEmpty(c, results, "no update got through")
	want := make([]int, len(results))
	for i := range want {
		want[i] = i + 1
	}
	assert.ElementsMatch(c, want, results, "every update has to see all those before it")
	assert.Equal(c, len(results), c.get("shared").Attempts)
}

// giveWay lets other goroutines run, to catch a store that reads and writes in two steps.
func giveWay() {
	for range 10 {
		runtime.Gosched()
	}
}

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
			err := c.store.Update(c.Context(), key, func(s continuation.State) continuation.State {
				giveWay()
				got = s.Claim.Token == token || !s.Claim.Active(now)
				if got {
					return session.Claim(s, token, now, continuation.DefaultLimits().ClaimLife)
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

// concurrentKeys counts from many goroutines, each under its own key.
func (c *storeCheck) concurrentKeys() {
	const workers, rounds = 8, 20
	var wg sync.WaitGroup
	stored := make([]int, workers)
	for worker := range workers {
		wg.Go(func() {
			for range rounds {
				if c.store.Update(c.Context(), strconv.Itoa(worker), func(s continuation.State) continuation.State {
					giveWay()
					s.Attempts++
					return s
				}) == nil {
					stored[worker]++
				}
			}
		})
	}
	wg.Wait()
	for worker, want := range stored {
		assert.Positive(c, want, "no update of key %d got through", worker)
		assert.Equal(c, want, c.get(strconv.Itoa(worker)).Attempts, "updates of key %d", worker)
	}
}

// endedContext ends the ctx of an update, before it and while f runs. A store may finish the update anyway, because a
// release needs that.
func (c *storeCheck) endedContext() {
	for _, when := range []string{"before the update", "while f runs"} {
		c.put(when, continuation.State{Attempts: 1})
		ctx, cancel := context.WithCancel(c.Context())
		if when == "before the update" {
			cancel()
		}
		err := c.try(ctx, when, func(s continuation.State) continuation.State {
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
	c.put("old", continuation.State{Attempts: 1})
	for key, want := range map[string]int{"old": 1, "new": 0} {
		err := c.try(c.Context(), key, func(continuation.State) continuation.State { panic("f panics") })
		require.Error(c, err, "key %q: nothing can have been stored", key)
		got := -1
		require.NoError(c, c.try(c.Context(), key, func(s continuation.State) continuation.State {
			got = s.Attempts
			return s
		}), "key %q: the update after the panic", key)
		assert.Equal(c, want, got, "key %q: the state after the panic", key)
	}
}

// try runs an update that may panic, which counts as an error.
func (c *storeCheck) try(ctx context.Context, key string, f func(continuation.State) continuation.State) (err error) {
	c.Helper()
	defer func() {
		if panicked := recover(); panicked != nil {
			err = fmt.Errorf("panic: %v", panicked)
		}
	}()
	return c.store.Update(ctx, key, f)
}
