// Package placeholder names the places in a prompt's templates that values fill;
// continuation.Templates says what they mean.
package placeholder

// Slot is a place in a text that a value fills.
type Slot uint8

// The slots.
const (
	None Slot = iota // no slot
	Task
	Attempt
	Happened
	Open
	Tool
	Pause
	Count // how many there are, with None
)

// texts are what stands in a template for each slot.
var texts = [Count]string{ //nolint:gochecknoglobals // constant
	Task:     "{taskDescription}",
	Attempt:  "{attemptCount}",
	Happened: "{whatHappened}",
	Open:     "{openTodos}",
	Tool:     "{withTodoTool}",
	Pause:    "{whenToPause}",
}

// String returns what stands in a template for the slot.
func (s Slot) String() string { return texts[s] }

// Of returns the slot that a text is the placeholder of, None if there is none.
func Of(text string) Slot {
	for s := Task; s < Count; s++ {
		if texts[s] == text {
			return s
		}
	}
	return None
}
