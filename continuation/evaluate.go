package continuation

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/carryon-go/carryon/internal/handback"
	"github.com/carryon-go/carryon/internal/todolist"
	"github.com/carryon-go/carryon/todo"
)

// Input is everything that a decision depends on.
type Input struct {
	Settings   Values      // settings of the session
	Scope      Reason      // why the call is out of scope, or ReasonNone
	Turn       EndedTurn   // the turn that has ended
	UserTurn   int         // number of the user turn in which the call arrived
	Todos      []todo.Todo // ignored unless TodosKnown
	TodosKnown bool        // if false, the reason is ReasonTodosNeeded as soon as the list is needed
	TodosErr   error       // why there is no list, or nil; ignored unless TodosKnown
	Origin     todo.Origin // where the list was read
	Others     []int       // ascending indexes in Todos of active todos that this agent cannot do now
	Background Background  // background tasks of the session
	Handback   Handback    // whether a turn that seems to be handed back is continued
	Limits     Limits      // limits, with defaults applied; see [Limits.WithDefaults]
	State      State       // state of the session

	// ShortMessage says that the user's newest message is short and is no question,
	// such as "continue". Such a message is about the list, even if the list has not
	// been written since.
	ShortMessage bool

	// MayAsk says that, without a list, the model may be asked whether anything is
	// still open: the user turn has called tools. In [ApprovalYOLO] it is asked if the
	// turn has not come to an end of its own: it is blank, breaks off, announces a step,
	// or asks a question that nobody is there to answer.
	MayAsk bool
	// AskAlways says that the model is asked after any such turn, in every mode.
	AskAlways bool

	// Check is what the program's check says of the turn: CheckDue if it has not been
	// asked and applies to the turn, NoCheck if there is none or it does not apply.
	Check CheckResult
	// CheckDigest identifies a failure of the check. One that differs from the failure
	// before it is progress.
	CheckDigest uint64

	Now    time.Time     // current time, for claims, the interval and the age of tasks
	Waited time.Duration // how long the call has already waited for the interval
}

// EndedTurn describes a turn of the model that has ended.
//
// A Finish of "stop", "end_turn", "eos", "eos_token", "stop_sequence" or "complete"
// is a plain stop. Case and separators do not matter, and "finish_reason" may precede
// it. No other finish reason is a plain stop.
type EndedTurn struct {
	BrokeOff    bool   // the turn ended in an error, a cancellation, a Close, or a failed callback
	ToolCalls   bool   // the model called a tool other than carryon's todo_pause
	ManyChoices bool   // the answer had a second choice
	Refused     bool   // the model refused to answer
	Unknown     bool   // the answer had content of a kind that the adapter does not know
	Finish      string // the provider's finish reason, "" if there was none
	NoFinish    bool   // the provider never reports a finish reason
	TooLong     bool   // the answer had more text than carryon keeps
	Rejected    bool   // the model called todo_pause with a reason that was rejected
	NothingOpen bool   // asked whether anything is open, the model answered only that nothing is

	// End says how the text ends. Evaluate looks at it only if there are active todos or
	// MayAsk is set.
	End TurnEnd
}

// Background is the state of a session's background tasks.
type Background struct {
	Unfinished int       // number of tasks that are pending or running
	Oldest     time.Time // when the oldest of these tasks was started
}

// Evaluation is the result of a decision.
type Evaluation struct {
	Continue   bool          // whether to continue; true only if Reason.Continues() is true
	Asks       bool          // without a list, whether a continuation would ask if anything is open
	Checks     bool          // with nothing open on the list, whether the program's check decides
	Reason     Reason        // the first reason that applies
	Todo       todo.Todo     // the todo to go on with, or the zero Todo
	Attempt    int           // the attempt that the continuation has or would have; see [TurnID]
	Wait       time.Duration // with ReasonTooSoon, how long until the interval is over
	Conditions Conditions    // the result of each condition
	List       List          // counts of the todo list, or why there is none
	Limit      int           // the limit that was reached, if Reason.Exhausted() is true
	LimitRule  string        // the rule that made Limit, in words; "" if the limit is the one in Input.Limits
	Awaited    int           // with ReasonBackground, the number of unfinished tasks; 0 if only the turn says so
	State      State         // Input.State, updated for changes of the list
}

