package todo

import (
	"context"
	"iter"
)

// Call is one tool call in the history of a request.
type Call struct {
	// ID is the id the model gave the call, or "".
	ID string
	// Name is the name of the tool as the model wrote it.
	Name string
	// Arguments is what the model sent, as it was sent: JSON text as a rule,
	// though nothing guarantees that it is valid.
	Arguments string
	// Result is the text of the tool message that answered the call.
	Result string
	// Answered reports whether the history holds such a message; without it
	// Result is "".
	Answered bool
}

// Conversation is the tool calls of a request's history, newest first. It is
// lazy, so a reader that stops early does not pay for the rest, and it is read
// only during the call of Provider.Todos it was made for.
type Conversation = iter.Seq[Call]

type conversationKey struct{}

// WithConversation returns a ctx that holds c. A nil c is the empty
// conversation.
func WithConversation(ctx context.Context, c Conversation) context.Context {
	return context.WithValue(ctx, conversationKey{}, c)
}

// ConversationFrom returns the conversation of ctx. It is never nil: without
// one it is the empty sequence.
func ConversationFrom(ctx context.Context) Conversation {
	if c, _ := ctx.Value(conversationKey{}).(Conversation); c != nil {
		return c
	}
	return func(func(Call) bool) {}
}
