// Package openai wraps a client of github.com/sashabaranov/go-openai so that its model
// carries on until the todo list is done. It is usually imported as carryopenai:
//
//	mw := middleware.New(todos)
//	client := carryopenai.Wrap(openai.NewClient(key), mw)
//
// Begin with [Wrap], or with [NewClientWithConfig] if the rest of the program needs a
// client of the SDK's own type. [Stream] is what the wrapped client returns for a
// streamed call.
//
// The wrapped client has every method of the SDK's client. carryon continues
// CreateChatCompletion and CreateChatCompletionStream; the other methods are the SDK's
// own. Requests and answers have the SDK's types, and pass through unchanged if carryon
// has nothing to do. [The guide] lists the ways to use carryon.
//
// [The guide]: https://github.com/carryon-go/carryon/blob/main/docs/go.md#your-sdk
package openai
