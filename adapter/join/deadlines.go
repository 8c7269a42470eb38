package join

import (
	"context"
	"time"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/clock"
	"github.com/carryon-go/carryon/internal/engine"
	"github.com/carryon-go/carryon/middleware"
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
	clock     clock.Clock
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
func newDeadlines(ctx, program context.Context, call *Call) *deadlines {
	t, clock, limits := call.answer().Timeouts, call.engine().Clock(), call.engine().Limits()
	d := &deadlines{clock: clock, idle: t.CapSilence(limits.ResponseTimeout), heartbeat: t.Heartbeat()}
	d.ctx, d.cancel = context.WithCancelCause(ctx)
	d.stop = context.AfterFunc(program, func() { d.cancel(middleware.ErrShutdown) })
	if limit := t.UntilFirst(limits.FirstByteTimeout); limit != continuation.Off {
		d.firstByte = clock.AfterFunc(limit, func() { d.cancel(middleware.ErrFirstByteTimeout) })
	}
	if left, ok := t.Left(); ok {
		d.caller = clock.AfterFunc(left-engine.Reserve(left), func() { d.cancel(middleware.ErrDeadlineNear) })
	}
	return d
}

// startIdle begins to wait for a chunk.
func (d *deadlines) startIdle() {
	d.waitingSince = d.clock.Now()
	switch {
	case !d.began || d.idle == continuation.Off:
	case d.silence == nil:
		d.silence = d.clock.AfterFunc(d.chunkTimeout(), func() { d.cancel(middleware.ErrResponseTimeout) })
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
	switch cause := context.Cause(d.ctx); cause {
	case middleware.ErrFirstByteTimeout, middleware.ErrResponseTimeout, //nolint:errorlint // values of the engine's own
		middleware.ErrDeadlineNear, middleware.ErrShutdown:
		return cause
	}
	return err
}
