package middleware

import "github.com/carryon-go/carryon/adapter"

// UsageMode says which usage a joined answer reports.
type UsageMode uint8

// The usage modes.
const (
	// UsageOneAnswer reports usage as if the turns were one answer: the prompt tokens
	// of the first turn, and the completion tokens of all. Agents read the prompt
	// tokens as the size of their context.
	UsageOneAnswer UsageMode = iota
	// UsageSum reports the usage of all turns together, which is what is billed.
	UsageSum
	// UsageLastTurn reports the usage of the last turn.
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

// PauseToolMode says which requests declare todo_pause.
type PauseToolMode uint8

// The pause tool modes.
const (
	// PauseToolInContinuations declares todo_pause only in continuations: the
	// caller's own requests go out as they are.
	PauseToolInContinuations PauseToolMode = iota
	// PauseToolAlways declares todo_pause, as the last tool, in every call that may
	// be continued. The tools and the messages before a prompt then stay the same,
	// byte for byte, over a whole conversation, so providers can cache them. The
	// caller never sees a call of todo_pause, and one in the caller's own turn
	// pauses.
	PauseToolAlways
)
