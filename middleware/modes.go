package middleware

import "github.com/carryon-go/carryon/adapter"

// UsageMode says which usage a joined answer reports.
type UsageMode uint8

// The usage modes.
const (
	// OneAnswer reports usage as if the turns were one answer: the prompt tokens
	// of the first turn, and the completion tokens of all. Agents take the
	// prompt tokens for the size of their context.
	OneAnswer UsageMode = iota
	// Sum reports what all turns used together: what is billed.
	Sum
	// LastTurn reports what the last turn used.
	LastTurn
)

// shown returns the usage that a joined answer shows.
func (m UsageMode) shown() adapter.UsageShown {
	switch m {
	case Sum:
		return adapter.UsageSum
	case LastTurn:
		return adapter.UsageLast
	case OneAnswer:
	}
	return adapter.UsageOneAnswer
}

// PauseToolMode says which requests todo_pause is declared in.
type PauseToolMode uint8

// The modes.
const (
	// ContinuationsOnly declares todo_pause in the continuations and nowhere
	// else: the caller's own requests go out as they are.
	ContinuationsOnly PauseToolMode = iota
	// Always declares it, last, in every call in scope, so that the tools and
	// the messages before a prompt stay byte for byte the same over a whole
	// conversation, which providers cache prompts by. Calls to it are stripped
	// everywhere, and one in the caller's own turn pauses.
	Always
)
