package middleware

import (
	"context"
	"fmt"
	"time"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/clock"
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/guard"
	"github.com/carryon-go/carryon/internal/reading"
	"github.com/carryon-go/carryon/pause"
	"github.com/carryon-go/carryon/todo"
)

// Observer has functions that carryon calls while it works. Every field is optional.
// Minor releases may add fields.
//
// The functions are called without any lock held, on the goroutine that drives the call
// or ends it, and so should be quick. They may be called concurrently, even for one
// call: when its ctx ends, its claim is released on another goroutine. A panic is
// reported as [Failed] and does not reach the caller.
//
// CallStarted and TurnStarted return a ctx, usually the given one with more values,
// such as a span. The call, or the request of the turn, then has the values of that
// ctx, but is still cancelled with the given one. nil means the given ctx.
//
// CallEnded is called once for each call, with the ctx from CallStarted. That includes
// calls that carryon leaves alone, except those that run inside another layer of
// carryon. TurnEnded is called with the ctx from TurnStarted, and all other functions
// with the ctx of the call.
type Observer struct {
	CallStarted         func(context.Context, CallStarted) context.Context
	TurnStarted         func(context.Context, TurnStarted) context.Context
	CallEnded           func(context.Context, CallEnded)
	TurnEnded           func(context.Context, TurnEnded)
	Decision            func(context.Context, Decision)
	ContinuationStarted func(context.Context, ContinuationStarted)
	PauseCalled         func(context.Context, PauseCalled)
	ReminderDelivered   func(context.Context, ReminderDelivered)
	Answered            func(context.Context, Answered)
	Failed              func(context.Context, Failed)
}

// TurnEnded reports that a turn of the model was read to its end, or broke off with
// Err. It comes before the [Decision] on the turn, with one exception: if carryon
// decides against continuing as soon as it reads the finish of a stream's first turn,
// it comes after.
type TurnEnded struct {
	continuation.TurnID
	ResponseID    string // the provider's id of the answer, "" if it gave none
	ResponseModel string // the model that wrote it, in the provider's words, or ""
	Finish        string // the provider's finish reason, "" if there was none
	ToolCalls     int    // number of calls of the caller's tools
	Usage         adapter.Usage
	// Result is how a continuation ended: "tool_call"; "text"; "nothing_open", if the model
	// was asked and answered only that, which the caller is not shown; "paused", if the model
	// called todo_pause; "failed"; or "interrupted", if the caller ended the call. It is ""
	// for turn 1. New values may be added.
	Result string
	Asked  bool  // whether the continuation was the question of [WithClosingQuestion]
	Err    error // why the turn broke off, or nil
	Times  Times
}

// Decision reports a decision on whether to continue.
type Decision struct {
	continuation.TurnID
	Continue bool                // whether a continuation follows; true only if Reason.Continues() is true
	Reason   continuation.Reason // the first reason that applies
	Todo     todo.Todo           // the todo to go on with, or the zero Todo
	Asks     bool                // whether a continuation would ask if anything is open; see [WithClosingQuestion]
	Attempt  int                 // the attempt that the continuation has or would have; see [continuation.TurnID]
	Wait     time.Duration       // with the reason "too_soon", how long carryon waits
	// Conditions are the conditions that were checked, in their order, as in "enabled
	// in_scope !no_tool_calls". An exclamation mark precedes the one that is not met.
	Conditions string
	List       continuation.List // counts of the todo list, or why there is none
	Limit      int               // the limit that was reached, if Reason.Exhausted() is true
	Awaited    int               // with the reason "background", the number of unfinished tasks, 0 if it is not known
	// Exhausted reports that a budget is used up although the list has open todos, or the
	// program's check has failed. A turn that gets fewer attempts because of how it ended
	// does not count: see [Outcome].Rule.
	Exhausted bool
	DryRun    bool  // whether carryon only reports the decision; see [WithDryRun]
	Holdout   bool  // whether the session belongs to the control group of [WithHoldout]
	Err       error // the gate's veto, or the error of the store or of the background tasks
}

