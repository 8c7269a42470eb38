// Package todo defines todo lists and reads them for carryon.
//
// carryon needs one thing, a [Provider]: given a ctx, it returns the todo list
// of the session in that ctx. carryon reads the list and never writes it, so a
// [ProviderFunc] over whatever store a program already has will do. carryon
// asks two questions of a list: which todos are active ([Status.Active]), and
// which of them comes first.
//
// # In memory
//
// [NewMemory] keeps one list per session and answers the two tools with which a model
// works on its list. A program declares [WriteTool] and [ReadTool] next to its own
// tools and passes the calls to the Memory in its tool loop:
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
// The session is the one that continuation.WithSession put into ctx. Without a
// session there is no list, unless [WithOneConversation] says that the program
// has a single conversation.
//
// # In the conversation
//
// An agent that already has a todo tool needs no Memory: its list is in its messages,
// as the arguments of the tool's last call. [FromConversation] reads it there and
// recognizes the tools of most agents:
//
//	mw := middleware.New(todo.FromConversation())
//
// It reads the [Conversation] in the ctx that every Provider gets, which holds
// the tool calls of the current request. A program's own Provider can read it
// too, see [ConversationFrom].
//
// # What models send
//
// [ParseList] reads the arguments of a todo-writing tool call. It accepts many
// shapes, because models fill in the same schema differently: a bare array, a list in
// a string, a Markdown checklist, numeric ids, "done" for "completed". It does not
// guess: it refuses what cannot be a todo with an [*ArgumentsError] that tells the
// model what to send instead, and drops no item silently.
package todo
