package messages

import (
	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/wire"
)

// The roles of the values that vary between events.
const (
	roleText wire.Role = wire.Ignored + 1 + iota
	roleReasoning
)

// Classify implements [wire.Codec]. A part of a block that adds text, thinking or
// the input of a call, and nothing else, may be relayed, and so may a ping.
func (c *codec) Classify(name, data []byte, v *wire.Values) bool {
	if !c.began || string(name) == failure {
		return false
	}
	var kind, delta []byte
	index, end := noIndex, 0 // end is behind the last member
	s := rawjson.Over(data)
	for member := range s.Members() {
		raw := s.Raw()
		end = s.At()
		switch member {
		case "type":
			kind = raw
		case "index":
			index, _ = rawjson.Int(raw)
		case "delta":
			if delta != nil || !addDelta(raw, end-len(raw), v) {
				return false
			}
			delta = raw
		default:
			return false
		}
	}
	switch {
	case !s.OK() || s.At() != len(data):
		return false
	case string(kind) == `"ping"`:
		return delta == nil
	}
	// After the last member there may be blanks, which hide the length of a text.
	return string(kind) == `"content_block_delta"` && c.continues(index, typeOf(delta)) && v.AddBlanks(end, len(data)-1)
}

// addDelta adds the value of the delta at an offset of the data. It reports
// false if the delta has other values that matter.
func addDelta(delta []byte, at int, v *wire.Values) bool {
	values := 0
	s := rawjson.Over(delta)
	for member := range s.Members() {
		raw := s.Raw()
		role := wire.Ignored
		switch member {
		case "type":
			continue
		case "text":
			role = roleText
		case "thinking":
			role = roleReasoning
		case "partial_json":
		default:
			return false
		}
		to := at + s.At()
		values++
		if !rawjson.IsString(raw) || !v.Add(to-len(raw), to, role) {
			return false
		}
	}
	return values == 1
}

// continues reports whether a delta of the type adds to an open block of its
// kind.
func (c *codec) continues(index int, delta string) bool {
	at := c.turn.find(index)
	if at < 0 || c.turn.open[at].index != index {
		return false
	}
	switch kind := c.turn.open[at].kind; delta {
	case textDelta:
		return kind == typeText
	case thinkingDelta:
		return kind == typeThinking
	case inputDelta:
		return true
	}
	return false
}

// Observe implements [wire.Codec].
func (c *codec) Observe(role wire.Role, value []byte, r wire.Relay) {
	switch role {
	case roleText:
		r.Text(rawjson.View(value))
	case roleReasoning:
		r.Reasoning(rawjson.View(value))
	}
}
