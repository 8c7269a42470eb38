package messages

import "github.com/carryon-go/carryon/internal/rawjson"

// addLoop adds the messages of a tool loop, up to its first call, which is in
// the message with the index firstCall.
func addLoop(body []byte, firstCall int, add func(string)) {
	messages := rawjson.Over(rawjson.Member(body, "messages"))
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
