package middleware

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
