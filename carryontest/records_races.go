package carryontest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/records"
)

var errOfF = errors.New("f fails")

// count adds one to the number under key, and returns it as it was stored.
func (c *recordCheck) count(key string) (int, error) {
	result := 0
	err := c.records.Update(c.Context(), key, func(_ time.Time, old []byte) ([]byte, time.Duration, error) {
		giveWay()
		n := 0
		if len(old) > 0 {
			var err error
			if n, err = strconv.Atoi(string(old)); err != nil {
				return nil, 0, err
			}
		}
		result = n + 1
		return []byte(strconv.Itoa(result)), keep, nil
	})
	return result, err
}

// atomicUpdates counts from many goroutines. An update that fails must not have been counted, and one that succeeds must
// have been, with the last result of f.
func (c *recordCheck) atomicUpdates() {
	const workers, rounds = 8, 50
	var (
		wg      sync.WaitGroup
		mu      sync.Mutex
		results []int
	)
	for range workers {
		wg.Go(func() {
			for range rounds {
				if result, err := c.count("shared"); err == nil {
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
	assert.Equal(c, strconv.Itoa(len(results)), c.get("shared"))
}

// concurrentKeys counts from many goroutines, each under its own key.
func (c *recordCheck) concurrentKeys() {
	const workers, rounds = 8, 20
	var wg sync.WaitGroup
	stored := make([]int, workers)
	for worker := range workers {
		wg.Go(func() {
			for range rounds {
				if _, err := c.count(strconv.Itoa(worker)); err == nil {
					stored[worker]++
				}
			}
		})
	}
	wg.Wait()
	for worker, want := range stored {
		assert.Positive(c, want, "no update of key %d got through", worker)
		assert.Equal(c, strconv.Itoa(want), c.get(strconv.Itoa(worker)), "updates of key %d", worker)
	}
}

// endedContext ends the ctx of an update, before it and while f runs.
func (c *recordCheck) endedContext() {
	for _, when := range []string{"before the update", "while f runs"} {
		for range 3 {
			c.put(when, "x")
			ctx, cancel := context.WithCancel(c.Context())
			if when == "before the update" {
				cancel()
			}
			err := c.try(ctx, when, func(_ time.Time, old []byte) ([]byte, time.Duration, error) {
				cancel()
				return append(bytes.Clone(old), 'x'), keep, nil
			})
			cancel() // f may not have run
			require.ErrorIs(c, err, context.Canceled, "the ctx ended %s", when)
			assert.Equal(c, "x", c.get(when), "the ctx ended %s", when)
		}
	}
}

// panics updates with a function that panics. The engine may pass the panic on or turn it into an error.
func (c *recordCheck) panics() {
	c.put("old", "x")
	for key, want := range map[string]string{"old": "x", "new": ""} {
		for range 3 {
			err := c.try(c.Context(), key, func(time.Time, []byte) ([]byte, time.Duration, error) { panic("f panics") })
			require.Error(c, err, "key %q: nothing can have been stored", key)
			got := "?"
			require.NoError(c, c.try(c.Context(), key, func(_ time.Time, old []byte) ([]byte, time.Duration, error) {
				got = string(old)
				return old, keep, nil
			}), "key %q: the update after the panic", key)
			assert.Equal(c, want, got, "key %q: the record after the panic", key)
		}
	}
}

// try runs an update that may panic, which counts as an error, or never return, which fails the check.
func (c *recordCheck) try(ctx context.Context, key string, f records.UpdateFunc) error {
	c.Helper()
	return tryWithin(c, c.patience, key, func() error { return c.records.Update(ctx, key, f) })
}

// betweenLooks is how long a check waits before it looks at a record again.
const betweenLooks = 10 * time.Millisecond

// keepsForTheTime waits for the end of a record's time. It does not read the record with a keep meanwhile, which would
// extend that time.
func (c *recordCheck) keepsForTheTime() {
	const short = time.Second / 2
	var until, at time.Time
	c.update("a", func(now time.Time, _ []byte) ([]byte, time.Duration, error) {
		until = now.Add(short)
		return []byte("x"), short, nil
	})
	c.put("for an hour", "x")
	deadline := time.Now().Add(c.patience)
	for gone := false; !gone; {
		require.True(c, time.Now().Before(deadline), "the record is still there, long after its time")
		err := c.records.Update(c.Context(), "a", func(now time.Time, old []byte) ([]byte, time.Duration, error) {
			at, gone = now, old == nil
			return nil, 0, errOfF
		})
		require.ErrorIs(c, err, errOfF)
		<-time.After(betweenLooks)
	}
	// The time that f is given may differ from the engine's by as much as a round trip takes.
	assert.False(c, at.Before(until.Add(-short/5)), "the record is gone at %v, and was to be kept until %v", at, until)
	assert.Equal(c, "x", c.get("for an hour"))
}

// renewals reads a record that is kept for a short time, again and again for longer than that.
func (c *recordCheck) renewals() {
	const short = time.Second
	look := func(record string) (at time.Time, found bool) {
		c.update("a", func(now time.Time, old []byte) ([]byte, time.Duration, error) {
			at, found = now, old != nil
			if record != "" {
				old = []byte(record)
			}
			return old, short, nil
		})
		return at, found
	}
	begun, _ := look("x")
	deadline := time.Now().Add(max(c.patience, 3*short))
	for last := begun; last.Sub(begun) < 2*short; {
		require.True(c, time.Now().Before(deadline), "the clock that f is told stands still")
		<-time.After(betweenLooks)
		now, found := look("")
		if !found && now.Sub(last) < short*2/5 {
			require.Fail(c, "the record is gone", "%v after a look that kept it for at least %v", now.Sub(last), short/2)
		}
		if !found { // nothing read it in time: a busy machine
			begun, _ = look("x")
		}
		last = now
	}
}

// clocks compares the times that f is given.
func (c *recordCheck) clocks() {
	times := make([]time.Time, 0, 20)
	for i := range cap(times) {
		var at time.Time
		c.update(strconv.Itoa(i%3), func(now time.Time, _ []byte) ([]byte, time.Duration, error) {
			at = now
			return []byte("x"), keep, nil
		})
		times = append(times, at)
	}
	for i := 1; i < len(times); i++ {
		require.False(c, times[i].IsZero())
		assert.WithinDuration(c, times[i-1], times[i], c.patience, "two processes are told very different times")
	}
}

// giveWay lets other goroutines run, to catch a store that reads and writes in two steps.
func giveWay() {
	for range 10 {
		runtime.Gosched()
	}
}

// tryWithin runs an update that may panic, which counts as an error, or never return, which fails the check.
func tryWithin(tb testing.TB, patience time.Duration, key string, update func() error) error {
	tb.Helper()
	done := make(chan error, 1)
	go func() {
		var err error
		defer func() {
			if panicked := recover(); panicked != nil {
				err = fmt.Errorf("panic: %v", panicked)
			}
			done <- err
		}()
		err = update()
	}()
	select {
	case err := <-done:
		return err
	case <-time.After(patience):
		require.Fail(tb, "Update has to return", "key %q: it did not within %v", key, patience)
		return nil
	}
}
