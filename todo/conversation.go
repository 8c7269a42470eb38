package todo

import (
	"context"
	"iter"
)

// Call is one tool call in the history of a request.
type Call struct {
	// ID is the id that the model gave the call, or "".
	ID string
	// Name is the name of the tool as the model wrote it.
	Name string
	// Arguments is the text that the model sent, unchanged: usually JSON, but
	// not necessarily valid JSON.
	Arguments string
	// Result is the text of the tool message that answers the call, or "" if
	// the history has none.
	Result string
	// Answered reports whether the history has such a message.
	Answered bool
	// UserMessagesAfter is how many messages of the user follow the call. Messages that
	// the agent itself has written with the user's role do not count. It is 0 where the
	// history does not say: then the call counts as one of the present user turn.
	UserMessagesAfter int
}

// Conversation iterates over the tool calls in a request's history, newest
// first. It reads the history lazily, so a reader that stops early does not pay
// for the rest. It is valid only during the call of Provider.Todos that it was
// passed to.
type Conversation = iter.Seq[Call]

type conversationKey struct{}

// WithConversation returns a ctx that holds c. A nil c is the empty
// conversation.
func WithConversation(ctx context.Context, c Conversation) context.Context {
	return context.WithValue(ctx, conversationKey{}, c)
}

type toolsKey struct{}

// WithTools returns a ctx that holds the names of the tools that a request offers. A
// nil tools means that they are unknown.
func WithTools(ctx context.Context, tools iter.Seq[string]) context.Context {
	return context.WithValue(ctx, toolsKey{}, tools)
}

// ToolsFrom returns the names of the tools that the request of ctx offers, and
// whether they are known. Like a Conversation they are valid only during the call
// of Provider.Todos.
func ToolsFrom(ctx context.Context) (tools iter.Seq[string], known bool) {
	tools, _ = ctx.Value(toolsKey{}).(iter.Seq[string])
	return tools, tools != nil
}

// ConversationFrom returns the conversation of ctx, or the empty one if ctx has
// none. The result is never nil.
func ConversationFrom(ctx context.Context) Conversation {
	if c, _ := ctx.Value(conversationKey{}).(Conversation); c != nil {
		return c
	}
	return func(func(Call) bool) {}
}
