package engine

import (
	"context"
	"time"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/clock"
	"github.com/carryon-go/carryon/internal/scope"
)

// Timeouts say how long the caller waits for the answer. A nil value is no limit.
type Timeouts struct {
	clock       clock.Clock
	began       time.Time     // since when the caller has waited
	deadline    time.Time     // of the whole answer; zero if there is none
	readTimeout time.Duration // how long the caller waits for the next part; 0 is any time
	quietSince  time.Time     // when a turn came to its finish
	firstTurn   time.Duration // what turn 1 took, once it has ended
}

// TimeoutsOf returns the time-outs that the ctx and the request of a call have, nil
// if neither has any. It reads the clock only then, because that is a good part of what
// a call costs.
func TimeoutsOf(ctx context.Context, clock clock.Clock, r *adapter.Request) *Timeouts {
	own, hasOwn := ctx.Deadline()
	limit, hasLimit := scope.Deadline(ctx)
	if !hasOwn && !hasLimit && r.Timeout <= 0 && r.ReadTimeout <= 0 {
		return nil
	}
	t := &Timeouts{clock: clock, began: clock.Now(), readTimeout: max(r.ReadTimeout, 0)}
	if hasOwn {
		t.endBy(own)
	}
	if hasLimit {
		t.endBy(limit)
	}
	if r.Timeout > 0 {
		t.endBy(t.began.Add(r.Timeout))
	}
	return t
}

// endBy sets the deadline, unless there is an earlier one.
func (t *Timeouts) endBy(deadline time.Time) {
	if t.deadline.IsZero() || deadline.Before(t.deadline) {
		t.deadline = deadline
	}
}

// EndFirstTurn says that the caller's own turn has ended.
func (t *Timeouts) EndFirstTurn() {
	if t != nil {
		t.firstTurn = t.clock.Now().Sub(t.began)
	}
}

// StartQuiet says that the caller is shown nothing for now: a turn has come to its
// finish, which is held back.
func (t *Timeouts) StartQuiet() {
	if t != nil {
		t.quietSince = t.clock.Now()
	}
}

// HasTimeFor reports whether, after the wait, more time is left than turn 1 took, and
// the caller's limit to a silence has not passed.
func (t *Timeouts) HasTimeFor(wait time.Duration) bool {
	if left, ok := t.Left(); ok && left-wait <= t.firstTurn {
		return false
	}
	return t == nil || t.readTimeout == 0 || t.UntilFirst(t.readTimeout) > max(wait, 1)
}

// Left returns the time to the deadline, if there is one.
func (t *Timeouts) Left() (time.Duration, bool) {
	if t == nil || t.deadline.IsZero() {
		return 0, false
	}
	return t.deadline.Sub(t.clock.Now()), true
}

// CapSilence returns a limit to a silence that is no longer than the caller's own limit.
// It leaves some time to show the caller the end of the answer instead.
func (t *Timeouts) CapSilence(limit time.Duration) time.Duration {
	if t == nil || t.readTimeout == 0 {
		return limit
	}
	own := t.readTimeout - Reserve(t.readTimeout)
	if limit == continuation.Off {
		return own
	}
	return min(limit, own)
}

// UntilFirst is CapSilence for the first part of a continuation: the caller's silence
// began with the finish of the turn before.
func (t *Timeouts) UntilFirst(limit time.Duration) time.Duration {
	if t == nil || t.readTimeout == 0 || t.quietSince.IsZero() {
		return limit
	}
	return max(t.CapSilence(limit)-t.clock.Now().Sub(t.quietSince), 1)
}

// Heartbeat returns how long the caller may be shown nothing before it gets a
// heartbeat.
func (t *Timeouts) Heartbeat() time.Duration {
	if t == nil || t.readTimeout == 0 {
		return heartbeatAfter
	}
	return min(heartbeatAfter, t.readTimeout/3)
}

// heartbeatAfter is the default for that time. Proxies cut connections that are idle
// for half a minute or more.
const heartbeatAfter = 10 * time.Second

// A continuation is cut this long before the caller gives up, so that the deadline
// costs the continuation and not the answer: a tenth of the time left, but no more
// than two seconds.
const (
	reserveShare = 10
	maxReserve   = 2 * time.Second
)

// Reserve returns how long before the caller gives up a continuation is cut.
func Reserve(left time.Duration) time.Duration { return min(left/reserveShare, maxReserve) }