// condition is one of the conditions of a decision.
type condition uint8

// The conditions, in the order in which the decision checks them; [Conditions] has
// their names and reasons.
const (
	conditionEnabled condition = iota
	conditionInScope
	conditionUnbroken
	conditionNoToolCalls
	conditionEndedWell
	conditionNotPaused
	conditionNotRefused
	conditionCurrentUserTurn
	conditionActiveTodos
	conditionAsksNothing
	conditionListTouched
	conditionOwnWork
	conditionNoBackground
	conditionNotActive
	conditionAttemptsLeft
	conditionProgressLeft
	conditionTokensLeft
	conditionSuitableTodo
	conditionCheckAllows
	conditionIntervalElapsed

	conditionCount
)

// conditionNames returns the names of the conditions that logs show.
func conditionNames() [conditionCount]string {
	return [conditionCount]string{
		conditionEnabled:         "enabled",
		conditionInScope:         "in_scope",
		conditionUnbroken:        "unbroken",
		conditionNoToolCalls:     "no_tool_calls",
		conditionEndedWell:       "ended_well",
		conditionNotPaused:       "not_paused",
		conditionNotRefused:      "not_refused",
		conditionCurrentUserTurn: "current_user_turn",
		conditionActiveTodos:     "active_todos",
		conditionAsksNothing:     "asks_nothing",
		conditionListTouched:     "list_touched",
		conditionOwnWork:         "own_work",
		conditionNoBackground:    "no_background",
		conditionNotActive:       "not_active",
		conditionAttemptsLeft:    "attempts_left",
		conditionProgressLeft:    "progress_left",
		conditionTokensLeft:      "tokens_left",
		conditionSuitableTodo:    "suitable_todo",
		conditionCheckAllows:     "check_allows",
		conditionIntervalElapsed: "interval_elapsed",
	}
}

// Mark is the result of checking a condition.
type Mark uint8

// The marks. The first condition that is not met ends the decision, so later conditions
// are not looked at.
const (
	NotLookedAt Mark = iota
	Met
	NotMet
)

// Conditions holds the mark of every condition, in the order in which the decision checks
// them. These are their names, with the reason where a condition is not met:
//
//   - enabled: [ReasonDisabled]
//   - in_scope: the reason in Input.Scope, such as [ReasonNoTools]
//   - unbroken: [ReasonBrokeOff]
//   - no_tool_calls: [ReasonToolCalls]
//   - ended_well: [ReasonTooLong]; unless a pause was rejected also [ReasonManyChoices],
//     [ReasonRefused], [ReasonUnknownContent] and [ReasonNotEnded]
//   - not_paused: [ReasonPaused]
//   - not_refused: [ReasonProviderRefused]
//   - current_user_turn: [ReasonSuperseded]
//   - active_todos: [ReasonNoActiveTodos] or another reason of the list, such as
//     [ReasonNoList]. Without an active todo, the condition is met if [Evaluate] decides to
//     ask the model, or leaves the decision to the program's check. Unless Input.TodosKnown is set, Evaluate ends here with [ReasonTodosNeeded], and
//     the condition is not looked at
//   - asks_nothing: [ReasonAsksUser]
//   - list_touched: [ReasonListUntouched]
//   - own_work: [ReasonOthersWork]
//   - no_background: [ReasonBackground]; also if the turn itself says that it waits for work of
//     the agent's own
//   - not_active: [ReasonActive]
//   - attempts_left: [ReasonMaxAttempts], or [ReasonCheckExhausted] after the program's check
//     has failed, as for the other two budgets
//   - progress_left: [ReasonWithoutProgress]
//   - tokens_left: [ReasonTokenBudget]
//   - suitable_todo: [ReasonNoSuitableTodo]
//   - check_allows: [ReasonCheckDue], [ReasonCheckPassed] and [ReasonCheckUnknown]; it is met
//     unless the program's check decides
//   - interval_elapsed: [ReasonTooSoon]
type Conditions [conditionCount]Mark

