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

// history yields the tool calls, newest first, each with its result. It finds
// the messages in one pass, and reads them only as the caller asks for more.
// recent is the index of the first message whose calls are recent.
func history(b wire.Body, recent int) iter.Seq[todo.Call] {
	return func(yield func(todo.Call) bool) {
		var results adapter.ToolResults[[]byte]
		recent := recent // also if it is walked again
		for i, raw := range slices.Backward(messagesOf(b)) {
			for _, block := range slices.Backward(rawjson.Elements(rawjson.Member(raw, "content"))) {
				switch rawjson.TextOf(rawjson.Member(block, "type")) {
				case typeToolResult:
					results.Add(rawjson.TextOf(rawjson.Member(block, "tool_use_id")), block)
				case typeText: // Claude Code puts reports beside results
					if text := rawjson.TextOf(rawjson.Member(block, "text")); adapter.IsAutomatic(text) && adapter.IsReport(text) {
						recent = max(recent, i+1)
					}
				case typeToolUse:
					c := callOf(block, &results)
					c.Recent = i >= recent
					if !yield(c) {
						return
					}
				}
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
	if result, c.Answered = results.Take(c.ID); c.Answered {
		c.Result = resultOf(result)
	}
	return c
}

// ToolNames implements [adapter.ToolNamer].
func (r *request) ToolNames(yield func(string) bool) {
	body, err := r.later.Bytes()
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
