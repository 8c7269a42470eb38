// Package testclock is a clock for tests, for what a testing/synctest bubble cannot hold.
package testclock

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/carryon-go/carryon/internal/clock"
)

var _ clock.Clock = (*Clock)(nil)

// Clock is a clock that moves only when told to. It is safe for concurrent use.
type Clock struct {
	mu      sync.Mutex
	now     time.Time
	pending []*timer      // by instant, and by order of setting within one instant
	grown   chan struct{} // closed when pending grows
}

// New returns a Clock that shows start, or 2030-01-01T00:00:00Z if none is given. It panics if there are several.
func New(start ...time.Time) *Clock {
	if len(start) > 1 {
		panic("carryon/internal/testkit/testclock: New takes one instant")
	}
	now := time.Date(2030, time.January, 1, 0, 0, 0, 0, time.UTC)
	if len(start) == 1 {
		now = start[0]
	}
	return &Clock{now: now, grown: make(chan struct{})}
}

// Now returns the instant that the clock shows. In a function that Advance calls, it is the instant at which the function
// was due.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// AfterFunc calls f in the Advance that moves the clock by d or more. If d is zero or less, f is due at once, but still
// waits for the next Advance, which may be by zero. Of the timer that AfterFunc returns, Stop() bool cancels the call, and
// Reset(d time.Duration) bool schedules it for d from now; both report whether it was still pending. AfterFunc panics if f
// is nil.
func (c *Clock) AfterFunc(d time.Duration, f func()) clock.Timer {
	if f == nil {
		panic("carryon/internal/testkit/testclock: AfterFunc of a nil function")
	}
	t := &timer{clock: c, f: f}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.insert(t, d)
	return t
}

// Advance moves the clock by d and calls the functions that fall due on the way: in order of time, each with the clock at
// its own instant, on the calling goroutine and without a lock, so that functions may use the clock. A function that they
// schedule is called too if it falls due. Advance returns when all of them have returned. It panics if d is negative.
func (c *Clock) Advance(d time.Duration) {
	if d < 0 {
		panic("carryon/internal/testkit/testclock: Advance of a negative duration")
	}
	target := c.Now().Add(d)
	for {
		f := c.next(target)
		if f == nil {
			return
		}
		f()
	}
}

// Waiters returns the number of pending calls.
func (c *Clock) Waiters() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.pending)
}

// BlockUntil waits until at least n calls are pending, so that a test can advance the clock once the code under test has
// begun to wait. If ctx ends first, BlockUntil returns its cause.
func (c *Clock) BlockUntil(ctx context.Context, n int) error {
	for {
		c.mu.Lock()
		enough, grown := len(c.pending) >= n, c.grown
		c.mu.Unlock()
		if enough {
			return nil
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// next removes the first call that is due by target and moves the clock to its instant, or moves the clock to target.
func (c *Clock) next(target time.Time) func() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.pending) == 0 || c.pending[0].due.After(target) {
		c.moveTo(target)
		return nil
	}
	first := c.pending[0]
	c.pending = slices.Delete(c.pending, 0, 1)
	c.moveTo(first.due)
	return first.f
}

// moveTo sets the clock, but never back, as a concurrent Advance or an overdue call otherwise would.
func (c *Clock) moveTo(instant time.Time) {
	if instant.After(c.now) {
		c.now = instant
	}
}

func (c *Clock) insert(t *timer, d time.Duration) {
	t.due = c.now.Add(d)
	at := slices.IndexFunc(c.pending, func(other *timer) bool { return other.due.After(t.due) })
	if at < 0 {
		at = len(c.pending)
	}
	c.pending = slices.Insert(c.pending, at, t)
	close(c.grown)
	c.grown = make(chan struct{})
}

func (c *Clock) remove(t *timer) bool {
	at := slices.Index(c.pending, t)
	if at < 0 {
		return false
	}
	c.pending = slices.Delete(c.pending, at, at+1)
	return true
}

// timer is one call of a Clock.
type timer struct {
	clock *Clock
	f     func()
	due   time.Time // guarded by clock.mu
}

func (t *timer) Stop() bool {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	return t.clock.remove(t)
}

func (t *timer) Reset(d time.Duration) bool {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	waited := t.clock.remove(t)
	t.clock.insert(t, d)
	return waited
}

// Option returns the option of type O, such as a middleware.Option, that replaces the system's clock by c.
func Option[O any](c clock.Clock) O { return clock.Option[O](c) }