// Of returns the mark of the condition with the given name, such as "active_todos". It
// panics if there is no such condition. The names are those that [Conditions] lists.
func (c Conditions) Of(name string) Mark {
	names := conditionNames()
	i := slices.Index(names[:], name)
	if i < 0 {
		panic(fmt.Sprintf("carryon/continuation: there is no condition %q", name))
	}
	return c[i]
}

// String lists the conditions that were checked, as in "enabled in_scope
// !no_tool_calls". An exclamation mark precedes the one that is not met.
func (c Conditions) String() string {
	names := conditionNames()
	var looked []string
	for i, mark := range c {
		switch mark {
		case Met:
			looked = append(looked, names[i])
		case NotMet:
			looked = append(looked, "!"+names[i])
		case NotLookedAt:
		}
	}
	return strings.Join(looked, " ")
}

// Evaluate decides whether a turn is continued. It is a pure function and does not modify
// in. It allocates nothing, and takes about a microsecond for a hundred todos.
func Evaluate(in Input) Evaluation {
	ev := Evaluation{State: in.State, Attempt: in.State.Attempts + 1}
	if ev.judgeCall(&in) && ev.judgeTurn(&in) && ev.judgeUserTurn(&in) && ev.judgeSession(&in) {
		ev.Continue, ev.Reason = true, ReasonSatisfied
		switch {
		case ev.Asks:
			ev.Reason = ReasonAsk
		case ev.Checks:
			ev.Reason = ReasonCheckFailed
		}
	}
	return ev
}

// check marks the condition and, if it is not met, sets the reason.
func (ev *Evaluation) check(c condition, met bool, otherwise Reason) bool {
	if met {
		ev.Conditions[c] = Met
		return true
	}
	ev.Conditions[c] = NotMet
	ev.Reason = otherwise
	return false
}

func (ev *Evaluation) judgeCall(in *Input) bool {
	return ev.check(conditionEnabled, in.Settings.TodoContinuation, ReasonDisabled) &&
		ev.check(conditionInScope, in.Scope == ReasonNone, in.Scope)
}

func (ev *Evaluation) judgeTurn(in *Input) bool {
	return ev.check(conditionUnbroken, !in.Turn.BrokeOff, ReasonBrokeOff) &&
		ev.check(conditionNoToolCalls, !in.Turn.ToolCalls, ReasonToolCalls) &&
		ev.check(conditionEndedWell, !in.Turn.TooLong, ReasonTooLong) &&
		ev.judgeEnding(&in.Turn)
}

// judgeEnding looks at how the turn ended. A rejected pause is answered whatever
// the text and finish reason of its turn are.
func (ev *Evaluation) judgeEnding(t *EndedTurn) bool {
	if t.Rejected {
		return ev.check(conditionEndedWell, true, ReasonNone)
	}
	plain := handback.IsPlainStop(t.Finish) || t.NoFinish && t.Finish == ""
	return ev.check(conditionEndedWell, !t.ManyChoices, ReasonManyChoices) &&
		ev.check(conditionEndedWell, !t.Refused, ReasonRefused) &&
		ev.check(conditionEndedWell, !t.Unknown, ReasonUnknownContent) &&
		ev.check(conditionEndedWell, plain, ReasonNotEnded)
}

func (ev *Evaluation) judgeUserTurn(in *Input) bool {
	return ev.check(conditionNotPaused, !in.State.Paused.IsSet(), ReasonPaused) &&
		ev.check(conditionNotRefused, !in.State.Refused, ReasonProviderRefused) &&
		ev.check(conditionCurrentUserTurn, in.State.UserTurn == in.UserTurn, ReasonSuperseded)
}

func (ev *Evaluation) judgeSession(in *Input) bool {
	if !in.TodosKnown {
		ev.Reason = ReasonTodosNeeded
		return false
	}
	if in.TodosErr != nil {
		ev.List = List{Origin: in.Origin, Err: in.TodosErr}
		return ev.judgeWithoutList(in) && ev.judgeWork(in) // a list that was not read shows no progress
	}
	list := todolist.Summarize(in.Todos, in.Others)
	ev.List = listOf(&list)
	ev.List.Origin = in.Origin
	watermarks, used := todolist.Watermarks(in.State.Watermarks).Observe(&list, todolist.Used{
		Attempts: in.State.Attempts, Continuations: in.State.Continuations, Repeats: in.State.Repeats,
	})
	ev.State.Watermarks = Watermarks(watermarks)
	ev.State.Attempts, ev.State.Continuations, ev.State.Repeats = used.Attempts, used.Continuations, used.Repeats
	ev.Attempt = ev.State.Attempts + 1
	ev.Todo = list.Next
	ev.remember(in)
	ev.Checks = list.Active == 0 && in.Check != NoCheck
	return ev.check(conditionActiveTodos, list.Active > 0 || ev.Checks, ev.List.reason()) && ev.judgeWork(in)
}

