package continuation

import "strings"

// Condition is one of the conditions of a decision.
type Condition uint8

// The conditions, in the order in which the decision checks them.
const (
	ConditionEnabled         Condition = iota // else ReasonDisabled
	ConditionInScope                          // else the reason of the scope, such as ReasonNoTools
	ConditionUnbroken                         // else ReasonBrokeOff
	ConditionNoToolCalls                      // else ReasonToolCalls
	ConditionEndedWell                        // else ReasonTooLong, ReasonManyChoices, ReasonRefused or ReasonNotEnded
	ConditionNotPaused                        // else ReasonPaused
	ConditionNotRefused                       // else ReasonProviderRefused
	ConditionCurrentUserTurn                  // else ReasonSuperseded
	ConditionActiveTodos                      // else ReasonNoActiveTodos or another reason of the list, such as ReasonNoList; met where the model is asked
	ConditionAsksNothing                      // else ReasonAsksUser
	ConditionListTouched                      // else ReasonListUntouched
	ConditionOwnWork                          // else ReasonOthersWork
	ConditionNoBackground                     // else ReasonBackground
	ConditionNotActive                        // else ReasonActive
	ConditionAttemptsLeft                     // else ReasonMaxAttempts
	ConditionProgressLeft                     // else ReasonWithoutProgress
	ConditionTokensLeft                       // else ReasonTokenBudget
	ConditionSuitableTodo                     // else ReasonNoSuitableTodo
	ConditionIntervalElapsed                  // else ReasonTooSoon

	conditionCount
)

// String returns the name of the condition that logs show.
func (c Condition) String() string {
	if c >= conditionCount {
		return "unknown"
	}
	return [conditionCount]string{
		ConditionEnabled:         "enabled",
		ConditionInScope:         "in_scope",
		ConditionUnbroken:        "unbroken",
		ConditionNoToolCalls:     "no_tool_calls",
		ConditionEndedWell:       "ended_well",
		ConditionNotPaused:       "not_paused",
		ConditionNotRefused:      "not_refused",
		ConditionCurrentUserTurn: "current_user_turn",
		ConditionActiveTodos:     "active_todos",
		ConditionAsksNothing:     "asks_nothing",
		ConditionListTouched:     "list_touched",
		ConditionOwnWork:         "own_work",
		ConditionNoBackground:    "no_background",
		ConditionNotActive:       "not_active",
		ConditionAttemptsLeft:    "attempts_left",
		ConditionProgressLeft:    "progress_left",
		ConditionTokensLeft:      "tokens_left",
		ConditionSuitableTodo:    "suitable_todo",
		ConditionIntervalElapsed: "interval_elapsed",
	}[c]
}

// Mark is the result of checking a [Condition].
type Mark uint8

// The marks. The first condition that is not met ends the decision, so later conditions
// are not looked at.
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

// Conditions holds the mark of every condition, indexed by [Condition].
type Conditions [conditionCount]Mark

// String lists the conditions that were checked, as in "enabled in_scope
// !no_tool_calls". An exclamation mark precedes the one that is not met.
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
