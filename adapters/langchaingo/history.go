package langchaingo

import (
	"iter"
	"slices"

	"github.com/tmc/langchaingo/llms"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/todo"
)

// history yields the tool calls of the messages, newest first, each with the
// answer it got. It reads no further than it is asked to. Recent is the first
// message whose calls are recent.
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

// resultKey returns what a result and its call have in common: the id, or the
// tool's name where the provider leaves out the id, or "" where it leaves out
// both.
func resultKey(id, name string) string {
	if id != "" || name == "" {
		return id
	}
	return "\x00" + name // no id
}

// answered returns the call with its result: of a call without an id one for
// its tool, or else the newest for no tool in particular.
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
