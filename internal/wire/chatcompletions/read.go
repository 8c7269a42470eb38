package chatcompletions

import (
	"slices"
	"strings"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/wire"
	"github.com/carryon-go/carryon/internal/wire/sse"
)

// Read implements [adapter.Dialect].
func (d *dialect) Read(e *sse.Event, t adapter.TurnReader) {
	d.scratch = d.scratch[:0]
	if d.over {
		d.over, d.later = false, &laterTurn{choice: noChoice}
	}
	t.Size(len(e.Raw))
	switch kindOf(e) {
	case done:
		d.saidDone = true
		t.Done()
	case failure:
		if raw := rawjson.Member(e.Data(), "error"); raw != nil {
			t.Fail(wire.Reported(raw))
			return
		}
		t.Fail(wire.ErrUnreadable)
	case chunk:
		d.readChunk(e.Data(), t)
	}
}

func (d *dialect) readChunk(json []byte, t adapter.TurnReader) {
	var found [len(envelopeNames)][]byte
	var m met
	if d.document != nil {
		d.document.reasoning.SetTurn("")
	}
	s := rawjson.Over(json)
	for name := range s.Members() {
		at := slices.Index(chunkNames, name)
		m.meet(at)
		switch name {
		case "choices":
			d.readChoices(&s, t)
		case "usage":
			if s.Kind() == '{' {
				d.readUsage(s.Raw(), t)
			}
		case "error":
			if raw := s.Raw(); !rawjson.IsNull(raw) {
				t.Fail(wire.Reported(raw))
			}
		default:
			if 0 <= at && at < len(found) {
				found[at] = s.Raw()
			}
		}
	}
	if !s.OK() {
		t.Fail(wire.ErrUnreadable)
	}
	m.failIfTwice(t)
	if string(found[1]) == `"error"` {
		t.Fail(wire.Reported(json))
	}
	d.takeEnvelope(&found)
}

// met is a bit set of the members that were read in an object. An answer must
// not have a member twice that carryon changes: showing the replacement twice
// could make a small answer very large.
type met struct {
	bits  uint16
	twice bool
}

// meet records the i-th member that counts; -1 is none.
func (m *met) meet(i int) {
	if i >= 0 {
		m.twice = m.twice || m.bits&(1<<i) != 0
		m.bits |= 1 << i
	}
}

// failIfTwice fails the turn if an object had a member twice.
func (m *met) failIfTwice(t adapter.TurnReader) {
	if m.twice {
		t.Fail(wire.ErrUnreadable)
	}
}

func (d *dialect) readChoices(s *rawjson.Scanner, t adapter.TurnReader) {
	for at := range s.Elements() {
		switch {
		case s.Kind() != '{':
		case d.isFirst(s, at):
			own := *s
			d.takeChoice(own.Raw())
			d.readChoice(s, t)
		default:
			if d.later != nil {
				d.later.others = true
			}
			t.OtherChoice()
			if callsTool(s.Raw()) {
				t.OtherCall()
			}
		}
	}
}

// isFirst reports whether the next choice is the first one of the answer. In a
// chunk, that is a choice with index 0 or without an index. A continuation asks for
// one choice; some gateways number it otherwise, or only its end.
func (d *dialect) isFirst(s *rawjson.Scanner, at int) bool {
	if d.document != nil {
		return at == 0
	}
	index, l := choiceIndex(s.Peek("index")), d.later
	if index == 0 || l == nil {
		return index == 0
	}
	return l.choice == noChoice || l.choice == index || !l.others && !saysAnything(s.Peek("delta"))
}

// choiceIndex reads the index of a choice, 0 if it has none.
func choiceIndex(raw []byte) int {
	index, _ := rawjson.Int(raw)
	return index
}

// takeChoice takes the choice as the continuation's if it is the first that says
// something.
func (d *dialect) takeChoice(choice []byte) {
	if l := d.later; l != nil && l.choice == noChoice && (!rawjson.IsEmpty(rawjson.Member(choice, "finish_reason")) || saysAnything(rawjson.Member(choice, "delta"))) {
		l.choice = choiceIndex(rawjson.Member(choice, "index"))
	}
}

// saysAnything reports whether a delta has more than a role.
func saysAnything(delta []byte) bool {
	s := rawjson.Over(delta)
	for name := range s.Members() {
		if name != "role" && !rawjson.IsEmpty(s.Raw()) {
			return true
		}
	}
	return false
}

// callsTool reports whether a choice calls a tool.
func callsTool(choice []byte) bool {
	for _, name := range []string{"delta", "message"} {
		body := rawjson.Member(choice, name)
		calls := rawjson.Over(rawjson.Member(body, "tool_calls"))
		if calls.Open('[') && calls.Element() || !rawjson.IsNull(rawjson.Member(body, "function_call")) {
			return true
		}
	}
	return false
}

