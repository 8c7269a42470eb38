package middleware

import "github.com/carryon-go/carryon/adapter"

// UsageMode says which usage a joined answer reports.
type UsageMode uint8

// The usage modes.
const (
	// SumTurns reports what all turns used together: what is billed.
	SumTurns UsageMode = iota
	// LastTurn reports what the last turn used: for callers that take an
	// answer's usage for the size of its context.
	LastTurn
)

// shown returns the usage that a joined answer shows.
func (m UsageMode) shown() adapter.UsageShown {
	if m == LastTurn {
		return adapter.UsageLast
	}
	return adapter.UsageSum
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