// judgeWithoutList decides whether the model is asked whether anything is still open: not
// after a pause, and once, until it has called a tool.
func (ev *Evaluation) judgeWithoutList(in *Input) bool {
	reason := reasonWithoutList(in.TodosErr)
	if reason == ReasonNoList && in.MayAsk && !in.Turn.Rejected && (in.AskAlways || in.isUnfinished() || in.Turn.NothingOpen) {
		switch {
		case in.Turn.NothingOpen:
			reason = ReasonNothingOpen
		case in.State.Asked:
			reason = ReasonAsked
		default:
			ev.Asks = true
		}
	}
	ev.Checks = !ev.Asks && in.Check != NoCheck
	return ev.check(conditionActiveTodos, ev.Asks || ev.Checks, reason)
}

// judgeWork decides on a session in which there is, or may be, work to be done.
func (ev *Evaluation) judgeWork(in *Input) bool {
	return ev.judgeHandback(in) &&
		ev.judgeBackground(in) &&
		ev.check(conditionNotActive, !in.State.Claim.Active(in.Now), ReasonActive) &&
		ev.judgeBudgets(in) &&
		ev.check(conditionSuitableTodo, !ev.isAboutTodos() || ev.Todo != (todo.Todo{}), ReasonNoSuitableTodo) &&
		ev.judgeCheck(in) &&
		ev.judgeInterval(in)
}

// isAboutTodos reports whether a continuation would be about a todo.
func (ev *Evaluation) isAboutTodos() bool { return !ev.Asks && !ev.Checks }

// isUnfinished reports whether nobody is there, and the turn has not come to an end of its
// own.
func (in *Input) isUnfinished() bool {
	return in.Settings.ApprovalMode == ApprovalYOLO && (in.Turn.End.stalls() || in.Turn.End == EndAsks)
}

// judgeHandback asks whose turn it is: whether the model has handed it back to the
// user. A rejected pause is answered all the same. A turn that shows that the model has
// stalled is continued whatever the age of the list: nobody answers another question
// with nothing, or with half a sentence.
func (ev *Evaluation) judgeHandback(in *Input) bool {
	mode, asksUser := in.Settings.ApprovalMode, in.Turn.End == EndAsks && !in.Turn.Rejected
	untouched := in.Origin.Written == todo.WrittenEarlier && !ev.State.Touched && !in.ShortMessage && (in.Turn.Rejected || !in.Turn.End.stalls())
	return ev.check(conditionAsksNothing, !asksUser || !in.Handback.Questions.waits(mode), ReasonAsksUser) &&
		ev.check(conditionListTouched, !ev.isAboutTodos() || !untouched || !in.Handback.Untouched.waits(mode), ReasonListUntouched) &&
		ev.check(conditionOwnWork, !ev.isAboutTodos() || ev.List.Active > ev.List.Others, ReasonOthersWork)
}

// remember updates what the state records about the list.
func (ev *Evaluation) remember(in *Input) {
	s := &ev.State
	s.Touched = s.Touched || in.Origin.Written == todo.WrittenNow
	if s.Cancelled { // the list that is seen next is the stale one
		s.Stale, s.Cancelled = todolist.Digest(in.Todos), false
	}
}

func (ev *Evaluation) judgeBudgets(in *Input) bool {
	if !ev.Checks {
		return ev.judgeLimits(in)
	}
	ev.noteProgress(in)
	if !ev.checkLimit(conditionAttemptsLeft, in.State.Check.Failed, maxFailedChecks, ReasonCheckExhausted) {
		ev.LimitRule = ruleFailedChecks
		return false
	}
	if ev.judgeLimits(in) {
		return true
	}
	if in.State.Check.Failed > 0 {
		ev.Reason = ReasonCheckExhausted
	}
	return false
}

