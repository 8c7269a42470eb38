// Package turnresult names how a continuation ended, for the engine, telemetry and the
// command.
package turnresult

// The values of middleware.TurnEnded.Result.
const (
	ToolCall    = "tool_call"
	Text        = "text"
	NothingOpen = "nothing_open"
	Paused      = "paused"
	Failed      = "failed"
	Interrupted = "interrupted"
)

// All returns all of them.
func All() []string {
	return []string{ToolCall, Text, NothingOpen, Paused, Failed, Interrupted}
}
