package continuation

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
	ConditionNotActive       = conditionNotActive
	ConditionAttemptsLeft    = conditionAttemptsLeft
	ConditionProgressLeft    = conditionProgressLeft
	ConditionTokensLeft      = conditionTokensLeft
	ConditionSuitableTodo    = conditionSuitableTodo
	ConditionCheckAllows     = conditionCheckAllows
	ConditionIntervalElapsed = conditionIntervalElapsed
)
