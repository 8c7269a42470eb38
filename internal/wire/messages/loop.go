package messages

import "github.com/carryon-go/carryon/internal/rawjson"

// addLoop adds what identifies a tool loop: the messages up to its first call, which
// is in the message with the index firstCall. messages is at the list.
func addLoop(messages rawjson.Scanner, firstCall int, add func(string)) {
	at := 0
	for range messages.Elements() {
		m := readMessage(&messages)
		add(m.role)
		if at < firstCall {
			add(wordsOf(m.content))
			at++
			continue
		}
		blocks := rawjson.Over(m.content)
		for range blocks.Elements() {
			isCall := rawjson.TextOf(blocks.Peek("type")) == typeToolUse
			add(string(without(blocks.Raw(), "cache_control")))
			if isCall {
				return
			}
		}
	}
}
