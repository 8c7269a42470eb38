package testclock_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/testkit/testclock"
)

func TestClockStandsStill(t *testing.T) {
	assert.Equal(t, time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), testclock.New().Now())
	start := time.Date(1999, 12, 31, 23, 59, 59, 0, time.UTC)
	c := testclock.New(start)
	assert.Equal(t, start, c.Now())
	c.Advance(time.Second)
	assert.Equal(t, start.Add(time.Second), c.Now())
}

func TestAdvanceCallsInOrderOfTime(t *testing.T) {
	c := testclock.New()
	start := c.Now()
	var calls []string
	call := func(name string) func() {
		return func() { calls = append(calls, name+" "+c.Now().Sub(start).String()) }
	}
	c.AfterFunc(3*time.Second, call("late"))
	c.AfterFunc(time.Second, call("early"))
	c.AfterFunc(time.Second, call("early too"))
	c.AfterFunc(-time.Second, call("overdue"))
	c.AfterFunc(time.Hour, call("never"))
	c.AfterFunc(2*time.Second, func() {
		call("setter")()
		c.AfterFunc(500*time.Millisecond, call("set on the way"))
	})
	assert.Empty(t, calls)
	c.Advance(5 * time.Second)

	assert.Equal(t, []string{
		"overdue 0s", "early 1s", "early too 1s", "setter 2s", "set on the way 2.5s", "late 3s",
	}, calls)
	assert.Equal(t, start.Add(5*time.Second), c.Now())
	assert.Equal(t, 1, c.Waiters())
}

func TestAdvanceOfNothingCallsWhatIsDue(t *testing.T) {
	c := testclock.New()
	called := false
	c.AfterFunc(0, func() { called = true })
	c.Advance(0)
	assert.True(t, called)
}

func TestTimerStopAndReset(t *testing.T) {
	c := testclock.New()
	calls := 0
	timer := c.AfterFunc(time.Second, func() { calls++ })
	assert.True(t, timer.Stop())
	assert.False(t, timer.Stop())
	assert.Zero(t, c.Waiters())
	c.Advance(time.Minute)
	assert.Zero(t, calls)

	assert.False(t, timer.Reset(time.Second))
	assert.True(t, timer.Reset(time.Minute))
	c.Advance(time.Second)
	assert.Zero(t, calls)
	c.Advance(time.Minute)
	assert.Equal(t, 1, calls)
	assert.False(t, timer.Stop())
}

func TestAdvanceHoldsNoLock(t *testing.T) {
	c := testclock.New()
	start := c.Now()
	var timer interface{ Stop() bool }
	timer = c.AfterFunc(time.Second, func() {
		assert.False(t, timer.Stop())
		c.Advance(time.Hour)
	})
	c.Advance(time.Minute)
	assert.Equal(t, start.Add(time.Second+time.Hour), c.Now(), "never turned back")

	c.AfterFunc(time.Second, func() { panic("oops") })
	assert.PanicsWithValue(t, "oops", func() { c.Advance(time.Minute) })
	c.Advance(0)
}

func TestBlockUntilSomebodyWaits(t *testing.T) {
	c := testclock.New()
	require.NoError(t, c.BlockUntil(t.Context(), 0))
	fired := make(chan struct{}, 2)
	var group sync.WaitGroup
	for range 2 {
		group.Go(func() { c.AfterFunc(time.Second, func() { fired <- struct{}{} }) })
	}
	require.NoError(t, c.BlockUntil(t.Context(), 2))
	c.Advance(time.Second)
	<-fired
	<-fired
	group.Wait()

	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	require.ErrorIs(t, c.BlockUntil(ctx, 1), cause)
}

func TestClockFromManyGoroutines(t *testing.T) {
	c := testclock.New()
	start := c.Now()
	var mu sync.Mutex
	calls := 0
	var group sync.WaitGroup
	for i := range 50 {
		group.Go(func() {
			timer := c.AfterFunc(time.Duration(i)*time.Millisecond, func() {
				mu.Lock()
				defer mu.Unlock()
				calls++
			})
			timer.Reset(time.Second)
			c.Advance(time.Millisecond)
			c.Waiters()
		})
	}
	group.Wait()
	c.Advance(2 * time.Second)
	assert.GreaterOrEqual(t, calls, 50)
	assert.Zero(t, c.Waiters())
	assert.False(t, c.Now().Before(start.Add(2*time.Second)))
}

func TestMistakesWithTheClockPanic(t *testing.T) {
	c := testclock.New()
	assert.PanicsWithValue(t, "carryon/internal/testkit/testclock: New takes one instant", func() { testclock.New(c.Now(), c.Now()) })
	assert.PanicsWithValue(t, "carryon/internal/testkit/testclock: Advance of a negative duration", func() { c.Advance(-1) })
	assert.PanicsWithValue(t, "carryon/internal/testkit/testclock: AfterFunc of a nil function", func() { c.AfterFunc(1, nil) })
}
