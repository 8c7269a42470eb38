package responses

import (
	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/wire"
)

// The roles of the values that vary between events.
const (
	roleText wire.Role = wire.Ignored + 1 + iota
	roleReasoning
	roleSequence
)

// relayed are the events that add to an open item, with the role of the value
// that they add.
var relayed = map[string]wire.Role{ //nolint:gochecknoglobals // constant
	textDelta: roleText, summaryDelta: roleReasoning, reasoningDelta: roleReasoning, argumentsDelta: wire.Ignored,
	"response.custom_tool_call_input.delta": wire.Ignored, "response.code_interpreter_call_code.delta": wire.Ignored,
	"response.mcp_call_arguments.delta": wire.Ignored, "response.shell_call_command.delta": wire.Ignored,
	"response.shell_call_output_content.delta":       wire.Ignored,
	"response.apply_patch_call_operation_diff.delta": wire.Ignored,
}

// Classify implements [wire.Codec]. The events that begin the answer, and a
// delta of the open item, may be relayed. The name of an event is its type, so
// most other events can be rejected without reading their data.
func (c *codec) Classify(name, data []byte, v *wire.Values) bool {
	if c.later || len(name) > 0 && !mayRelay(string(name)) || rawjson.ObjectEnd(data) != len(data) {
		return false
	}
	ev := eventOf(data)
	switch {
	case len(name) > 0 && string(name) != ev.kind:
		return false
	case stageOf(ev.kind) == beginning:
		c.begin(len(name) > 0, &ev)
		c.answer.follow(ev.sequence)
		return c.began
	}
	return c.classifyDelta(data, &ev, v)
}

// mayRelay reports whether an event of that type may be relayed.
func mayRelay(kind string) bool {
	_, ok := relayed[kind]
	return ok || stageOf(kind) == beginning
}

// classifyDelta is Classify for an event that does not begin the answer.
func (c *codec) classifyDelta(data []byte, ev *event, v *wire.Values) bool {
	role, ok := relayed[ev.kind]
	it, known := c.reader.items.find(ev)
	if !ok || !c.began || !known || !rawjson.IsString(ev.delta) || (role == roleText) != (it.kind == message) || !addValues(data, role, v) {
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

// addValues adds the values that vary between deltas, and reports whether the
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
func (c *codec) Observe(role wire.Role, value []byte, r wire.Relay) {
	switch role {
	case roleText:
		*c.reader.last += len(value)
		r.Text(rawjson.View(value))
	case roleReasoning:
		r.Reasoning(rawjson.View(value))
	case roleSequence:
		c.answer.sequence = intOr(value, c.answer.sequence)
	}
}
