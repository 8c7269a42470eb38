// Package openai wraps a client of github.com/sashabaranov/go-openai so that
// its model carries on until the todo list is done. It is usually imported as
// carryopenai:
//
//	mw := middleware.New(todos)
//	client := carryopenai.Wrap(openai.NewClient(key), mw)
//
// The client has every method of the SDK's; CreateChatCompletion and
// CreateChatCompletionStream are continued, the others are the SDK's own.
// Requests and answers are the SDK's types and pass through untouched as long
// as carryon has nothing to do.
package openai
