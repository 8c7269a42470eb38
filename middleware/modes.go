package middleware

import "github.com/carryon-go/carryon/adapter"

// UsageMode says which usage a joined answer reports.
type UsageMode uint8

// The usage modes.
const (
	// UsageOneAnswer reports usage as if the turns were one answer: the prompt tokens
	// of the first turn, and the completion tokens of all. Agents take the
	// prompt tokens for the size of their context.
	UsageOneAnswer UsageMode = iota
	// UsageSum reports what all turns used together: what is billed.
	UsageSum
	// UsageLastTurn reports what the last turn used.
	UsageLastTurn
)

// shown returns the usage that a joined answer shows.
func (m UsageMode) shown() adapter.UsageShown {
	switch m {
	case UsageSum:
		return adapter.UsageSum
	case UsageLastTurn:
		return adapter.UsageLast
	case UsageOneAnswer:
	}
	return adapter.UsageOneAnswer
}

// PauseToolMode says which requests todo_pause is declared in.
type PauseToolMode uint8

// The modes.
const (
	// PauseToolInContinuations declares todo_pause in the continuations and nowhere
	// else: the caller's own requests go out as they are.
	PauseToolInContinuations PauseToolMode = iota
	// PauseToolAlways declares it, last, in every call in scope, so that the tools and
	// the messages before a prompt stay byte for byte the same over a whole
	// conversation, which providers cache prompts by. Calls to it are stripped
	// everywhere, and one in the caller's own turn pauses.
	PauseToolAlways
)
