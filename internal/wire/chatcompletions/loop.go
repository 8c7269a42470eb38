package chatcompletions

import "github.com/carryon-go/carryon/internal/rawjson"

// addLoop adds what identifies a tool loop: the messages up to its first call, which
// is in the message with the index firstCall. messages is at the list.
func addLoop(messages rawjson.Scanner, firstCall int, add func(string)) {
	for at := range messages.Elements() {
		m := readMessage(&messages)
		add(rawjson.View(m.role))
		addContent(m.content, add)
		add(rawjson.View(m.callID))
		calls := rawjson.Over(m.calls)
		for range calls.Elements() {
			call := readCall(&calls)
			add(rawjson.View(call.id))
			add(rawjson.View(call.name))
			add(rawjson.View(call.arguments))
			if at == firstCall {
				return
			}
		}
	}
}

// addContent adds a content. Of its parts, it adds only the text and the like:
// other members may be cache marks, which move from request to request.
func addContent(content []byte, add func(string)) {
	s := rawjson.Over(content)
	if s.Kind() != '[' {
		add(rawjson.View(content))
		return
	}
	for range s.Elements() {
		kind := s.Peek("type")
		add(rawjson.View(kind))
		add(rawjson.View(s.Peek(rawjson.TextOf(kind)))) // a text, an image_url and so on
	}
}
