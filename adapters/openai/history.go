package openai

import (
	"iter"

	"github.com/sashabaranov/go-openai"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/todo"
)

// history yields the tool calls of the messages, newest first, each with its
// result. It reads messages only as the caller asks for more. recent is the
// index of the first message whose calls are recent.
func history(messages []openai.ChatCompletionMessage, recent int) iter.Seq[todo.Call] {
	return func(yield func(todo.Call) bool) {
		var results adapter.ToolResults[*openai.ChatCompletionMessage]
		for i := len(messages) - 1; i >= 0; i-- {
			m := &messages[i]
			if m.Role == openai.ChatMessageRoleTool {
				results.Add(m.ToolCallID, m)
			}
			for j := len(m.ToolCalls) - 1; j >= 0; j-- {
				call := &m.ToolCalls[j]
				c := todo.Call{ID: call.ID, Name: call.Function.Name, Arguments: call.Function.Arguments, Recent: i >= recent}
				var result *openai.ChatCompletionMessage
				if result, c.Answered = results.Take(call.ID); c.Answered {
					c.Result = textOf(result)
				}
				if !yield(c) {
					return
				}
			}
		}
	}
}