func (d *dialect) readChoice(s *rawjson.Scanner, t adapter.TurnReader) {
	finish, choice := "", *s
	var m met
	for name := range s.Members() {
		switch name {
		case d.body():
			m.meet(0)
			d.readBody(s, t)
		case "finish_reason":
			m.meet(1)
			finish = d.text(s.Raw())
		case "logprobs":
			if d.document != nil {
				d.document.tokens.turn.add(d, choice.Raw())
			}
		}
	}
	m.failIfTwice(t)
	t.Finish(finish)
}

func (d *dialect) readBody(s *rawjson.Scanner, t adapter.TurnReader) {
	reasoned := false
	var m met
	for name := range s.Members() {
		m.meet(slices.Index(bodyNames[:], name))
		switch name {
		case "content":
			d.readContent(s, t)
		case reasoningNames[0], reasoningNames[1]:
			if text := d.text(s.Raw()); text != "" && !reasoned {
				reasoned = true // some send it under both names
				d.readReasoning(name, text, t)
			}
		case "refusal":
			if d.text(s.Raw()) != "" {
				t.Refusal()
			}
		case "tool_calls":
			d.readCalls(s, t)
		case "function_call":
			if !rawjson.IsNull(s.Raw()) {
				t.OtherCall()
			}
		case "audio":
			if !rawjson.IsNull(s.Raw()) {
				t.OtherChoice() // it is not in the text, and cannot be joined
			}
		}
	}
	m.failIfTwice(t)
}

// bodyNames are the names of a choice's member with the model's message.
var bodyNames = [...]string{"content", reasoningNames[0], reasoningNames[1], "tool_calls"} //nolint:gochecknoglobals // constant

func (d *dialect) readReasoning(name, text string, t adapter.TurnReader) {
	t.Reasoning(text)
	if d.document != nil {
		d.document.reasoningKey = strings.Clone(name)
		d.document.reasoning.SetTurn(strings.Clone(text)) // which is valid until the next turn is read
	}
}

// readContent reads a content, which is a string or a list of parts.
func (d *dialect) readContent(s *rawjson.Scanner, t adapter.TurnReader) {
	if s.Kind() != '[' {
		t.Text(d.text(s.Raw()))
		return
	}
	if d.document != nil && !d.envelope.IsFixed() {
		d.document.inParts = true
	}
	for range s.Elements() {
		part := s.Raw()
		if d.text(rawjson.Member(part, "type")) == "text" {
			t.Text(d.text(rawjson.Member(part, "text")))
		}
	}
}

func (d *dialect) readCalls(s *rawjson.Scanner, t adapter.TurnReader) {
	for at := range s.Elements() {
		c := readCall(s)
		index := at // every call of a whole answer is one of its own
		if d.document == nil {
			index = indexOf(c.index)
		}
		arguments := d.text(c.arguments)
		if !rawjson.IsString(c.arguments) && !rawjson.IsNull(c.arguments) {
			arguments = rawjson.View(c.arguments) // some send an object
		}
		t.Call(index, d.text(c.id), d.text(c.name), arguments)
		d.lastCall = index
	}
}

// toolCall holds the members of a tool call, or of a fragment of one.
type toolCall struct {
	index, id, name, arguments []byte
	more                       bool // it has members beside these and its type
}

// readCall reads the next tool call.
func readCall(s *rawjson.Scanner) toolCall {
	var c toolCall
	for name := range s.Members() {
		switch name {
		case "index":
			c.index = s.Raw()
		case "id":
			c.id = s.Raw()
		case "type":
		case "function", "custom":
			c.readFunction(s)
		default:
			c.more = !rawjson.IsNull(s.Raw()) || c.more
		}
	}
	return c
}

func (c *toolCall) readFunction(s *rawjson.Scanner) {
	for name := range s.Members() {
		switch name {
		case "name":
			c.name = s.Raw()
		case "arguments", "input":
			c.arguments = s.Raw()
		}
	}
}

// indexOf reads the index of a tool call.
func indexOf(raw []byte) int {
	if index, ok := rawjson.Int(raw); ok {
		return index
	}
	return adapter.NoIndex
}

func (d *dialect) readUsage(raw []byte, t adapter.TurnReader) {
	u := usageOf(raw)
	if d.document != nil && u == (adapter.Usage{}) {
		return // it says nothing: an answer costs tokens
	}
	d.SetUsage(raw)
	t.Usage(u)
}

func usageOf(raw []byte) (u adapter.Usage) {
	s := rawjson.Over(raw)
	for name := range s.Members() {
		switch name {
		case "prompt_tokens":
			u.Prompt, _ = wire.Count(s.Raw())
		case "completion_tokens":
			u.Completion, _ = wire.Count(s.Raw())
		case "total_tokens":
			u.Total, _ = wire.Count(s.Raw())
		case "prompt_tokens_details":
			u.Cached, _ = wire.Count(s.Peek("cached_tokens"))
		case "completion_tokens_details":
			u.Reasoning, _ = wire.Count(s.Peek("reasoning_tokens"))
		}
	}
	return u
}
