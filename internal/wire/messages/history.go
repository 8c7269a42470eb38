package messages

import (
	"iter"
	"slices"

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
	switch {
	case m.role == roleUser && !m.has.result:
		return w.User(wordsOf(m.content), texts(m.content))
	case rawjson.IsString(m.content):
		return m.role != roleSystem || w.Text(rawjson.TextOf(m.content))
	}
	for _, block := range slices.Backward(rawjson.Elements(m.content)) {
		if !w.passBlock(m.role, block) {
			return false
		}
	}
	return true
}

// passBlock passes a block of a message that the user has not written. Agents put their
// own texts beside the results of tools, too.
func (w *walk) passBlock(role string, block []byte) bool {
	switch rawjson.TextOf(rawjson.Member(block, "type")) {
	case typeToolResult:
		w.results.Add(rawjson.TextOf(rawjson.Member(block, "tool_use_id")), block)
	case typeText:
		return role == roleAssistant || w.Text(rawjson.TextOf(rawjson.Member(block, "text")))
	case typeToolUse:
		return w.Call(callOf(block, &w.results))
	}
	return true
}

// texts yields the texts of a content's blocks, the last one first.
func texts(content []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, block := range slices.Backward(rawjson.Elements(content)) {
			if text := rawjson.Member(block, "text"); rawjson.IsString(text) && !yield(rawjson.TextOf(text)) {
				return
			}
		}
	}
}

// callOf reads a tool call and takes its result from the results.
func callOf(block []byte, results *adapter.ToolResults[[]byte]) todo.Call {
	c := todo.Call{
		ID: rawjson.TextOf(rawjson.Member(block, "id")), Name: rawjson.TextOf(rawjson.Member(block, "name")),
		Arguments: string(rawjson.Member(block, "input")),
	}
	var result []byte
	result, c.Answered = results.Take(c.ID)
	if c.Answered {
		c.Result = resultOf(result)
	}
	return c
}

// ToolNames implements [adapter.ToolNamer].
func (r *request) ToolNames(yield func(string) bool) {
	body, err := r.source.Bytes()
	if err != nil {
		return
	}
	s := rawjson.Over(rawjson.Member(body, "tools"))
	for range s.Elements() {
		if name := rawjson.TextOf(s.Peek("name")); name != "" && !yield(name) {
			return
		}
	}
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
		return textOf(m.content), m.role == "user" && takesText(m.content)
	}
}
