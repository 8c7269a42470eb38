package decision

import "strings"

// condition is one of the conditions of a decision.
type condition uint8

// The conditions, in the order in which the decision checks them, each with the reason
// where it is not met.
const (
	conditionEnabled         condition = iota // [reasons.Disabled]
	conditionInScope                          // the reason in Input.Scope, such as [reasons.NoTools]
	conditionUnbroken                         // [reasons.BrokeOff]
	conditionNoToolCalls                      // [reasons.ToolCalls]
	conditionEndedWell                        // [reasons.TooLong]; unless a pause was rejected, see judgeEnding
	conditionNotPaused                        // [reasons.Paused]
	conditionNotRefused                       // [reasons.ProviderRefused]
	conditionCurrentUserTurn                  // [reasons.Superseded]
	conditionActiveTodos                      // those of reasonOf and judgeWithoutList, such as [reasons.NoActiveTodos]
	conditionAsksNothing                      // [reasons.AsksUser]
	conditionListTouched                      // [reasons.ListUntouched]
	conditionOwnWork                          // [reasons.OthersWork]
	conditionNoBackground                     // [reasons.Background]; also if the turn itself says that it waits
	conditionNotLeft                          // [reasons.LeftToUser], where a person is there
	conditionNotActive                        // [reasons.Active]
	conditionAttemptsLeft                     // [reasons.MaxAttempts]; of a check that has failed, [reasons.CheckExhausted]
	conditionProgressLeft                     // [reasons.WithoutProgress], and as above
	conditionTokensLeft                       // [reasons.TokenBudget], and as above
	conditionSuitableTodo                     // [reasons.NoSuitableTodo]
	conditionCheckAllows                      // [reasons.CheckDue], [reasons.CheckPassed] and [reasons.CheckUnknown]
	conditionIntervalElapsed                  // [reasons.TooSoon]

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
// them.
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
