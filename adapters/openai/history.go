package openai

import (
	"iter"
	"slices"

	"github.com/sashabaranov/go-openai"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/todo"
)

// history yields the entries of the messages, newest first, each call with its result.
// It reads messages only as the caller asks for more.
func history(messages []openai.ChatCompletionMessage) iter.Seq[adapter.Entry] {
	return func(yield func(adapter.Entry) bool) {
		w := walk{HistoryWalk: adapter.HistoryWalk{Yield: yield}}
		for i := len(messages) - 1; i >= 0; i-- {
			if !w.pass(&messages[i]) {
				return
			}
		}
	}
}

// walk is a walk through the messages of a request, from the last one.
type walk struct {
	adapter.HistoryWalk

	results adapter.ToolResults[*openai.ChatCompletionMessage]
}

// pass passes a message, and reports whether the walk goes on.
func (w *walk) pass(m *openai.ChatCompletionMessage) bool {
	switch m.Role {
	case openai.ChatMessageRoleUser:
		return w.User(identityOf(m), texts(m.MultiContent))
	case openai.ChatMessageRoleSystem, openai.ChatMessageRoleDeveloper:
		return w.System(textOf(m))
	case openai.ChatMessageRoleTool:
		w.results.Add(m.ToolCallID, m)
	}
	for i := len(m.ToolCalls) - 1; i >= 0; i-- {
		call := &m.ToolCalls[i]
		c := todo.Call{ID: call.ID, Name: call.Function.Name, Arguments: call.Function.Arguments}
		var result *openai.ChatCompletionMessage
		result, c.Answered = w.results.Take(call.ID)
		if c.Answered {
			c.Result = textOf(result)
		}
		if !w.Call(c) {
			return false
		}
	}
	return true
}

// texts yields the texts of the parts, the last one first.
func texts(parts []openai.ChatMessagePart) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, part := range slices.Backward(parts) {
			if text := part.Text; text != "" && !yield(text) {
				return
			}
		}
	}
}
