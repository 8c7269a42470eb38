package middleware

import (
	"context"
	"time"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/pause"
	"github.com/carryon-go/carryon/todo"
)

// Observer is told what carryon does. Every field is optional. The functions
// run on the goroutine that drives the call, or that ends it, outside every
// lock, so they should be quick; they may be called from many calls at once. A
// panic in one is reported as [Failed] and does not reach the caller.
//
// CallStarted and TurnStarted return a ctx, usually theirs with more values in
// it, such as a span: the call, or the request of the turn, goes on with the
// values of that ctx. It ends when the ctx that they were given ends, whatever
// they return; nil stands for the ctx that they were given. CallEnded is called
// once for each call, also for one that carryon leaves alone, with the ctx that
// CallStarted returned; TurnEnded with the one that TurnStarted returned; the
// others with that of the call.
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

// TurnEnded says that the model has ended a turn and that all of it was read, or
// that the turn broke off with Err. In a stream, the caller's own turn may be
// decided not to go on at its finish already: then the [Decision] comes before
// this event, and otherwise after it.
type TurnEnded struct {
	continuation.TurnID
	Finish    string // the provider's finish reason, "" if there was none
	ToolCalls int    // calls of the caller's tools
	Usage     adapter.Usage
	Err       error // what the turn broke off with
	Times     Times
}

// Decision is the outcome of a decision on whether to continue.
type Decision struct {
	continuation.TurnID
	Evaluation continuation.Evaluation
	DryRun     bool  // nothing will be done about it
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
	// Result says in a word what came of it: "tool_call" or "text", "paused" if
	// the model called todo_pause, "failed", or "interrupted" if the caller ended
	// the call.
	Result    string
	ToolCalls int           // calls of the caller's tools
	Usage     adapter.Usage // of this turn
	Err       error         // what it failed with
}

// PauseRejected says that the model wanted to pause, and that its reason was
// rejected.
type PauseRejected struct {
	continuation.TurnID
	Reason string // as it may be shown
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
	Todos int   // how many there are, done or not; 0 if there is no list
	Err   error // what it failed with; to have no list is no failure
}

// StoreAnswered says that the store of session state was asked to look at the
// state of a session or to change it, and how long that took. The default store,
// in memory, has no such event. A call asks more than once, and may do so once
// more just after its end.
type StoreAnswered struct {
	Session string // "" for a tool loop without a session
	Took    time.Duration
	Err     error // what it failed with
}

// Recovered says that something works again that has failed.
type Recovered struct {
	Op string // as in the [Failed] before it: "store", "tasks" or "todos"
}

// Failed says that something went wrong that did not cost the caller its
// answer.
type Failed struct {
	continuation.TurnID
	// Op is what was tried: "todos", "store", "tasks", "gate", "session key",
	// "pause policy", "notice", "observer", "continuation", or "tail" for what
	// follows the finish of a turn.
	Op  string
	Err error // what went wrong; never nil
}
