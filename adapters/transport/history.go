package transport

import (
	"slices"

	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// history yields the tool calls of the request's messages, newest first, each
// with the answer it got. It finds where the messages stand in one pass, and
// reads no further than it is asked to.
func (r *request) history(yield func(todo.Call) bool) {
	body, err := r.bytes()
	if err != nil {
		return
	}
	messages := elements(member(body, "messages"))
	var results middleware.Results[[]byte]
	for _, raw := range slices.Backward(messages) {
		s := rawjson.Over(raw)
		m := readMessage(&s)
		if string(m.role) == `"tool"` {
			results.Add(textOf(m.answers), m.content)
		}
		for _, call := range slices.Backward(elements(m.calls)) {
			if !yield(callOf(call, &results)) {
				return
			}
		}
	}
}

// callOf reads a tool call, and takes its result.
func callOf(raw []byte, results *middleware.Results[[]byte]) todo.Call {
	s := rawjson.Over(raw)
	read := readCall(&s)
	c := todo.Call{ID: textOf(read.id), Name: textOf(read.name), Arguments: textOf(read.arguments)}
	if !rawjson.IsString(read.arguments) {
		c.Arguments = string(read.arguments) // some send an object
	}
	var content []byte
	if content, c.Answered = results.Take(c.ID); c.Answered {
		c.Result = contentOf(content)
	}
	return c
}

// elements returns the elements of the array in raw.
func elements(raw []byte) [][]byte {
	var all [][]byte
	s := rawjson.Over(raw)
	if s.Open('[') {
		for s.Element() {
			all = append(all, s.Raw())
		}
	}
	return all
}
