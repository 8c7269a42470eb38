// Package decision decides whether a turn is continued, and keeps the state of a session
// that this depends on. It is pure: no clock, no ctx, no I/O.
//
// [Judge] says yes, no, or what it still needs to know: the todo list, the background
// work, or the state of the session. The caller fetches that, adds it to the [Input], and
// judges again. [State] and its methods are the transitions of a session: user turns,
// pauses, and the claim of a call that continues the session.
package decision

import (
	"time"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/handback"
	"github.com/carryon-go/carryon/internal/origins"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/todo"
)

// Inputs are parts of an [Input] that are expensive to ask for.
type Inputs uint8

// The parts.
const (
	TodoList       Inputs = 1 << iota // Todos, TodosErr and Origin of an [Input]
	BackgroundWork                    // Background and Others
	SessionState                      // State
)

// Input is everything that a decision depends on.
type Input struct {
	Known Inputs // which parts are known

	Settings continuation.Values // settings of the session
	Scope    continuation.Reason // why the call is out of scope, or reasons.None
	Turn     Turn                // the turn that has ended
	UserTurn int                 // number of the user turn in which the call arrived

	Todos    []todo.Todo
	TodosErr error       // why there is no list, or nil
	Origin   todo.Origin // where the list was read

	Background  Background // background tasks of the session
	OthersTodos []int      // ascending indexes in Todos of active todos that this agent cannot do now

	State State // state of the session
	// RuledOut says that the state, when it was last seen, ruled a continuation out. Then
	// the state is needed before the list.
	RuledOut bool
	// ListWritten says that the model wrote the list in this user turn, whatever the state
	// says.
	ListWritten bool

	Handback continuation.Handback // whether a turn that seems to be handed back is continued
	Limits   continuation.Limits   // limits, with defaults applied
	// ShortLoop says that the call's executor counts iterations, so that there is one
	// continuation in a row.
	ShortLoop bool
	// HeldOut says that the session belongs to the control group, which is not continued.
	HeldOut bool

	// ShortMessage says that the user's newest message is short and is no question,
	// such as "continue". Such a message is about the list, even if the list has not
	// been written since.
	ShortMessage bool

	// MayAsk says that, without a list, the model may be asked whether anything is
	// still open: the user turn has called tools. judgeWithoutList has the rule.
	MayAsk bool
	// AskAlways says that the model is asked after any such turn, in every mode.
	AskAlways bool

	// Check is what the program's check says of the turn: CheckDue if it has not been
	// asked and applies to the turn, NoCheck if there is none or it does not apply.
	Check continuation.CheckResult
	// CheckDigest identifies a failure of the check. One that differs from the failure
	// before it is progress.
	CheckDigest uint64
	CheckNoted  bool // the state has that failure

	Now    time.Time     // current time, for claims, the interval and the age of tasks
	Waited time.Duration // how long the call has already waited for the interval
}

// lacks reports whether a part is not known.
func (in *Input) lacks(part Inputs) bool { return in.Known&part == 0 }

// Turn describes a turn of the model that has ended.
//
// A Finish of "stop", "end_turn", "eos", "eos_token", "stop_sequence" or "complete"
// is a plain stop. Case and separators do not matter, and "finish_reason" may precede
// it. No other finish reason is a plain stop.
type Turn struct {
	BrokeOff       bool   // the turn ended in an error, a cancellation, a Close, or a failed callback
	ToolCalls      bool   // the model called a tool other than carryon's todo_pause
	ManyChoices    bool   // the answer had a second choice
	ModelRefused   bool   // the model refused to answer
	Unknown        bool   // the answer had content of a kind that the adapter does not know
	Finish         string // the provider's finish reason, "" if there was none
	NoFinish       bool   // the provider never reports a finish reason
	TooLong        bool   // the answer had more text than carryon keeps
	Rejected       bool   // the model called todo_pause with a reason that was rejected
	AsksPermission bool   // that reason only asked for permission to go on
	NothingOpen    bool   // asked whether anything is open, the model answered only that nothing is

	// End says how the text ends. Judge looks at it only if there are active todos, or
	// MayAsk or Check is set.
	End handback.End
}