// newDecision returns the event for a verdict on the turn id.
func newDecision(id continuation.TurnID, v *decision.Verdict) Decision {
	return Decision{
		TurnID: id, Continue: v.Continue, Reason: v.Reason, Todo: v.Todo, Asks: v.ClosingQuestion, Attempt: v.Attempt, Wait: v.IntervalLeft,
		Conditions: v.Conditions.String(), List: v.List, Limit: v.Limit, Awaited: v.Awaited,
		Exhausted: v.UsesUpBudget(),
	}
}

// ContinuationStarted reports that a continuation is about to be sent.
type ContinuationStarted struct {
	continuation.TurnID
	Todo   todo.Todo
	Asks   bool   // whether Prompt is the question of [WithClosingQuestion]; Todo is then zero
	Prompt string // the message to the model or, after a rejected pause, the result of the tool
}

// PauseCalled reports that the model has called todo_pause. It has paused, unless Err says
// why its reason was rejected. Then the model receives the text of Err, and goes on.
type PauseCalled struct {
	continuation.TurnID
	Result pause.Result // only the Reason if it was rejected
	Err    error
}

// ReminderDelivered reports that the model has been told that background tasks have
// ended, in a turn that ended well.
type ReminderDelivered struct {
	continuation.TurnID
	Tasks []string // ids of the tasks, in the order in which they ended
}

// Answered reports that something outside of carryon has answered, or has failed to: the
// todo source, a store of sessions, or background tasks in a store. There is no such event
// for the state and the tasks that carryon keeps in memory. A call asks the store more than
// once, and perhaps once more just after it has ended.
type Answered struct {
	continuation.TurnID // Turn is 0 for the store and the tasks
	// Op names who was asked, as in [Failed]: "todos", "store" or "tasks".
	Op        string
	Took      time.Duration // how long the answer took
	Todos     int           // the number of todos that the source found, done or not
	Err       error         // why it failed; nil if the source only found no list
	Recovered bool          // whether it had failed before and works again
}

// Failed reports a failure that did not cost the caller its answer.
type Failed struct {
	continuation.TurnID
	// Op names what failed: "todos"; "store", of the session's state; "tasks", the background
	// tasks; "gate"; "check"; "session key"; "pause policy"; "notice"; "observer";
	// "continuation"; or "tail", reading what follows the finish of a turn. New values may
	// be added.
	Op  string
	Err error // never nil
}

// What can fail: the values of Op in [Failed] and [Answered].
const (
	opTodos        = "todos"
	opStore        = "store"
	opTasks        = "tasks"
	opGate         = "gate"
	opCheck        = "check"
	opSessionKey   = "session key"
	opPausePolicy  = "pause policy"
	opNotice       = "notice"
	opObserver     = "observer"
	opContinuation = "continuation"
	opTail         = "tail"
)

// CallStarted reports that a call has begun that carryon may continue. There is no such
// event for a call that carryon leaves alone.
type CallStarted struct {
	continuation.TurnID
	Model    string // the model in the request, "" if the adapter does not know it
	Provider string // the provider's name from the adapter, such as "openai" or "anthropic"
	Streamed bool   // whether the request asks for a stream
}

// TurnStarted reports that the request of a turn is about to be sent.
type TurnStarted struct {
	continuation.TurnID
	Wait time.Duration // how long carryon waited before the turn because of Limits.MinInterval
}

// CallEnded reports that a call has ended. For a call that carryon leaves alone, it
// follows at once.
type CallEnded struct {
	continuation.TurnID
	Outcome Outcome
}

