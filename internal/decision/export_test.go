package decision

import "github.com/carryon-go/carryon/todo"

// Condition and its values let tests name a condition by its index in Conditions.
type Condition = condition

const (
	ConditionEnabled         = conditionEnabled
	ConditionInScope         = conditionInScope
	ConditionUnbroken        = conditionUnbroken
	ConditionNoToolCalls     = conditionNoToolCalls
	ConditionEndedWell       = conditionEndedWell
	ConditionNotPaused       = conditionNotPaused
	ConditionNotRefused      = conditionNotRefused
	ConditionCurrentUserTurn = conditionCurrentUserTurn
	ConditionActiveTodos     = conditionActiveTodos
	ConditionAsksNothing     = conditionAsksNothing
	ConditionListTouched     = conditionListTouched
	ConditionOwnWork         = conditionOwnWork
	ConditionNoBackground    = conditionNoBackground
	ConditionNotLeft         = conditionNotLeft
	ConditionNotActive       = conditionNotActive
	ConditionAttemptsLeft    = conditionAttemptsLeft
	ConditionProgressLeft    = conditionProgressLeft
	ConditionTokensLeft      = conditionTokensLeft
	ConditionSuitableTodo    = conditionSuitableTodo
	ConditionCheckAllows     = conditionCheckAllows
	ConditionIntervalElapsed = conditionIntervalElapsed
)

// Summary is what one pass over a list finds.
type Summary = summary

// Summarize reads a list.
func Summarize(todos []todo.Todo, others []int) Summary { return summarize(todos, others) }

// MaxAdded is how many added todos can be progress.
const MaxAdded = maxAdded

// Observe observes a list of which only the counts are known.
func (s State) Observe(list *Summary) State {
	s.remember(list, nil, "")
	return s
}

// MarkAsked returns the state after the model was asked whether anything is open.
func (s State) MarkAsked() State {
	s.ClosingQuestion = true
	return s
}
