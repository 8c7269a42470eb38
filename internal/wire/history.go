package wire

import (
	"iter"
	"slices"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/todo"
)

// Walk is a walk through a list of messages, from the last one, that yields what [adapter.Request].History does.
type Walk struct {
	adapter.HistoryWalk

	Results adapter.ToolResults[[]byte] // of calls that are still to come
}

// Walk yields the entries of a request's history, or none if the body cannot be read. pass passes an element to the walk,
// and reports whether it goes on.
func (l *List) Walk(b Body, yield func(adapter.Entry) bool, pass func(w *Walk, element rawjson.Scanner) bool) {
	body, err := b.Bytes()
	if err != nil {
		return
	}
	w := Walk{HistoryWalk: adapter.HistoryWalk{Yield: yield}}
	for _, at := range slices.Backward(l.starts(body)) {
		if !pass(&w, rawjson.From(body, int(at))) {
			return
		}
	}
}

// PassUser passes a message of the user. Its content is a string or a list of parts, for which textOf returns the text.
// A string is not copied: long histories hold many, and few are more than looked at.
func (w *Walk) PassUser(content []byte, textOf func(parts []byte) string) bool {
	if rawjson.IsString(content) {
		return w.User(rawjson.TextView(content), nil)
	}
	return w.User(textOf(content), TextsIn(content))
}

// PassCall passes a tool call with its result: the newest one of the first key that has any. textOf returns the text of a
// result.
func (w *Walk) PassCall(id, name, arguments string, textOf func(result []byte) string, keys ...string) bool {
	c := todo.Call{ID: id, Name: name, Arguments: arguments}
	for _, key := range keys {
		if result, ok := w.Results.Take(key); ok {
			c.Answered, c.Result = true, textOf(result)
			break
		}
	}
	return w.Call(c)
}

// TextsIn yields the texts in a list of a message's parts, the last one first.
func TextsIn(parts []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, part := range slices.Backward(rawjson.Elements(parts)) {
			if text := rawjson.Member(part, "text"); rawjson.IsString(text) && !yield(rawjson.TextOf(text)) {
				return
			}
		}
	}
}

// TextOrJSON returns the text of a string, or the JSON of any other value.
func TextOrJSON(raw []byte) string {
	if rawjson.IsString(raw) {
		return rawjson.TextOf(raw)
	}
	return string(raw)
}