// Times are the times of a turn. None of them is zero. They
// include the time that the consumer of a stream takes between two reads.
type Times struct {
	Began time.Time // just before TurnStarted was called and the request was sent

	// FirstChunk is when the first chunk of a stream was read; one that has only usage
	// may not count. It equals Ended for an answer in one piece, and if nothing was read.
	FirstChunk time.Time

	// Finished is when the chunk with the finish reason of a stream was read. Usage may
	// follow it. It equals Ended for an answer in one piece, and if there was no such
	// chunk.
	Finished time.Time

	Ended time.Time // when the turn was read to its end, or broke off

	// Join is how long the stream paused before a continuation: from the finish reason
	// of the last turn that ended well to FirstChunk. It is 0 for turn 1, for whole
	// answers, and if nothing of the continuation was read.
	Join time.Duration
}

// stopwatch measures how long something takes. The zero value does not read the
// clock.
type stopwatch struct {
	clock clock.Clock
	began time.Time
}

// runs reports whether somebody wants to know the time.
func (w stopwatch) runs() bool { return w.clock != nil }

// read returns the time since the start.
func (w stopwatch) read() time.Duration {
	if !w.runs() {
		return 0
	}
	return w.clock.Now().Sub(w.began)
}

// observation is the state that a call keeps for its observers; nil if there are
// none.
type observation struct {
	clock      clock.Clock
	chunkTimes reading.Times   // of the current turn
	ctx        context.Context // the ctx that the observers returned for the current turn
	times      Times           // of the current turn, without FirstChunk and Join
	wait       time.Duration   // waited since the last turn
	over       bool            // the end of the call was reported

	finish time.Time // when the finish reason of the last turn that ended well was read
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
	if first, read := o.chunkTimes.First(); read {
		o.times.FirstChunk = first
		if !o.finish.IsZero() {
			o.times.Join = first.Sub(o.finish)
		}
	}
	if o.times.Finished = o.chunkTimes.Finish; o.times.Finished.IsZero() {
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
			emit(ctx, r, Failed{TurnID: id, Op: opObserver, Err: err})
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

// reporter reports events to the observers, of which the log is one.
type reporter struct {
	observers []Observer
	logFailed func(context.Context, Failed) // nil without a logger
}

// emit tells the observers of an event. A panic in one is reported as [Failed], unless the
// event is a Failed itself; then it is only logged. If nobody observes, emit costs nothing.
func emit[E any](ctx context.Context, r *reporter, event E) {
	if len(r.observers) == 0 {
		return
	}
	var panics []Failed
	heard := any(event)
	for i := range r.observers {
		if id, err := r.observers[i].hear(ctx, heard); err != nil {
			panics = append(panics, Failed{TurnID: id, Op: opObserver, Err: err})
		}
	}
	_, failing := heard.(Failed)
	for _, failure := range panics {
		if !failing {
			emit(ctx, r, failure)
		} else if r.logFailed != nil {
			r.logFailed(ctx, failure)
		}
	}
}

// hear calls the observer's function for an event. It returns the turn that the event is
// of, and the panic of the function.
func (o *Observer) hear(ctx context.Context, event any) (continuation.TurnID, error) {
	switch e := event.(type) {
	case CallEnded:
		return e.TurnID, notify(ctx, o.CallEnded, e)
	case TurnEnded:
		return e.TurnID, notify(ctx, o.TurnEnded, e)
	case Decision:
		return e.TurnID, notify(ctx, o.Decision, e)
	case ContinuationStarted:
		return e.TurnID, notify(ctx, o.ContinuationStarted, e)
	case PauseCalled:
		return e.TurnID, notify(ctx, o.PauseCalled, e)
	case ReminderDelivered:
		return e.TurnID, notify(ctx, o.ReminderDelivered, e)
	case Answered:
		return e.TurnID, notify(ctx, o.Answered, e)
	case Failed:
		return e.TurnID, notify(ctx, o.Failed, e)
	}
	panic(fmt.Sprintf("carryon/middleware: no observer hears a %T", event))
}

// notify calls a function of an observer, if it has one.
func notify[E any](ctx context.Context, f func(context.Context, E), event E) error {
	if f == nil {
		return nil
	}
	return guard.Run(func() error { f(ctx, event); return nil })
}
