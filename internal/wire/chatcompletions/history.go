package chatcompletions

import (
	"iter"
	"slices"
	"strings"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/wire"
	"github.com/carryon-go/carryon/todo"
)

// messagesOf returns the messages of the request with the body.
func messagesOf(b wire.Body) [][]byte {
	body, err := b.Bytes()
	if err != nil {
		return nil
	}
	return rawjson.MemberElements(body, "messages")
}

// ToolNames implements [adapter.ToolNamer].
func (r *request) ToolNames(yield func(string) bool) {
	body, err := r.later.Bytes()
	if err != nil {
		return
	}
	tools := rawjson.Over(rawjson.Member(body, "tools"))
	for range tools.Elements() {
		if t := readTool(&tools); !yield(strings.Clone(t.name)) {
			return
		}
	}
}

// history yields the entries of the messages, newest first, each call with its result.
// It finds the messages in one pass, and reads them only as the caller asks for more.
func history(b wire.Body) iter.Seq[adapter.Entry] {
	return func(yield func(adapter.Entry) bool) {
		w := walk{HistoryWalk: adapter.HistoryWalk{Yield: yield}}
		for _, raw := range slices.Backward(messagesOf(b)) {
			s := rawjson.Over(raw)
			if m := readMessage(&s); !w.pass(&m) {
				return
			}
		}
	}
}

// walk is a walk through the messages of a request, from the last one.
type walk struct {
	adapter.HistoryWalk

	results adapter.ToolResults[[]byte]
}

// pass passes a message, and reports whether the walk goes on.
func (w *walk) pass(m *message) bool {
	switch string(m.role) {
	case `"user"`:
		return w.User(identityOf(m.content), texts(m.content))
	case `"system"`, `"developer"`:
		return w.Text(contentOf(m.content))
	case `"tool"`:
		w.results.Add(rawjson.TextOf(m.callID), m.content)
	}
	for _, call := range slices.Backward(rawjson.Elements(m.calls)) {
		if !w.Call(callOf(call, &w.results)) {
			return false
		}
	}
	return true
}

// texts yields the texts of a content's parts, the last one first.
func texts(content []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, part := range slices.Backward(rawjson.Elements(content)) {
			if text := rawjson.Member(part, "text"); rawjson.IsString(text) && !yield(rawjson.TextOf(text)) {
				return
			}
		}
	}
}

// callOf reads a tool call and takes its result from the results.
func callOf(raw []byte, results *adapter.ToolResults[[]byte]) todo.Call {
	s := rawjson.Over(raw)
	read := readCall(&s)
	c := todo.Call{
		ID: rawjson.TextOf(read.id), Name: rawjson.TextOf(read.name),
		Arguments: textOrJSON(read.arguments), // some send an object
	}
	var content []byte
	if content, c.Answered = results.Take(c.ID); c.Answered {
		c.Result = contentOf(content)
	}
	return c
}

// Attachable implements [wire.Request].
func (r *request) Attachable(b wire.Body) func(message int) (string, bool) {
	var messages [][]byte
	return func(i int) (string, bool) {
		if messages == nil {
			messages = messagesOf(b)
		}
		if i >= len(messages) {
			return "", false
		}
		s := rawjson.Over(messages[i])
		m := readMessage(&s)
		role := string(m.role)
		return contentOf(m.content), (role == `"user"` || role == `"tool"`) && takesText(m.content)
	}
}
