package continuation

import "strconv"

// Reason says why a turn is continued or not. Its text is fixed.
type Reason uint8

// The reasons, in the order in which the decision looks at them. The first
// that applies wins.
const (
	// ReasonNone is the zero value: no decision was taken.
	ReasonNone Reason = iota
	// ReasonSatisfied is the one reason to continue.
	ReasonSatisfied
	// ReasonTodosNeeded says that everything that can be judged without the
	// todos speaks for continuing, and that they have to be asked for.
	ReasonTodosNeeded

	// ReasonDisabled and the others of this group judge the call.
	ReasonDisabled
	ReasonSuppressed
	ReasonNested
	ReasonLegacyFunctions
	ReasonNoTools
	ReasonToolChoice
	ReasonManyChoices
	ReasonJSON

	// ReasonBrokeOff and the others of this group judge the turn.
	ReasonBrokeOff
	ReasonToolCalls
	ReasonRefused
	ReasonNotEnded
	ReasonEmpty

	// ReasonPaused and the others of this group judge the session.
	ReasonPaused
	ReasonSuperseded
	ReasonNoActiveTodos
	ReasonBackground
	ReasonActive
	ReasonMaxAttempts
	ReasonMaxPerUserTurn
	ReasonTokenBudget
	ReasonNoProgress
	ReasonNoSuitableTodo
	ReasonTooSoon

	// ReasonGate and the others of this group come from around the decision.
	ReasonGate
	ReasonStore
	ReasonDeadline
	ReasonFailed

	reasonCount
)

// String returns the fixed text of the reason.
func (r Reason) String() string {
	if r < reasonCount {
		return reasonText(r)
	}
	return "continuation.Reason(" + strconv.Itoa(int(r)) + ")"
}

// MarshalText makes reasons readable in JSON and in logs.
func (r Reason) MarshalText() ([]byte, error) {
	return []byte(r.String()), nil
}

// Exhausted reports whether the reason is a budget that is used up.
func (r Reason) Exhausted() bool {
	return r == ReasonMaxAttempts || r == ReasonMaxPerUserTurn || r == ReasonTokenBudget
}

func reasonText(r Reason) string {
	return [reasonCount]string{
		ReasonNone:            "No decision was taken",
		ReasonSatisfied:       "All continuation conditions satisfied",
		ReasonTodosNeeded:     "The todos have not been asked for yet",
		ReasonDisabled:        "Todo continuation is disabled in ephemeral settings",
		ReasonSuppressed:      "Continuation is suppressed for this call",
		ReasonNested:          "The call runs inside another carryon layer",
		ReasonLegacyFunctions: "The request uses legacy functions",
		ReasonNoTools:         "The request offers no tools",
		ReasonToolChoice:      "The request's tool choice rules a continuation out",
		ReasonManyChoices:     "More than one choice was asked for",
		ReasonJSON:            "The request asks for a JSON response",
		ReasonBrokeOff:        "The call broke off",
		ReasonToolCalls:       "Tool calls were made during stream - no continuation needed",
		ReasonRefused:         "The model refused to answer",
		ReasonNotEnded:        "The turn did not end with a plain stop",
		ReasonEmpty:           "The turn held no text",
		ReasonPaused:          "The session is paused",
		ReasonSuperseded:      "A newer user turn has begun",
		ReasonNoActiveTodos:   "No active todos found (pending or in_progress)",
		ReasonBackground:      "Background tasks are pending or running",
		ReasonActive:          "Already in continuation process",
		ReasonMaxAttempts:     "Maximum continuation attempts exceeded",
		ReasonMaxPerUserTurn:  "Maximum continuations per user turn exceeded",
		ReasonTokenBudget:     "Token budget for continuations exceeded",
		ReasonNoProgress:      "No progress: the continuation gave the same text again",
		ReasonNoSuitableTodo:  "No suitable active todo found",
		ReasonTooSoon:         "Too soon since last continuation attempt",
		ReasonGate:            "The gate vetoed the continuation",
		ReasonStore:           "The session state is unavailable",
		ReasonDeadline:        "Too little time is left before the caller's deadline",
		ReasonFailed:          "The continuation failed",
	}[r]
}
