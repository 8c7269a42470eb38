package carryontest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/testkit/recordtest"
	"github.com/carryon-go/carryon/records"
)

var errOfF = errors.New("f fails")

// Count implements recordtest.Counter.
func (c *recordCheck) Count(key string) (int, error) {
	result := 0
	err := c.records.Update(c.Context(), key, func(_ time.Time, old []byte) ([]byte, time.Duration, error) {
		recordtest.GiveWay()
		n := 0
		if len(old) > 0 {
			var err error
			n, err = strconv.Atoi(string(old))
			if err != nil {
				return nil, 0, err
			}
		}
		result = n + 1
		return []byte(strconv.Itoa(result)), keep, nil
	})
	return result, err
}

// Counted implements recordtest.Counter.
func (c *recordCheck) Counted(key string) string { return c.get(key) }

// atomicUpdates counts under one key.
func (c *recordCheck) atomicUpdates() { recordtest.AtomicUpdates(c, c) }

// concurrentKeys counts under several keys.
func (c *recordCheck) concurrentKeys() { recordtest.ConcurrentKeys(c, c) }

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