// stalls reports whether the text shows that the model has stopped although it could have
// gone on.
func (t *Turn) stalls() bool { return t.End == handback.Blank || t.End == handback.Announces }

// Background is the state of a session's background tasks.
type Background struct {
	Unfinished int       // number of tasks that are pending or running
	Oldest     time.Time // when the oldest of these tasks was started
}

// Verdict is the result of a decision.
type Verdict struct {
	// Needs is the part of the input that the decision depends on and that is not known,
	// 0 if it is final. With SessionState, the rest is the verdict on a session without a past.
	Needs Inputs

	Continue        bool                // whether to continue; true only if Reason.Continues() is true
	ClosingQuestion bool                // without a list, whether a continuation would ask if anything is open
	Checks          bool                // with nothing open on the list, whether the program's check decides
	Reason          continuation.Reason // the first reason that applies
	Todo            todo.Todo           // the todo to go on with, or the zero Todo
	Attempt         int                 // the attempt that the continuation has or would have
	IntervalLeft    time.Duration       // with reasons.TooSoon, how long until the interval is over
	Conditions      Conditions          // the result of each condition
	List            continuation.List   // counts of the todo list, or why there is none
	Limit           int                 // the limit that was reached, if Reason.Exhausted() is true
	LimitRule       string              // the rule that made Limit, in words; "" if it is the program's
	Awaited         int                 // with reasons.Background, the number of unfinished tasks; 0 if only the turn says so
	State           State               // Input.State, updated for changes of the list
}

// MayContinue reports whether the turn goes on: now, after a wait, or if the program's check,
// which comes next, fails.
func (v *Verdict) MayContinue() bool {
	return v.Continue || v.Reason == reasons.TooSoon || v.Reason == reasons.CheckDue
}

// UsesUpBudget reports whether a budget of the program is used up, or that of its check. A
// lower limit is none: carryon has made it for how the turn ended, or what came before.
func (v *Verdict) UsesUpBudget() bool {
	return v.Reason == reasons.CheckExhausted || v.Reason.Exhausted() && v.LimitRule == ""
}

// HasSeenList reports whether the decision has looked at the list.
func (v *Verdict) HasSeenList() bool { return v.Conditions[conditionActiveTodos] != NotLookedAt }

// Judge decides whether a turn is continued. It is a pure function and does not modify
// in. It allocates nothing, and takes about a microsecond for a hundred todos.
func Judge(in Input) Verdict {
	if in.lacks(SessionState) {
		in.State, in.UserTurn = State{}, 0
	}
	in.State.ListWritten = in.State.ListWritten || in.ListWritten
	v := Verdict{State: in.State, Attempt: in.State.Attempts + 1}
	if v.judgeCall(&in) && v.judgeTurn(&in) && v.judgeUserTurn(&in) && v.judgeSession(&in) {
		v.Continue, v.Reason = true, reasons.Satisfied
		switch {
		case v.ClosingQuestion:
			v.Reason = reasons.Ask
		case v.Checks:
			v.Reason = reasons.CheckFailed
		}
	}
	if in.HeldOut && (v.Continue || v.Reason == reasons.TooSoon) {
		v.holdOut(&in)
	}
	if v.Needs == 0 && v.HasSeenList() && in.lacks(SessionState) {
		v.Needs = SessionState
	}
	return v
}

// holdOut turns the verdict into one on a session of the control group. Such a call does
// not wait for the interval either.
func (v *Verdict) holdOut(in *Input) {
	v.Continue, v.Reason, v.IntervalLeft = false, reasons.Holdout, 0
	if in.Check == continuation.CheckDue { // it says in both groups how the work has ended
		v.Reason = reasons.CheckDue
	}
}

// need ends the decision until the part is known.
func (v *Verdict) need(part Inputs) bool {
	v.Needs, v.Reason = part, reasons.None
	return false
}

// require marks the condition and, if it is not met, sets the reason.
func (v *Verdict) require(c condition, met bool, otherwise continuation.Reason) bool {
	if met {
		v.Conditions[c] = Met
		return true
	}
	v.Conditions[c] = NotMet
	v.Reason = otherwise
	return false
}

