package asynctask

// ReasonGoal is the terminate reason of an [Output] that names none.
const ReasonGoal = "GOAL"

// Output is what a task that ended well leaves to the model. A nil Output says
// that there is nothing but the fact that it ended.
//
// The texts may be of any length and need not be UTF-8: bytes that are not are
// replaced, and the model is shown at most [MaxCompletion] bytes. The Output
// and its map must not be changed once they are handed over.
type Output struct {
	// TerminateReason is one word for why the task ended; "" is ReasonGoal.
	TerminateReason string
	// EmittedVars are values that the task computed, by name.
	EmittedVars map[string]string
	// FinalMessage is what the task has to say, nil if nothing. An empty
	// message is shown as one.
	FinalMessage *string
}

// Message returns the Output of a task that has nothing but a text to leave.
func Message(text string) *Output {
	return &Output{FinalMessage: &text}
}
