package decision

import "strings"

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
	conditionNotLeft
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
		conditionNotLeft:         "not_left_to_user",
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
//   - enabled: [reasons.Disabled]
//   - in_scope: the reason in Input.Scope, such as [reasons.NoTools]
//   - unbroken: [reasons.BrokeOff]
//   - no_tool_calls: [reasons.ToolCalls]
//   - ended_well: [reasons.TooLong]; unless a pause was rejected also [reasons.ManyChoices],
//     [reasons.Refused], [reasons.UnknownContent] and [reasons.NotEnded]
//   - not_paused: [reasons.Paused]
//   - not_refused: [reasons.ProviderRefused]
//   - current_user_turn: [reasons.Superseded]
//   - active_todos: [reasons.NoActiveTodos] or another reason of the list, such
//     as [reasons.NoList]. Without an active todo, the condition is met if
//     [Judge] decides to ask the model, or leaves the decision to the program's check
//   - asks_nothing: [reasons.AsksUser]
//   - list_touched: [reasons.ListUntouched]
//   - own_work: [reasons.OthersWork]
//   - no_background: [reasons.Background]; also if the turn itself says that it waits for work of
//     the agent's own
//   - not_left_to_user: [reasons.LeftToUser], where a person is there
//   - not_active: [reasons.Active]
//   - attempts_left: [reasons.MaxAttempts], or [reasons.CheckExhausted] after the program's check
//     has failed, as for the other two budgets
//   - progress_left: [reasons.WithoutProgress]
//   - tokens_left: [reasons.TokenBudget]
//   - suitable_todo: [reasons.NoSuitableTodo]
//   - check_allows: [reasons.CheckDue], [reasons.CheckPassed] and [reasons.CheckUnknown]; it is met
//     unless the program's check decides
//   - interval_elapsed: [reasons.TooSoon]
type Conditions [conditionCount]Mark

// String lists the conditions that were checked, as in "enabled in_scope
// !no_tool_calls". An exclamation mark precedes the one that is not met.
func (c Conditions) String() string {
	names := conditionNames()
	size := 0
	for i := range c {
		size += len(" !") + len(names[i])
	}
	var text strings.Builder
	text.Grow(size) // each decision writes this text
	for i, mark := range c {
		if mark == NotLookedAt {
			continue
		}
		if text.Len() > 0 {
			text.WriteByte(' ')
		}
		if mark == NotMet {
			text.WriteByte('!')
		}
		text.WriteString(names[i])
	}
	return text.String()
}
