package middleware

import (
	"context"
	"time"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/clock"
	"github.com/carryon-go/carryon/internal/scope"
)

// A continuation may send nothing but signs of life (comments, and chunks that add
// nothing) for maxWordless times as long as it may be silent.
const maxWordless = 10

// deadlines keep a continuation within its time limits: until its first chunk,
// between chunks while the consumer waits for them, and before the caller's own
// deadline. They cancel ctx when a limit passes. They start no goroutine.
type deadlines struct {
	ctx       context.Context
	cancel    context.CancelCauseFunc
	clock     Clock
	idle      time.Duration // longest wait between chunks
	heartbeat time.Duration // longest time in which the consumer is shown nothing
	firstByte clock.Timer   // nil once the first chunk has come
	stop      func() bool   // stops the cancellation at the end of the program
	caller    clock.Timer   // before the caller's deadline; nil without one
	silence   clock.Timer   // between chunks; nil until it is needed
	began     bool          // the first chunk has come

	waitingSince time.Time     // when the consumer began to wait
	wordless     time.Duration // waited since the model said something, or since the first chunk
	unshown      time.Duration // waited since the consumer was shown something
}

// newDeadlines returns the deadlines of a continuation that is sent with a ctx
// derived from ctx. It is cut when the program's ctx ends.
func newDeadlines(ctx, program context.Context, clock Clock, limits *continuation.Limits, t *callerTimeouts) *deadlines {
	d := &deadlines{clock: clock, idle: t.within(limits.ResponseTimeout), heartbeat: t.heartbeat()}
	d.ctx, d.cancel = context.WithCancelCause(ctx)
	d.stop = context.AfterFunc(program, func() { d.cancel(ErrShutdown) })
	if limit := t.untilFirst(limits.FirstByteTimeout); limit != continuation.Off {
		d.firstByte = clock.AfterFunc(limit, func() { d.cancel(ErrFirstByteTimeout) })
	}
	if left, ok := t.left(); ok {
		d.caller = clock.AfterFunc(left-reserve(left), func() { d.cancel(ErrDeadlineNear) })
	}
	return d
}

// startIdle begins to wait for a chunk.
func (d *deadlines) startIdle() {
	d.waitingSince = d.clock.Now()
	switch {
	case !d.began || d.idle == continuation.Off:
	case d.silence == nil:
		d.silence = d.clock.AfterFunc(d.chunkTimeout(), func() { d.cancel(ErrResponseTimeout) })
	default:
		d.silence.Reset(d.chunkTimeout())
	}
}

// stopIdle ends the wait: a chunk has come.
func (d *deadlines) stopIdle() {
	waited := d.clock.Now().Sub(d.waitingSince)
	d.unshown += waited
	if d.began {
		d.wordless += waited
	}
	d.began = true
	d.stopTimers()
}

// chunkTimeout returns how long the next chunk may take: the limit between chunks, or what
// is left of maxWordless times that limit, if that is less.
func (d *deadlines) chunkTimeout() time.Duration {
	if left := d.idle - d.wordless/maxWordless; left < d.idle/maxWordless {
		return maxWordless * left
	}
	return d.idle
}

func (d *deadlines) stopTimers() {
	if d.firstByte != nil {
		d.firstByte.Stop()
		d.firstByte = nil
	}
	if d.silence != nil {
		d.silence.Stop()
	}
}

// touch restarts the wait for a chunk: a part of one has come.
func (d *deadlines) touch() {
	d.stopIdle()
	d.startIdle()
}

// end stops the timers, and cancels what still runs of the continuation. It may be
// called again, and on nil.
func (d *deadlines) end() {
	if d == nil {
		return
	}
	d.stopTimers()
	d.stop()
	if d.caller != nil {
		d.caller.Stop()
	}
	d.cancel(nil)
}

// explain returns the deadline that caused err, or err itself.
func (d *deadlines) explain(err error) error {
	switch cause := context.Cause(d.ctx); cause { //nolint:errorlint // values of the engine's own
	case ErrFirstByteTimeout, ErrResponseTimeout, ErrDeadlineNear, ErrShutdown:
		return cause
	}
	return err
}

// callerTimeouts say how long the caller waits for the answer. A nil value is no limit.
type callerTimeouts struct {
	clock       Clock
	began       time.Time     // since when the caller has waited
	deadline    time.Time     // of the whole answer; zero if there is none
	readTimeout time.Duration // how long the caller waits for the next part; 0 is any time
	quietSince  time.Time     // when a turn came to its finish
	firstTurn   time.Duration // what turn 1 took, once it has ended
}

// callerTimeoutsOf returns the time-outs that the ctx and the request of a call have, nil
// if neither has any. It reads the clock only then, because that is a good part of what
// a call costs.
func callerTimeoutsOf(ctx context.Context, clock Clock, r *adapter.Request) *callerTimeouts {
	own, hasOwn := ctx.Deadline()
	limit, hasLimit := scope.Deadline(ctx)
	if !hasOwn && !hasLimit && r.Timeout <= 0 && r.ReadTimeout <= 0 {
		return nil
	}
	t := &callerTimeouts{clock: clock, began: clock.Now(), readTimeout: max(r.ReadTimeout, 0)}
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
func (t *callerTimeouts) endBy(deadline time.Time) {
	if t.deadline.IsZero() || deadline.Before(t.deadline) {
		t.deadline = deadline
	}
}

// endFirstTurn says that the caller's own turn has ended.
func (t *callerTimeouts) endFirstTurn() {
	if t != nil {
		t.firstTurn = t.clock.Now().Sub(t.began)
	}
}

// startQuiet says that the caller is shown nothing for now: a turn has come to its
// finish, which is held back.
func (t *callerTimeouts) startQuiet() {
	if t != nil {
		t.quietSince = t.clock.Now()
	}
}

// hasTimeFor reports whether, after the wait, more time is left than turn 1 took, and
// the caller's limit to a silence has not passed.
func (t *callerTimeouts) hasTimeFor(wait time.Duration) bool {
	if left, ok := t.left(); ok && left-wait <= t.firstTurn {
		return false
	}
	return t == nil || t.readTimeout == 0 || t.untilFirst(t.readTimeout) > max(wait, 1)
}

// left returns the time to the deadline, if there is one.
func (t *callerTimeouts) left() (time.Duration, bool) {
	if t == nil || t.deadline.IsZero() {
		return 0, false
	}
	return t.deadline.Sub(t.clock.Now()), true
}

// within returns a limit to a silence that is no longer than the caller's own limit.
// It leaves some time to show the caller the end of the answer instead.
func (t *callerTimeouts) within(limit time.Duration) time.Duration {
	if t == nil || t.readTimeout == 0 {
		return limit
	}
	own := t.readTimeout - reserve(t.readTimeout)
	if limit == continuation.Off {
		return own
	}
	return min(limit, own)
}

// untilFirst is within for the first part of a continuation: the caller's silence
// began with the finish of the turn before.
func (t *callerTimeouts) untilFirst(limit time.Duration) time.Duration {
	if t == nil || t.readTimeout == 0 || t.quietSince.IsZero() {
		return limit
	}
	return max(t.within(limit)-t.clock.Now().Sub(t.quietSince), 1)
}

// heartbeat returns how long the caller may be shown nothing before it gets a
// heartbeat.
func (t *callerTimeouts) heartbeat() time.Duration {
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

func reserve(left time.Duration) time.Duration { return min(left/reserveShare, maxReserve) }
