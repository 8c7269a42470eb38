// Package todo defines todo lists and the sources from which carryon reads them.
//
// carryon needs a [Provider]: given a ctx, it returns the todo list of the session in
// that ctx. carryon reads the list and never changes it, so a [ProviderFunc] over the
// program's own store is enough. carryon looks at two things: which todos are active
// ([Status.Active]), and which of those comes first.
//
// Begin with [FromConversation] if the agent already has a todo tool, with [NewMemory]
// if it has none, or with [ProviderFunc] if the program keeps lists of its own. [Static]
// is a fixed list, for tests. A Provider that knows where and when its list was written
// is a [Locator].
//
// # In the conversation
//
// An agent with a todo tool has its list in its own messages, as the arguments of the
// tool's last call. [FromConversation] reads it there and recognizes the tools of most
// agents:
//
//	mw := middleware.New(todo.FromConversation())
//
// It reads the conversation in its ctx, which has the tool calls of the current
// request. A program's own Provider can read it too; see [ConversationFrom].
//
// # In memory
//
// [NewMemory] keeps one list per session and answers two tools, with which a model
// works on its list. A program declares [WriteTool] and [ReadTool] next to its own
// tools, and passes their calls to the Memory in its tool loop:
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
// The session is the one that continuation.WithSession has put into ctx. Without a
// session there is no list, unless [WithOneConversation] says that the program has only
// one conversation.
//
// # What models send
//
// [ParseList] reads the arguments of a call that writes a list. It accepts many forms,
// because models fill in the same schema differently: a bare array, a list in a string,
// a Markdown checklist, numeric ids, "done" instead of "completed". It does not guess
// and drops no item: if something cannot be a todo, it returns an [*ArgumentsError]
// that tells the model what to send instead.
//
// [The guide] shows where the list can come from.
//
// [The guide]: https://github.com/carryon-go/carryon/blob/main/docs/go.md#which-list
package todo
