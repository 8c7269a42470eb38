package responses

import (
	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/wire"
)

// The roles of the values in which events differ.
const (
	roleText wire.Role = wire.Ignored + 1 + iota
	roleReasoning
	roleSequence
)

// relayed are the events that add to an item that is open, with the role of what
// they add.
var relayed = map[string]wire.Role{ //nolint:gochecknoglobals // constant
	textDelta: roleText, summaryDelta: roleReasoning, reasoningDelta: roleReasoning, argumentsDelta: wire.Ignored,
	"response.custom_tool_call_input.delta": wire.Ignored, "response.code_interpreter_call_code.delta": wire.Ignored,
	"response.mcp_call_arguments.delta": wire.Ignored, "response.shell_call_command.delta": wire.Ignored,
	"response.shell_call_output_content.delta":       wire.Ignored,
	"response.apply_patch_call_operation_diff.delta": wire.Ignored,
}

// Classify implements [wire.Codec]. A delta of the item that is open may be
// relayed.
func (c *codec) Classify(name, data []byte, v *wire.Values) bool {
	if !c.began || c.later || string(name) == failed || rawjson.ObjectEnd(data) != len(data) {
		return false
	}
	ev := eventOf(data)
	role, ok := relayed[ev.kind]
	it := c.reader.find(&ev)
	if !ok || it == nil || !rawjson.IsString(ev.delta) || (role == roleText) != (it.kind == message) || !addValues(data, role, v) {
		return false
	}
	switch role {
	case roleText:
		c.reader.last = it.lengthOf(ev.content)
	case wire.Ignored:
		it.arguments++ // which need not be known
	}
	return true
}

// addValues adds the values in which deltas differ, and reports whether the
// event has no others that matter.
func addValues(data []byte, role wire.Role, v *wire.Values) bool {
	s := rawjson.Over(data)
	for name := range s.Members() {
		as := wire.Ignored
		switch name {
		case "delta":
			as = role
		case "sequence_number":
			as = roleSequence
		case "obfuscation", "logprobs":
		case "error":
			return false
		default:
			continue
		}
		if raw := s.Raw(); string(raw) != "[]" && !v.Add(s.At()-len(raw), s.At(), as) {
			return false
		}
	}
	return true
}

// Observe implements [wire.Codec].
func (c *codec) Observe(v *wire.Values, r wire.Relay) {
	for i := range v.Len() {
		switch v.Role(i) {
		case roleText:
			said := v.Text(i)
			*c.reader.last += len(said)
			r.Text(said)
		case roleReasoning:
			r.Reasoning(v.Text(i))
		case roleSequence:
			c.answer.sequence = intOr(v.Raw(i), c.answer.sequence)
		}
	}
}
