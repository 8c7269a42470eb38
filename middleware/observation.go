package middleware

import (
	"context"
	"strings"
	"sync/atomic"
	"time"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/guard"
)

// CallStarted says that a call has begun that carryon may continue. A call that
// carryon leaves alone has no such event.
type CallStarted struct {
	continuation.TurnID
	Model    string // as the request names it, "" if the adapter does not know it
	Provider string // as the adapter names it, such as "openai" or "anthropic"
	Streamed bool   // whether the request asks for a stream
}

// TurnStarted says that the request of a turn is about to be sent, or has been sent
// early; see [WithEarlySend].
type TurnStarted struct {
	continuation.TurnID
	Wait time.Duration // how long carryon waited before the turn, to keep the interval
}

// CallEnded says that a call has ended, and how. A call that carryon leaves
// alone ends at once.
type CallEnded struct {
	continuation.TurnID
	Outcome Outcome
}

// Times are the times of a turn. A time is zero if its event did not happen.
type Times struct {
	Began      time.Time // the request was sent
	FirstChunk time.Time // the first part of the answer was read; for a whole answer, when it ended
	Finished   time.Time // the finish reason was read; for a whole answer, when it ended
	Ended      time.Time // all of the turn was read, or it broke off

	// Join is how long the stream paused before a continuation: from the finish
	// reason of the last turn that ended well to FirstChunk. It is 0 for turn 1, for
	// whole answers, and if nothing was read of the continuation.
	Join time.Duration
}

// stopwatch measures how long something takes. The zero value does not read the
// clock.
type stopwatch struct {
	clock Clock
	began time.Time
}

// watchIf starts a stopwatch if an observer wants to know.
func (o *options) watchIf(wants func(*Observer) bool) stopwatch {
	for i := range o.report.observers {
		if wants(&o.report.observers[i]) {
			return stopwatch{o.clock, o.clock.Now()}
		}
	}
	return stopwatch{}
}

// read returns the time since the start, and whether there was one.
func (w stopwatch) read() (time.Duration, bool) {
	if w.clock == nil {
		return 0, false
	}
	return w.clock.Now().Sub(w.began), true
}

// observation is the state that a call keeps for its observers; nil if there are
// none.
type observation struct {
	clock Clock
	first atomic.Pointer[time.Time] // when the first chunk of the current turn was read, by any goroutine
	ctx   context.Context           // the ctx that the observers returned for the current turn
	times Times                     // of the current turn, without FirstChunk and Join
	wait  time.Duration             // waited since the last turn
	over  bool                      // the end of the call was reported

	finish time.Time // when the finish reason of the last turn that ended well was read
}

// observeCall begins the observation of a call, if anybody observes.
func (c *Call) observeCall(r *adapter.Request) {
	report := &c.mw.options.report
	if len(report.observers) == 0 {
		return
	}
	c.turn.Call = c.mw.calls.Add(1)
	c.observed = &observation{clock: c.mw.options.clock}
	id := c.turn.TurnID
	id.Turn = 1
	ctx := begin(c.cancel.caller, report, id,
		CallStarted{TurnID: id, Model: strings.Clone(r.Model), Provider: r.Provider, Streamed: r.Streamed},
		func(o *Observer) func(context.Context, CallStarted) context.Context { return o.CallStarted })
	c.cancel.caller, c.cancel.ctx = ctx, ctx
}

// startTurn reports that the request of the current turn is about to be sent, and
// returns the ctx to send it with. sent is when it was sent, if it was sent early;
// otherwise it is zero.
func (c *Call) startTurn(ctx context.Context, sent time.Time) context.Context {
	o := c.observed
	if o == nil {
		return ctx
	}
	if sent.IsZero() {
		sent = o.clock.Now()
	}
	o.times = Times{Began: sent}
	o.first.Store(nil)
	o.ctx = begin(ctx, &c.mw.options.report, c.turn.TurnID, TurnStarted{TurnID: c.turn.TurnID, Wait: o.wait},
		func(o *Observer) func(context.Context, TurnStarted) context.Context { return o.TurnStarted })
	o.wait = 0
	return o.ctx
}

// callEnded reports the end of the call, once.
func (c *Call) callEnded() {
	if o := c.observed; o != nil && !o.over {
		o.over = true
		id := continuation.TurnID{Session: c.session.name(), Call: c.turn.Call, Turn: c.turn.Turn}
		c.mw.options.report.callEnded(c.cancel.caller, CallEnded{TurnID: id, Outcome: c.Outcome()})
	}
}

// firstChunk notes the time at which the first part of a turn was read.
func (o *observation) firstChunk() {
	if o != nil && o.first.Load() == nil {
		now := o.clock.Now()
		o.first.Store(&now)
	}
}

// finished notes the time at which the finish reason was read.
func (o *observation) finished() {
	if o != nil {
		o.times.Finished = o.clock.Now()
	}
}

// waited notes that the call waited before the next turn.
func (o *observation) waited(d time.Duration) {
	if o != nil {
		o.wait += d
	}
}

// turnTimes completes the times of the current turn, which has ended with err, and
// returns them.
func (o *observation) turnTimes(err error) Times {
	if o == nil {
		return Times{}
	}
	now := o.clock.Now()
	o.times.Ended, o.times.FirstChunk = now, now
	if first := o.first.Load(); first != nil {
		o.times.FirstChunk = *first
		if !o.finish.IsZero() {
			o.times.Join = first.Sub(o.finish)
		}
	}
	if o.times.Finished.IsZero() {
		o.times.Finished = now
	}
	if err == nil {
		o.finish = o.times.Finished
	}
	return o.times
}

// turnCtx returns ctx with the values of the current turn's.
func (o *observation) turnCtx(ctx context.Context) context.Context {
	if o == nil || o.ctx == nil {
		return ctx
	}
	return withValuesOf(ctx, o.ctx)
}

// begin calls the observers' function for the beginning of something, and returns a
// ctx with the values of what they returned. That ctx ends when ctx ends.
func begin[E any](
	ctx context.Context, r *reporter, id continuation.TurnID, event E,
	hook func(*Observer) func(context.Context, E) context.Context,
) context.Context {
	observed := ctx
	for i := range r.observers {
		f := hook(&r.observers[i])
		if f == nil {
			continue
		}
		var next context.Context
		if err := guard.Run(func() error { next = f(observed, event); return nil }); err != nil {
			r.failed(ctx, Failed{TurnID: id, Op: "observer", Err: err})
		}
		if next != nil {
			observed = next
		}
	}
	return withValuesOf(ctx, observed)
}

// withValuesOf returns a ctx that ends with ctx and has the values of both; those of
// the second win.
func withValuesOf(ctx, values context.Context) context.Context {
	if values == ctx {
		return ctx
	}
	return valuesCtx{ctx, values}
}

// valuesCtx is a ctx with more values.
type valuesCtx struct {
	context.Context
	values context.Context
}

func (c valuesCtx) Value(key any) any {
	if value := c.values.Value(key); value != nil {
		return value
	}
	return c.Context.Value(key)
}
