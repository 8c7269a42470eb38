package langchaingo

import (
	"iter"
	"slices"

	"github.com/tmc/langchaingo/llms"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/todo"
)

// history yields the tool calls of the messages, newest first, each with its
// result. It reads messages only as the caller asks for more. recent is the
// index of the first message whose calls are recent.
func history(messages []llms.MessageContent, recent int) iter.Seq[todo.Call] {
	return func(yield func(todo.Call) bool) {
		var results adapter.ToolResults[string]
		for i, message := range slices.Backward(messages) {
			for _, part := range slices.Backward(message.Parts) {
				switch p := part.(type) {
				case llms.ToolCallResponse:
					results.Add(resultKey(p.ToolCallID, p.Name), p.Content)
				case llms.ToolCall:
					call := answered(&p, &results)
					call.Recent = i >= recent
					if !yield(call) {
						return
					}
				}
			}
		}
	}
}

// resultKey returns the key that a result shares with its call: the id, the
// tool's name if there is no id, or "" if there is neither.
func resultKey(id, name string) string {
	if id != "" || name == "" {
		return id
	}
	return "\x00" + name // never equals an id
}

// answered returns the call with its result. A call without an id gets a result
// with its tool's name, or else the newest result without a name.
func answered(p *llms.ToolCall, results *adapter.ToolResults[string]) todo.Call {
	call := todo.Call{ID: p.ID}
	if f := p.FunctionCall; f != nil {
		call.Name, call.Arguments = f.Name, f.Arguments
	}
	call.Result, call.Answered = results.Take(resultKey(call.ID, call.Name))
	if !call.Answered && call.ID == "" {
		call.Result, call.Answered = results.Take("")
	}
	return call
}
