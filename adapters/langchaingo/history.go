package langchaingo

import (
	"iter"
	"slices"

	"github.com/tmc/langchaingo/llms"

	"github.com/carryon-go/carryon/todo"
)

// history yields the tool calls of the messages, newest first, each with the
// answer it got. It reads no further than it is asked to.
func history(messages []llms.MessageContent) iter.Seq[todo.Call] {
	return func(yield func(todo.Call) bool) {
		answers := make(results)
		for _, message := range slices.Backward(messages) {
			for _, part := range slices.Backward(message.Parts) {
				switch p := part.(type) {
				case llms.ToolCallResponse:
					answers.add(&p)
				case llms.ToolCall:
					if !yield(answers.join(&p)) {
						return
					}
				}
			}
		}
	}
}

// results are answers whose calls are still to come, further up: by id, or by
// the tool's name, or in order, as providers leave these out.
type results map[resultKey][]string

type resultKey struct{ id, name string }

func (r results) add(p *llms.ToolCallResponse) {
	key := resultKey{id: p.ToolCallID}
	if key.id == "" {
		key.name = p.Name
	}
	r[key] = append(r[key], p.Content)
}

func (r results) join(p *llms.ToolCall) todo.Call {
	call := todo.Call{ID: p.ID}
	if f := p.FunctionCall; f != nil {
		call.Name, call.Arguments = f.Name, f.Arguments
	}
	keys := []resultKey{{id: call.ID}}
	if call.ID == "" {
		keys = []resultKey{{name: call.Name}, {}}
	}
	for _, key := range keys {
		if waiting := r[key]; len(waiting) > 0 {
			call.Result, call.Answered = waiting[0], true
			r[key] = waiting[1:] // an id may be used again further up
			break
		}
	}
	return call
}