func (v *Verdict) judgeCall(in *Input) bool {
	return v.require(conditionEnabled, in.Settings.TodoContinuation, reasons.Disabled) &&
		v.require(conditionInScope, in.Scope == reasons.None, in.Scope)
}

func (v *Verdict) judgeTurn(in *Input) bool {
	return v.require(conditionUnbroken, !in.Turn.BrokeOff, reasons.BrokeOff) &&
		v.require(conditionNoToolCalls, !in.Turn.ToolCalls, reasons.ToolCalls) &&
		v.require(conditionEndedWell, !in.Turn.TooLong, reasons.TooLong) &&
		v.judgeEnding(&in.Turn)
}

// judgeEnding looks at how the turn ended. A rejected pause is answered whatever
// the text and finish reason of its turn are.
func (v *Verdict) judgeEnding(t *Turn) bool {
	if t.Rejected {
		return v.require(conditionEndedWell, true, reasons.None)
	}
	plain := handback.IsPlainStop(t.Finish) || t.NoFinish && t.Finish == ""
	return v.require(conditionEndedWell, !t.ManyChoices, reasons.ManyChoices) &&
		v.require(conditionEndedWell, !t.ModelRefused, reasons.Refused) &&
		v.require(conditionEndedWell, !t.Unknown, reasons.UnknownContent) &&
		v.require(conditionEndedWell, plain, reasons.NotEnded)
}

func (v *Verdict) judgeUserTurn(in *Input) bool {
	if in.RuledOut && in.lacks(SessionState) {
		return v.need(SessionState)
	}
	return v.require(conditionNotPaused, !in.State.Paused.IsSet(), reasons.Paused) &&
		v.require(conditionNotRefused, !in.State.ProviderRefused, reasons.ProviderRefused) &&
		v.require(conditionCurrentUserTurn, in.State.UserTurn == in.UserTurn, reasons.Superseded)
}

func (v *Verdict) judgeSession(in *Input) bool {
	if in.lacks(TodoList) {
		return v.need(TodoList)
	}
	if in.TodosErr != nil {
		v.List = continuation.List{Origin: in.Origin, Err: in.TodosErr}
		return v.judgeWithoutList(in) && v.judgeWork(in) // a list that was not read shows no progress
	}
	list := summarize(in.Todos, in.OthersTodos)
	v.List = list.counts()
	v.List.Origin = in.Origin
	v.State.remember(&list, in.Todos, in.Origin.Written)
	v.Attempt = v.State.Attempts + 1
	v.Todo = list.Next
	v.Checks = list.Active == 0 && in.Check != continuation.NoCheck
	return v.require(conditionActiveTodos, list.Active > 0 || v.Checks, reasonOf(&v.List)) && v.judgeWork(in)
}

// judgeWithoutList decides whether the model is asked whether anything is still open: not
// after a pause, and once, until it has called a tool. Unless the program wants it asked
// always, that is in ApprovalYOLO, if the turn has not come to an end of its own.
func (v *Verdict) judgeWithoutList(in *Input) bool {
	reason := reasonWithoutList(in.TodosErr)
	if reason == reasons.NoList && in.MayAsk && !in.Turn.Rejected && (in.AskAlways || in.isUnattendedStall() || in.Turn.NothingOpen) {
		switch {
		case in.Turn.NothingOpen:
			reason = reasons.NothingOpen
		case in.State.ClosingQuestion:
			reason = reasons.Asked
		default:
			v.ClosingQuestion = true
		}
	}
	v.Checks = !v.ClosingQuestion && in.Check != continuation.NoCheck
	return v.require(conditionActiveTodos, v.ClosingQuestion || v.Checks, reason)
}

// judgeWork decides on a session in which there is, or may be, work to be done.
func (v *Verdict) judgeWork(in *Input) bool {
	return v.judgeHandback(in) &&
		v.judgeBackground(in) &&
		v.require(conditionNotLeft, !v.isAboutTodos() || !in.handsRestOver() || in.Handback.Questions == continuation.GoOn, reasons.LeftToUser) &&
		v.require(conditionNotActive, !in.State.Claim.Active(in.Now), reasons.Active) &&
		v.judgeBudgets(in) &&
		v.require(conditionSuitableTodo, !v.isAboutTodos() || v.Todo != (todo.Todo{}), reasons.NoSuitableTodo) &&
		v.judgeCheck(in) &&
		v.judgeInterval(in)
}