func (ev *Evaluation) judgeLimits(in *Input) bool {
	limit, rule := ev.attempts(in)
	if !ev.checkLimit(conditionAttemptsLeft, ev.State.Attempts, limit, ReasonMaxAttempts) {
		ev.LimitRule = rule
		return false
	}
	return ev.checkLimit(conditionProgressLeft, ev.State.Continuations, in.Limits.MaxWithoutProgress, ReasonWithoutProgress) &&
		ev.checkLimit(conditionTokensLeft, in.State.Tokens, in.Limits.TokenBudget, ReasonTokenBudget)
}

// The rules that allow fewer attempts than Limits.MaxAttempts, in words.
const (
	ruleReport = "a report gets one attempt in standard mode"
	ruleStale  = "the list has not changed since the last user turn that ended exhausted, paused or cancelled, so it gets one attempt"
	ruleRepeat = "the model gave the same answer again after it had been told so"
)

// attempts returns the limit of attempts in a row, and the rule that made it, "" for the
// limit of the program. If the list has changed, it clears the mark that the list is stale.
func (ev *Evaluation) attempts(in *Input) (limit int, rule string) {
	if ev.State.Repeats > maxRepeats {
		return ev.State.Attempts, ruleRepeat
	}
	limit = in.Limits.MaxAttempts
	if !ev.isAboutTodos() {
		return limit, ""
	}
	if in.isUnclear() {
		limit, rule = lower(limit, rule, ruleReport)
	}
	switch ev.State.Stale {
	case 0:
	case todolist.Digest(in.Todos):
		limit, rule = lower(limit, rule, ruleStale)
	default:
		ev.State.Stale = 0
	}
	return limit, rule
}

// lower returns a limit of one attempt that rule has made, unless the limit is that low.
func lower(limit int, made, rule string) (int, string) {
	if limit == 1 {
		return limit, made
	}
	return 1, rule
}

// isUnclear reports whether a person is there, but the turn neither asks them anything
// nor shows that the model has stalled.
func (in *Input) isUnclear() bool {
	return in.Settings.ApprovalMode != ApprovalYOLO && in.Turn.End == EndUnclear && !in.Turn.Rejected
}

// checkLimit is check for a limit of which used has been used.
func (ev *Evaluation) checkLimit(c condition, used, limit int, otherwise Reason) bool {
	if ev.check(c, within(used, limit), otherwise) {
		return true
	}
	ev.Limit = limit
	return false
}

// within reports whether used+1 is within the limit.
func within(used, limit int) bool {
	return limit == Off || used < limit
}

func (ev *Evaluation) judgeInterval(in *Input) bool {
	if last := in.State.LastPrompt; in.Limits.MinInterval != Off && !last.IsZero() {
		// A clock that was set back, or another replica's clock, must not make the call
		// wait for longer than one interval in all.
		ev.Wait = max(0, min(in.Limits.MinInterval-in.Now.Sub(last), in.Limits.MinInterval-in.Waited))
	}
	return ev.check(conditionIntervalElapsed, ev.Wait == 0, ReasonTooSoon)
}

func (ev *Evaluation) judgeBackground(in *Input) bool {
	busy := in.busy()
	if ev.check(conditionNoBackground, !busy && !in.saysItWaits(), ReasonBackground) {
		return true
	}
	if busy {
		ev.Awaited = in.Background.Unfinished
	}
	return false
}

// saysItWaits reports whether the turn is left alone because its text says that the
// agent's own work still runs. Where nobody is there, such a wait ends by itself.
func (in *Input) saysItWaits() bool {
	if in.Turn.End != EndWaits || in.Turn.Rejected {
		return false
	}
	return in.Settings.ApprovalMode != ApprovalYOLO || !in.State.Waiting.IsOver(in.Now, in.Limits.MaxTaskAge)
}

// busy reports whether background tasks keep the session from being continued.
func (in *Input) busy() bool {
	age := in.Limits.MaxTaskAge
	return in.Background.Unfinished > 0 && (age == Off || in.Now.Sub(in.Background.Oldest) < age)
}
