package continuation

import "strings"

// Condition is one of the conditions that the decision looks at, in order.
type Condition uint8

// The conditions, in the order in which they are looked at.
const (
	Enabled         Condition = iota // else ReasonDisabled
	InScope                          // else what puts the call out of scope, as ReasonNoTools
	Unbroken                         // else ReasonBrokeOff
	NoToolCalls                      // else ReasonToolCalls
	EndedWell                        // else ReasonTooLong, ReasonManyChoices, ReasonRefused, ReasonNotEnded or ReasonEmpty
	NotPaused                        // else ReasonPaused
	NotRefused                       // else ReasonProviderRefused
	CurrentUserTurn                  // else ReasonSuperseded
	ActiveTodos                      // else ReasonNoActiveTodos or what else is said of the list, as ReasonUntouched
	NoBackground                     // else ReasonBackground
	NotActive                        // else ReasonActive
	AttemptsLeft                     // else ReasonMaxAttempts
	ProgressLeft                     // else ReasonWithoutProgress
	TokensLeft                       // else ReasonTokenBudget
	SuitableTodo                     // else ReasonNoSuitableTodo
	IntervalElapsed                  // else ReasonTooSoon

	conditionCount
)

// String returns the name of the condition that logs show.
func (c Condition) String() string {
	if c >= conditionCount {
		return "unknown"
	}
	return [conditionCount]string{
		Enabled:         "enabled",
		InScope:         "in_scope",
		Unbroken:        "unbroken",
		NoToolCalls:     "no_tool_calls",
		EndedWell:       "ended_well",
		NotPaused:       "not_paused",
		NotRefused:      "not_refused",
		CurrentUserTurn: "current_user_turn",
		ActiveTodos:     "active_todos",
		NoBackground:    "no_background",
		NotActive:       "not_active",
		AttemptsLeft:    "attempts_left",
		ProgressLeft:    "progress_left",
		TokensLeft:      "tokens_left",
		SuitableTodo:    "suitable_todo",
		IntervalElapsed: "interval_elapsed",
	}[c]
}

// Mark is what the decision found out about a condition.
type Mark uint8

// The marks. The first condition that is not met ends the decision, so that
// the ones after it are not looked at.
const (
	NotLookedAt Mark = iota
	Met
	NotMet
)

// String returns "not looked at", "met" or "not met".
func (m Mark) String() string {
	switch m {
	case Met:
		return "met"
	case NotMet:
		return "not met"
	case NotLookedAt:
	}
	return "not looked at"
}

// Conditions holds a mark for every [Condition], which is its index.
type Conditions [conditionCount]Mark

// String lists the conditions that were looked at, as in
// "enabled in_scope !no_tool_calls"; "!" stands before the one not met.
func (c Conditions) String() string {
	var looked []string
	for i, mark := range c {
		switch mark {
		case Met:
			looked = append(looked, Condition(i).String())
		case NotMet:
			looked = append(looked, "!"+Condition(i).String())
		case NotLookedAt:
		}
	}
	return strings.Join(looked, " ")
}
