package continuation

import (
	"fmt"
	"slices"
	"strings"
)

// condition is one of the conditions of a decision.
type condition uint8

// The conditions, in the order in which the decision checks them.
const (
	conditionEnabled         condition = iota // else ReasonDisabled
	conditionInScope                          // else the reason of the scope, such as ReasonNoTools
	conditionUnbroken                         // else ReasonBrokeOff
	conditionNoToolCalls                      // else ReasonToolCalls
	conditionEndedWell                        // else ReasonTooLong, ReasonManyChoices, ReasonRefused, ReasonUnknownContent or ReasonNotEnded
	conditionNotPaused                        // else ReasonPaused
	conditionNotRefused                       // else ReasonProviderRefused
	conditionCurrentUserTurn                  // else ReasonSuperseded
	conditionActiveTodos                      // else ReasonNoActiveTodos or another reason of the list, such as ReasonNoList; met where the model is asked
	conditionAsksNothing                      // else ReasonAsksUser
	conditionListTouched                      // else ReasonListUntouched
	conditionOwnWork                          // else ReasonOthersWork
	conditionNoBackground                     // else ReasonBackground
	conditionNotActive                        // else ReasonActive
	conditionAttemptsLeft                     // else ReasonMaxAttempts
	conditionProgressLeft                     // else ReasonWithoutProgress
	conditionTokensLeft                       // else ReasonTokenBudget
	conditionSuitableTodo                     // else ReasonNoSuitableTodo
	conditionIntervalElapsed                  // else ReasonTooSoon

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

// Of returns the mark of the condition with the given name, such as "active_todos". It
// panics if there is no such condition. The names are those that String shows.
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
