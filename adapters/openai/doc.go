// Package openai wraps a client of github.com/sashabaranov/go-openai so that
// its model carries on until the todo list is done. It is usually imported as
// carryopenai:
//
//	mw := middleware.New(todos)
//	client := carryopenai.Wrap(openai.NewClient(key), mw)
//
// The result has every method of the SDK's client. carryon continues
// CreateChatCompletion and CreateChatCompletionStream; the other methods are
// the SDK's own. Requests and answers have the SDK's types, and pass through
// untouched as long as carryon has nothing to do.
package openai
