// Package origins names the values of todo.Origin: where a list was read, and when it
// was written. Programs know them as texts, which do not change.
package origins

// Places of lists.
const (
	Program        = "program"         // a source that the program wrote itself
	Memory         = "memory"          // a todo.Memory
	ToolCall       = "tool_call"       // the arguments of a tool call in the conversation
	ToolResult     = "tool_result"     // the result of a tool call, if it repeats the whole list
	ToolCalls      = "tool_calls"      // several tool calls, each of which changed a part of the list
	EarlierRequest = "earlier_request" // an earlier request of the session: the current one no longer has the list
)

// When the model wrote a list. A source that does not know says nothing.
const (
	Earlier = "earlier" // before the user's last message
	Now     = "now"     // after the user's last message
)
