package messages

import (
	"encoding/json"

	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/wire/sse"
)

// The types of events, which are also their names.
const (
	messageStart = "message_start"
	messageDelta = "message_delta"
	messageStop  = "message_stop"
	blockStart   = "content_block_start"
	blockDelta   = "content_block_delta"
	blockStop    = "content_block_stop"
	ping         = "ping"
	failure      = "error"
)

// The types of deltas that this package looks at.
const (
	textDelta      = "text_delta"
	inputDelta     = "input_json_delta"
	thinkingDelta  = "thinking_delta"
	signatureDelta = "signature_delta"
	citationsDelta = "citations_delta"
)

// event has the members of an event; an absent member is nil.
type event struct {
	kind    string
	data    []byte
	index   int // of a block; noIndex if it is not given
	message []byte
	block   []byte // content_block
	delta   []byte
	usage   []byte
}

// noIndex is the index of a block without an index.
const noIndex = -1

// parse reads an event. The type in its data is the event's kind, or else its
// name. Unknown kinds become "".
func parse(e *sse.Event) event {
	name := string(e.Name())
	if e.Kind == sse.Broken || name == failure {
		return event{kind: failure, data: e.Data()}
	}
	if e.Kind != sse.Object {
		return event{}
	}
	ev := event{kind: name, data: e.Data(), index: noIndex}
	s := rawjson.Over(ev.data)
	for member := range s.Members() {
		switch member {
		case "type":
			ev.kind = wordOf(s.Raw())
		case "index":
			if n, ok := rawjson.Int(s.Raw()); ok && n >= 0 {
				ev.index = n
			}
		case "message":
			ev.message = s.Raw()
		case "content_block":
			ev.block = s.Raw()
		case "delta":
			ev.delta = s.Raw()
		case "usage":
			ev.usage = s.Raw()
		}
	}
	return ev
}

// typeOf returns the type of a content block, or of a delta.
func typeOf(raw []byte) string { return wordOf(rawjson.Member(raw, "type")) }

// words are the most common types, so that reading them allocates nothing.
var words = [...]string{ //nolint:gochecknoglobals // constant
	blockDelta, blockStart, blockStop, messageStart, messageDelta, messageStop, ping, failure,
	textDelta, inputDelta, thinkingDelta, signatureDelta, typeText, typeToolUse, typeThinking,
}

// wordOf returns the text of a string.
func wordOf(raw []byte) string {
	if !rawjson.IsString(raw) {
		return ""
	}
	for _, word := range words {
		if string(raw[1:len(raw)-1]) == word {
			return word
		}
	}
	return rawjson.TextOf(raw)
}

// textIn returns the text of a member.
func textIn(raw []byte, member string) string { return rawjson.TextOf(rawjson.Member(raw, member)) }

// rawValue is JSON that is encoded unchanged.
type rawValue = json.RawMessage
