package langchaingo

import (
	"iter"
	"slices"

	"github.com/tmc/langchaingo/llms"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/todo"
)

// history yields the entries of the messages, newest first, each call with its result.
// It reads messages only as the caller asks for more.
func history(messages []llms.MessageContent) iter.Seq[adapter.Entry] {
	return func(yield func(adapter.Entry) bool) {
		w := walk{HistoryWalk: adapter.HistoryWalk{Yield: yield}}
		for i := range slices.Backward(messages) {
			if !w.pass(&messages[i]) {
				return
			}
		}
	}
}

// walk is a walk through the messages of a request, from the last one.
type walk struct {
	adapter.HistoryWalk

	results adapter.ToolResults[string]
}

// pass passes a message, and reports whether the walk goes on.
func (w *walk) pass(m *llms.MessageContent) bool {
	switch m.Role {
	case llms.ChatMessageTypeHuman, llms.ChatMessageTypeGeneric:
		return w.User(identityOf(m), texts(m.Parts))
	case llms.ChatMessageTypeSystem:
		return w.System(identityOf(m))
	}
	for _, part := range slices.Backward(m.Parts) {
		switch p := part.(type) {
		case llms.ToolCallResponse:
			w.results.Add(resultKey(p.ToolCallID, p.Name), p.Content)
		case llms.ToolCall:
			if !w.Call(answered(&p, &w.results)) {
				return false
			}
		}
	}
	return true
}

// texts yields the texts of the parts, the last one first.
func texts(parts []llms.ContentPart) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, part := range slices.Backward(parts) {
			if cached, ok := part.(llms.CachedContent); ok {
				part = cached.ContentPart
			}
			if text, ok := part.(llms.TextContent); ok && !yield(text.Text) {
				return
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
