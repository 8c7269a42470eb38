package messages

import "github.com/carryon-go/carryon/internal/rawjson"

// addLoop adds what identifies a tool loop: the messages up to its first call, which
// is in the message with the index firstCall. messages is at the list.
func addLoop(messages rawjson.Scanner, firstCall int, add func(string)) {
	for at := range messages.Elements() {
		m := readMessage(&messages)
		add(m.role)
		if at < firstCall {
			add(wordsOf(m.content))
			continue
		}
		blocks := rawjson.Over(m.content)
		for range blocks.Elements() {
			b := readInputBlock(&blocks)
			add(rawjson.View(b.json))
			if b.kind == typeToolUse {
				return
			}
		}
	}
}
