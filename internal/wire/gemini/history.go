package gemini

import (
	"iter"
	"slices"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/wire"
	"github.com/carryon-go/carryon/todo"
)

// contentsOf returns the contents of the request with the body.
func (r *request) contentsOf(b wire.Body) [][]byte {
	body, err := b.Bytes()
	if err != nil {
		return nil
	}
	return rawjson.MemberElements(r.inner(body), "contents")
}

// history yields the entries of the contents, newest first, each call with its result.
// It finds the contents in one pass, and reads them only as the caller asks for more.
func (r *request) history(b wire.Body) iter.Seq[adapter.Entry] {
	return func(yield func(adapter.Entry) bool) {
		w := walk{HistoryWalk: adapter.HistoryWalk{Yield: yield}}
		for _, raw := range slices.Backward(r.contentsOf(b)) {
			s := rawjson.Over(raw)
			if m := readContent(&s); !w.pass(&m) {
				return
			}
		}
	}
}

// walk is a walk through the contents of a request, from the last one.
type walk struct {
	adapter.HistoryWalk

	results adapter.ToolResults[[]byte]
}

// pass passes a content, and reports whether the walk goes on.
func (w *walk) pass(m *content) bool {
	if m.role == roleUser && !m.result {
		text := wordsOf(m.parts)
		return wire.IsNudge(text) || w.User(text, texts(m.parts))
	}
	for _, part := range slices.Backward(rawjson.Elements(m.parts)) {
		if !w.passPart(m.role, part) {
			return false
		}
	}
	return true
}

// passPart passes a part of a content that the user has not written. Programs put their
// own texts beside the results of calls, too.
func (w *walk) passPart(role string, part []byte) bool {
	if result := member(part, "functionResponse"); result != nil {
		w.results.Add(keyOf(result), result)
	}
	if call := member(part, "functionCall"); call != nil {
		return w.Call(callOf(call, &w.results))
	}
	text := rawjson.Member(part, "text")
	return role == roleModel || !rawjson.IsString(text) || w.Text(rawjson.TextOf(text))
}

// texts yields the texts of a content's parts, the last one first.
func texts(parts []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, part := range slices.Backward(rawjson.Elements(parts)) {
			if text := rawjson.Member(part, "text"); rawjson.IsString(text) && !yield(rawjson.TextOf(text)) {
				return
			}
		}
	}
}

// keyOf returns what a call and its result have in common: their id, or their name in
// APIs that give no ids, where they stand in the same order.
func keyOf(raw []byte) string {
	if id := rawjson.TextOf(rawjson.Member(raw, "id")); id != "" {
		return id
	}
	return nameKey(raw)
}

// nameKey returns the key of a call without an id. No id looks like it.
func nameKey(raw []byte) string { return "\x00" + rawjson.TextOf(rawjson.Member(raw, "name")) }

// callOf reads a call and takes its result from the results. Some programs leave the
// id out of the result.
func callOf(raw []byte, results *adapter.ToolResults[[]byte]) todo.Call {
	c := todo.Call{
		ID: rawjson.TextOf(rawjson.Member(raw, "id")), Name: rawjson.TextOf(rawjson.Member(raw, "name")),
		Arguments: argumentsOf(raw),
	}
	result, ok := results.Take(keyOf(raw))
	if !ok && c.ID != "" {
		result, ok = results.Take(nameKey(raw))
	}
	c.Answered = ok
	if ok {
		c.Result = resultOf(result)
	}
	return c
}

// argumentsOf returns the arguments of a call. A call without any has none to show.
func argumentsOf(call []byte) string {
	if args := rawjson.Member(call, "args"); !rawjson.IsNull(args) {
		return string(args)
	}
	return "{}"
}

// resultOf returns the text of a result: the member that programs put it into, or all
// of the JSON. Other protocols have no form for a failed call, so it is put into words.
func resultOf(result []byte) string {
	response := rawjson.Member(result, "response")
	var text []byte
	s := rawjson.Over(response)
	for name := range s.Members() {
		switch value := s.Raw(); {
		case rawjson.IsNull(value):
		case name == "error":
			return "Error: " + textOrJSON(value)
		case name == "output", name == "result", name == "content":
			text = value
		}
	}
	if text == nil {
		text = response
	}
	return textOrJSON(text)
}

func textOrJSON(raw []byte) string {
	if rawjson.IsString(raw) {
		return rawjson.TextOf(raw)
	}
	return string(raw)
}

// declarations yields the functions that a request declares. The list of tools is the
// next value.
func declarations(s *rawjson.Scanner) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for range s.Elements() {
			for name := range s.Members() {
				if camel(name) != "functionDeclarations" {
					continue
				}
				for range s.Elements() {
					if !yield(s.Raw()) {
						return
					}
				}
			}
		}
	}
}

// ToolNames implements [adapter.ToolNamer].
func (r *request) ToolNames(yield func(string) bool) {
	body, err := r.source.Bytes()
	if err != nil {
		return
	}
	s := rawjson.Over(rawjson.Member(r.inner(body), "tools"))
	for declaration := range declarations(&s) {
		if name := rawjson.TextOf(rawjson.Member(declaration, "name")); name != "" && !yield(name) {
			return
		}
	}
}

// Attachable implements [wire.Request].
func (r *request) Attachable(b wire.Body) func(message int) (string, bool) {
	var contents [][]byte
	return func(i int) (string, bool) {
		if contents == nil {
			contents = r.contentsOf(b)
		}
		if i >= len(contents) {
			return "", false
		}
		s := rawjson.Over(contents[i])
		m := readContent(&s)
		parts := rawjson.Over(m.parts)
		return textOf(m.parts), m.role == roleUser && parts.Open('[') && parts.Element()
	}
}

// addLoop adds what identifies a tool loop: the contents up to its first call, which is
// in the content with the index firstCall. contents is at the list.
func addLoop(contents rawjson.Scanner, firstCall int, add func(string)) {
	for at := range contents.Elements() {
		m := readContent(&contents)
		add(m.role)
		if at < firstCall {
			add(wordsOf(m.parts))
			continue
		}
		for _, part := range rawjson.Elements(m.parts) {
			add(rawjson.View(part))
			if member(part, "functionCall") != nil {
				return
			}
		}
	}
}
