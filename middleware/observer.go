package middleware

import (
	"context"
	"time"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/pause"
	"github.com/carryon-go/carryon/todo"
)

// Observer has functions that carryon calls as it works. Every field is optional. The
// functions run outside every lock, on the goroutine that drives the call or ends it,
// so they should be quick. They may run at the same time, even for one call: when its
// ctx ends, its claim is released on another goroutine. A panic in one is reported as
// [Failed] and does not reach the caller.
//
// CallStarted and TurnStarted return a ctx, usually the given one with more values in
// it, such as a span: the call, or the request of the turn, goes on with the values
// of that ctx, but ends with the given ctx. To return nil is to return the given ctx.
// CallEnded is called once for each call, with the ctx of CallStarted, and even for a
// call that carryon leaves alone; TurnEnded is called with the ctx of TurnStarted,
// and the others with that of the call.
type Observer struct {
	CallStarted         func(context.Context, CallStarted) context.Context
	TurnStarted         func(context.Context, TurnStarted) context.Context
	CallEnded           func(context.Context, CallEnded)
	TurnEnded           func(context.Context, TurnEnded)
	Decision            func(context.Context, Decision)
	ContinuationStarted func(context.Context, ContinuationStarted)
	ContinuationEnded   func(context.Context, ContinuationEnded)
	PauseRejected       func(context.Context, PauseRejected)
	Paused              func(context.Context, Paused)
	Exhausted           func(context.Context, Exhausted)
	ReminderDelivered   func(context.Context, ReminderDelivered)
	TodosRead           func(context.Context, TodosRead)
	StoreAnswered       func(context.Context, StoreAnswered)
	Failed              func(context.Context, Failed)
	Recovered           func(context.Context, Recovered)
}

// TurnEnded says that the model has ended a turn and all of it was read, or that the
// turn broke off with Err. If a stream's first turn is not to be continued, carryon
// may decide that as soon as the finish is read: the [Decision] then comes before
// this event. Otherwise it comes after.
type TurnEnded struct {
	continuation.TurnID
	Finish    string // the provider's finish reason, "" if there was none
	ToolCalls int    // calls of the caller's tools
	Usage     adapter.Usage
	Err       error // set if the turn broke off
	Times     Times
}

// Decision is the outcome of a decision on whether to continue.
type Decision struct {
	continuation.TurnID
	Evaluation continuation.Evaluation
	DryRun     bool  // carryon will not act on it
	Holdout    bool  // the session belongs to the control group of [WithHoldout]
	Err        error // the gate's veto, with ReasonGate
}

// ContinuationStarted says that a continuation is about to be sent.
type ContinuationStarted struct {
	continuation.TurnID
	Todo   todo.Todo
	Prompt string // as sent; with a rejected pause, the tool's result
}

// ContinuationEnded says that a continuation was answered, or why it was not.
type ContinuationEnded struct {
	continuation.TurnID
	// Result is "tool_call" or "text", "paused" if the model called todo_pause,
	// "failed", or "interrupted" if the caller ended the call.
	Result    string
	ToolCalls int           // calls of the caller's tools
	Usage     adapter.Usage // of this turn
	Err       error         // set if it failed
}

// PauseRejected says that the model wanted to pause, and that its reason was
// rejected.
type PauseRejected struct {
	continuation.TurnID
	Reason string // in a form that may be shown
	Err    error  // what the model is told
}

// Paused says that the model has paused.
type Paused struct {
	continuation.TurnID
	Result pause.Result
}

// Exhausted says that a budget was used up with work still on the list.
type Exhausted struct {
	continuation.TurnID
	Reason continuation.Reason
}

// ReminderDelivered says that the model has been told that background tasks have
// ended: the turn that told it has ended well.
type ReminderDelivered struct {
	continuation.TurnID
	Tasks []string // their ids, in order of end
}

// TodosRead says that the todo source was asked for the list, and how long that
// took.
type TodosRead struct {
	continuation.TurnID
	Took  time.Duration
	Todos int   // done or not; 0 if there is no list
	Err   error // set if the source failed; a missing list is no failure
}

// StoreAnswered says that the store of session state was asked to read or change the
// state of a session, and how long that took. The default store, in memory, has no
// such event. A call asks more than once, possibly once just after its end.
type StoreAnswered struct {
	Session string // "" for a tool loop without a session
	Took    time.Duration
	Err     error // set if it failed
}

// Recovered says that something that had failed works again.
type Recovered struct {
	Op string // as in the [Failed] before it: "store", "tasks" or "todos"
}

// Failed says that something failed that did not cost the caller its answer.
type Failed struct {
	continuation.TurnID
	// Op is what failed: "todos", "store", "tasks", "gate", "session key", "pause
	// policy", "notice", "observer", "continuation", or "tail" for what follows the
	// finish of a turn.
	Op  string
	Err error // never nil
}
