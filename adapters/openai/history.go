package openai

import (
	"iter"

	"github.com/sashabaranov/go-openai"

	"github.com/carryon-go/carryon/todo"
)

// history yields the tool calls of the messages, newest first, each with the
// answer it got. It reads no further than it is asked to.
func history(messages []openai.ChatCompletionMessage) iter.Seq[todo.Call] {
	return func(yield func(todo.Call) bool) {
		answers := make(map[string]string)
		for i := len(messages) - 1; i >= 0; i-- {
			m := &messages[i]
			if m.Role == openai.ChatMessageRoleTool {
				answers[m.ToolCallID] = textOf(m)
			}
			for j := len(m.ToolCalls) - 1; j >= 0; j-- {
				call := &m.ToolCalls[j]
				result, answered := answers[call.ID]
				// An id may be used again further up.
				delete(answers, call.ID)
				if !yield(todo.Call{
					ID: call.ID, Name: call.Function.Name, Arguments: call.Function.Arguments,
					Result: result, Answered: answered,
				}) {
					return
				}
			}
		}
	}
}
