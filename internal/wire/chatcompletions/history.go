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

// history yields the tool calls, newest first, each with its result. It finds
// the messages in one pass, and reads them only as the caller asks for more.
// recent is the index of the first message whose calls are recent.
func history(b wire.Body, recent int) iter.Seq[todo.Call] {
	return func(yield func(todo.Call) bool) {
		var results adapter.ToolResults[[]byte]
		messages := messagesOf(b)
		for i, message := range slices.Backward(messages) {
			s := rawjson.Over(message)
			m := readMessage(&s)
			if string(m.role) == `"tool"` {
				results.Add(rawjson.TextOf(m.callID), m.content)
			}
			for _, call := range slices.Backward(rawjson.Elements(m.calls)) {
				c := callOf(call, &results)
				c.Recent = i >= recent
				if !yield(c) {
					return
				}
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
