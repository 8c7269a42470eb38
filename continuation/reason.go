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
	// todos speaks for continuing, and that the todos are needed now.
	ReasonTodosNeeded

	// ReasonDisabled and the others of this group judge the call.
	ReasonDisabled        // the setting todo-continuation is false
	ReasonSuppressed      // by the program, or by an adapter that cannot continue the call
	ReasonNested          // an outer layer continues the call, and reports it
	ReasonLegacyFunctions // the request offers functions of the kind that tools replaced
	ReasonNoTools         // it offers none; see middleware.WithToollessCalls
	ReasonToolChoice      // it leaves the model no say in whether to call a tool
	ReasonManyChoices     // it asks for several choices, or the answer held a second one
	ReasonJSON            // it asks for a JSON response

	// ReasonBrokeOff and the others of this group judge the turn.
	ReasonBrokeOff  // by an error, a cancellation, a Close, or a callback that failed
	ReasonToolCalls // the program's own tools were called: the turn is its to go on with
	ReasonTooLong   // more text than is kept, so that it cannot be sent again
	ReasonRefused   // the model refused
	ReasonNotEnded  // without a finish reason, or with another than a plain stop
	ReasonEmpty     // no text but white space; see middleware.WithEmptyTurns

	// ReasonPaused and the others of this group judge the session.
	ReasonPaused         // by the model, in this call or before, or by the program
	ReasonSuperseded     // the user has written again since the call began
	ReasonNoActiveTodos  // the work is done, or the source of the todos has failed
	ReasonBackground     // tasks of the session are unfinished, and under Limits.MaxTaskAge
	ReasonActive         // another call of the session is being continued
	ReasonMaxAttempts    // of Limits, or one attempt with a list that went stale
	ReasonMaxPerUserTurn // of Limits
	ReasonTokenBudget    // of Limits
	ReasonNoProgress     // the continuation said what the turn before it had said
	ReasonNoSuitableTodo // every active todo is blank
	ReasonTooSoon        // after the last prompt, by Limits.MinInterval; it is waited for

	// ReasonGate and the others of this group come from around the decision.
	ReasonGate     // the program's gate vetoed
	ReasonStore    // the store of session state failed
	ReasonDeadline // the caller's: there is no more time left than the first turn took
	ReasonFailed   // the continuation could not be opened, failed, or timed out

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
		ReasonTooLong:         "The answer is too long to be sent again",
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