// isAboutTodos reports whether a continuation would be about a todo.
func (v *Verdict) isAboutTodos() bool { return !v.ClosingQuestion && !v.Checks }

// isUnattendedStall reports whether nobody is there, and the turn has not come to an end of its
// own.
func (in *Input) isUnattendedStall() bool {
	return in.Settings.ApprovalMode == continuation.ApprovalYOLO && (in.Turn.stalls() || in.Turn.End == handback.Asks)
}

// judgeHandback asks whose turn it is: whether the model has handed it back to the
// user. A rejected pause is answered all the same. A turn that shows that the model has
// stalled is continued whatever the age of the list: nobody answers another question
// with nothing, or with half a sentence.
func (v *Verdict) judgeHandback(in *Input) bool {
	mode, asksUser := in.Settings.ApprovalMode, in.Turn.End == handback.Asks && !in.Turn.Rejected
	untouched := in.Origin.Written == origins.Earlier && !v.State.ListWritten && !in.ShortMessage && (in.Turn.Rejected || !in.Turn.stalls())
	return v.require(conditionAsksNothing, !asksUser || !leavesToUser(in.Handback.Questions, mode), reasons.AsksUser) &&
		v.require(conditionListTouched, !v.isAboutTodos() || !untouched || !leavesToUser(in.Handback.Untouched, mode), reasons.ListUntouched) &&
		v.require(conditionOwnWork, !v.isAboutTodos() || v.List.Active > v.List.Others, reasons.OthersWork)
}

// leavesToUser reports whether the rule leaves a turn to the user in that mode.
func leavesToUser(r continuation.HandbackRule, mode continuation.ApprovalMode) bool {
	return r == continuation.Wait || r == continuation.ByMode && mode != continuation.ApprovalYOLO
}

func (v *Verdict) judgeBackground(in *Input) bool {
	if in.lacks(BackgroundWork) {
		return v.need(BackgroundWork)
	}
	busy := in.busy()
	if v.require(conditionNoBackground, !busy && !in.saysItWaits(), reasons.Background) {
		return true
	}
	if busy {
		v.Awaited = in.Background.Unfinished
	}
	return false
}

// saysItWaits reports whether the turn is left alone because its text says that the
// agent's own work still runs. Where nobody is there, such a wait ends by itself.
func (in *Input) saysItWaits() bool {
	if in.Turn.End != handback.Waits || in.Turn.Rejected {
		return false
	}
	return in.Settings.ApprovalMode != continuation.ApprovalYOLO || !in.State.Waiting.IsOver(in.Now, in.Limits.MaxTaskAge)
}

// busy reports whether background tasks keep the session from being continued.
func (in *Input) busy() bool {
	age := in.Limits.MaxTaskAge
	return in.Background.Unfinished > 0 && (age == continuation.Off || in.Now.Sub(in.Background.Oldest) < age)
}

// judgeCheck looks at what the program's check says, if that decides.
func (v *Verdict) judgeCheck(in *Input) bool {
	otherwise := reasons.CheckUnknown
	switch in.Check {
	case continuation.CheckDue:
		otherwise = reasons.CheckDue
	case continuation.CheckPassed:
		otherwise = reasons.CheckPassed
	case continuation.NoCheck, continuation.CheckFailed, continuation.CheckUnknown:
	}
	return v.require(conditionCheckAllows, !v.Checks || in.Check == continuation.CheckFailed, otherwise)
}

func (v *Verdict) judgeInterval(in *Input) bool {
	if last := in.State.LastPrompt; in.Limits.MinInterval != continuation.Off && !last.IsZero() {
		// A clock that was set back, or another replica's clock, must not make the call
		// wait for longer than one interval in all.
		v.IntervalLeft = max(0, min(in.Limits.MinInterval-in.Now.Sub(last), in.Limits.MinInterval-in.Waited))
	}
	return v.require(conditionIntervalElapsed, v.IntervalLeft == 0, reasons.TooSoon)
}
