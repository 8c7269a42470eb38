// Package anthropic wraps a client of github.com/anthropics/anthropic-sdk-go so
// that its model carries on until the todo list is done. It is the worked
// example of docs/adapters.md, which shows its code piece by piece:
//
//	client := carryanthropic.Wrap(anthropic.NewClient(), middleware.New(todos))
//	message, err := client.Messages.New(ctx, params)
//
// It is in this module so that carryon itself does not depend on the SDK.
package anthropic
