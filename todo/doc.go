// Package todo holds todo lists and says where carryon reads them from.
//
// A [Provider] is all carryon needs: a function from a ctx to the list of the
// session in that ctx. It is read and never written, so any store a program
// already has will do, through [ProviderFunc]. Of a list carryon looks at which
// todos are active ([Status.Active]) and, among those, at which comes first.
//
// # In memory
//
// [NewMemory] keeps a list per session and brings the two tools a model works
// on it with. A program declares [WriteTool] and [ReadTool] next to its own
// tools and lets the Memory answer the calls in its tool loop:
//
//	todos := todo.NewMemory()
//	for _, call := range answer.ToolCalls {
//		if out, ok := todos.Handle(ctx, call.Function.Name, call.Function.Arguments); ok {
//			messages = append(messages, toolMessage(call.ID, out))
//			continue
//		}
//		// the program's own tools
//	}
//
// The session is the one that continuation.WithSession put into ctx. Calls
// without a session share one list, so a server that talks to several users
// has to name their sessions.
//
// # In the conversation
//
// An agent that has a todo tool already needs none of that: the list is in its
// messages, as the arguments of the tool's last call. [FromConversation] reads
// it there, and knows the tools of most agents:
//
//	mw := middleware.New(todo.FromConversation())
//
// It reads the [Conversation] in the ctx that a Provider gets, which holds the
// tool calls of the request at hand. So can a source of one's own, see
// [ConversationFrom].
//
// # What models send
//
// [ParseList] reads the arguments of a todo-writing tool call. It is lenient
// about shape, for models differ in what they make of the same schema: a bare
// array, a list in a string, a Markdown checklist, numeric ids, "done" for
// "completed". It is strict about meaning: what cannot be a todo is refused
// with an [*ArgumentsError] that tells the model what to send instead, and no
// item is dropped in silence.
package todo
