package messages

import (
	"errors"
	"slices"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/handback"
	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/wire"
	"github.com/carryon-go/carryon/internal/wire/sse"
)

// errCompacted is the failure of a continuation before which the provider has shortened
// the conversation.
var errCompacted = errors.New("transport: the provider has shortened the conversation")

// turn is the part of a turn that was read. The next turn replaces it.
type turn struct {
	usage   []byte // in its message_start
	reason  string // the stop reason in message_start; used if no message_delta follows
	ended   bool   // there was a message_delta
	stopped bool   // there was a message_stop
	begun   int    // how many blocks have begun
	last    string // the type of the newest
	top     int    // the highest of their indexes
	open    []readBlock
}

// readBlock is a content block that has begun and not ended.
type readBlock struct {
	index int // on the wire
	parts int // the index of its input's parts, or noIndex before one came
	order int // among the blocks of the turn
	kind  string
	size  int // of its parts that are held; see [waits]
}

// maxOpen is how many blocks of a turn may be open at a time. In a genuine answer
// it is one, and a few in those of some gateways.
const maxOpen = 256

// begin begins a block. It reports false if too many are open.
func (t *turn) begin(index int, kind string) bool {
	order := t.begun
	t.begun, t.last, t.top = t.begun+1, kind, max(t.top, index)
	if len(t.open) == maxOpen {
		return false
	}
	t.open = append(t.open, readBlock{index: index, parts: noIndex, order: order, kind: kind})
	return true
}

// find returns where in open the block is that a part with the index belongs to: the
// newest one of that index, or else the newest one. It returns -1 if there is none.
func (t *turn) find(index int) int {
	for at := range slices.Backward(t.open) {
		if t.open[at].index == index {
			return at
		}
	}
	return len(t.open) - 1
}

// Read implements [adapter.Dialect].
func (c *codec) Read(e *sse.Event, t adapter.TurnReader) {
	c.texts.Reset()
	t.Size(len(e.Raw))
	switch ev := parse(e); ev.kind {
	case messageStart:
		c.readStart(&ev, t)
	case blockStart:
		c.beginBlock(&ev, t)
		c.readBlock(ev.block, ev.index, t)
	case blockDelta:
		c.readDelta(&ev, t)
	case blockStop:
		if at := c.turn.find(ev.index); at >= 0 {
			c.turn.open = slices.Delete(c.turn.open, at, at+1)
		}
	case messageDelta:
		c.readEnd(&ev, t)
	case messageStop:
		if c.turn.reason != "" && !c.turn.ended {
			c.finish(nil, c.turn.reason, t)
		}
		c.turn.stopped = true
		t.Done()
	case failure:
		t.Fail(failureIn(ev.data))
	}
}

// failureIn returns the error in the data of an event.
func failureIn(data []byte) error {
	if raw := rawjson.Member(data, "error"); raw != nil {
		return wire.Reported(raw)
	}
	return wire.ErrUnreadable
}

// beginBlock begins a block. What has too many blocks open is no answer of the
// protocol. A block that begins inside a call, under its index, has left half of it.
func (c *codec) beginBlock(ev *event, t adapter.TurnReader) {
	at := c.turn.find(ev.index)
	inCall := at >= 0 && c.turn.open[at].index == ev.index && c.turn.open[at].kind == typeToolUse
	switch known := c.turn.begin(ev.index, typeOf(ev.block)); {
	case c.later && (inCall || !known):
		t.Fail(wire.ErrUnreadable)
	case !known:
		t.Unknown()
	}
}

// readStart reads the start of a message, which may already have content. A message
// that begins again inside a call has left half of it.
func (c *codec) readStart(ev *event, t adapter.TurnReader) {
	c.began = true
	if c.later && slices.ContainsFunc(c.turn.open, func(b readBlock) bool { return b.kind == typeToolUse || mayCall(b.kind) }) {
		t.Fail(wire.ErrUnreadable)
	}
	s := rawjson.Over(ev.message)
	for name := range s.Members() {
		switch name {
		case "usage":
			if raw := s.Raw(); !rawjson.IsNull(raw) {
				c.turn.usage = startUsage(raw)
				t.Usage(countsOf(c.turn.usage, nil))
			}
		case "id":
			t.Response(rawjson.TextView(s.Raw()), "")
		case "model":
			t.Response("", rawjson.TextView(s.Raw()))
		case "container":
			c.keepContainer(s.Raw())
		case "stop_reason":
			c.turn.reason = stopWord(s.Raw())
		}
	}
	for i, block := range rawjson.Elements(rawjson.Member(ev.message, "content")) {
		c.turn.begun, c.turn.last = c.turn.begun+1, typeOf(block)
		c.readBlock(block, i, t)
	}
}

// readBlock reads the start of a content block, or a whole block.
func (c *codec) readBlock(block []byte, index int, t adapter.TurnReader) {
	if !c.later {
		c.ids.own(textIn(block, "id"))
	}
	if isSigned(block) {
		c.signed = true
	}
	readContent(block, index, c.later, c.texts.Of, t)
}

// keepContainer stores the container that the caller's own turn names for its
// code execution.
func (c *codec) keepContainer(raw []byte) {
	if !c.later && !rawjson.IsNull(raw) {
		c.container = slices.Clone(raw)
	}
}

// readContent reads the start of a content block, or a whole block.
func readContent(block []byte, index int, later bool, text func([]byte) string, t adapter.TurnReader) {
	if isSigned(block) {
		t.Signed()
	}
	switch kind := typeOf(block); {
	case kind == typeText:
		t.Text(text(rawjson.Member(block, "text")))
	case kind == typeToolUse:
		t.Call(index, text(rawjson.Member(block, "id")), text(rawjson.Member(block, "name")), inputOf(block))
	case isThinking(kind):
		t.Reasoning(text(rawjson.Member(block, "thinking")))
	case kind == typeCompaction && later:
		t.Fail(errCompacted)
	case !isKnown(kind):
		t.Unknown()
	default:
		t.Content()
	}
}

// isSigned reports whether a block has a signature over the messages before it.
func isSigned(block []byte) bool {
	return typeOf(block) == typeRedacted || !rawjson.IsEmpty(rawjson.Member(block, "signature"))
}

// inputOf returns the arguments in the start of a call, usually none.
func inputOf(block []byte) string {
	if input := rawjson.Member(block, "input"); !rawjson.IsEmpty(input) {
		return rawjson.View(input)
	}
	return ""
}

// readDelta reads a part of a block. Text and thinking count even without a
// block; the input of a call does not.
func (c *codec) readDelta(ev *event, t adapter.TurnReader) {
	switch kind := typeOf(ev.delta); kind {
	case textDelta:
		t.Text(c.texts.Of(rawjson.Member(ev.delta, "text")))
	case thinkingDelta:
		t.Reasoning(c.texts.Of(rawjson.Member(ev.delta, "thinking")))
	case signatureDelta:
		if !rawjson.IsEmpty(rawjson.Member(ev.delta, "signature")) {
			c.signed = true
			t.Signed()
		}
	case inputDelta:
		c.readInput(ev, t)
	case citationsDelta:
		t.Content()
	}
	c.readHeld(ev, t)
}

// readInput reads a part of a call's input. Some servers number the parts of a block
// otherwise than its start. A part that comes after its call has ended, or under a
// number that other parts of the call do not have, belongs to no call: without it, one
// would look whole.
func (c *codec) readInput(ev *event, t adapter.TurnReader) {
	at, input := c.turn.find(ev.index), c.texts.Of(rawjson.Member(ev.delta, "partial_json"))
	if c.later && input != "" && !c.turn.takes(at, ev.index) {
		t.OtherCall() // what was shown of its call is half of it
		t.Fail(wire.ErrUnreadable)
		return
	}
	if at < 0 {
		return
	}
	b := &c.turn.open[at]
	if input != "" && ev.index != noIndex {
		b.parts, c.turn.top = ev.index, max(c.turn.top, ev.index)
	}
	if b.kind == typeToolUse {
		t.Call(b.index, "", "", input)
	}
}

// takes reports whether the open block takes a part of a call's input that has an index.
func (t *turn) takes(at, index int) bool {
	if at < 0 {
		return false
	}
	b := &t.open[at]
	isItsOwn := index == noIndex || index == b.parts || b.parts == noIndex && (index == b.index || index > t.top)
	return isItsOwn && (b.kind == typeToolUse || mayCall(b.kind))
}

// readHeld counts the parts of a block that are held. What may be a call, and is too
// large to be held to its end, is shown in part; that must count as a call.
func (c *codec) readHeld(ev *event, t adapter.TurnReader) {
	if at := c.turn.find(ev.index); c.later && at >= 0 && mayCall(c.turn.open[at].kind) {
		if b := &c.turn.open[at]; b.size <= maxWaiting {
			b.size += len(ev.data)
			if b.size > maxWaiting {
				t.OtherCall()
			}
		}
	}
}

// readEnd reads the end of a turn.
func (c *codec) readEnd(ev *event, t adapter.TurnReader) {
	c.turn.ended = true
	c.keepContainer(rawjson.Member(ev.delta, "container"))
	c.finish(ev.usage, stopWord(rawjson.Member(ev.delta, "stop_reason")), t)
}

// finish reports the usage and the stop reason of a turn.
func (c *codec) finish(usage []byte, reason string, t adapter.TurnReader) {
	c.SetUsage(c.turn.usage, usage)
	if u := countsOf(c.turn.usage, usage); u != (adapter.Usage{}) {
		t.Usage(u)
	}
	readStop(reason, t)
}

// endTurn is the only stop reason that is a plain stop.
const endTurn = "end_turn"

// readStop reads a stop reason.
func readStop(reason string, t adapter.TurnReader) {
	if reason == "refusal" {
		t.Refusal()
	}
	if reason != endTurn && handback.IsPlainStop(reason) {
		reason += notPlain
	}
	t.Finish(reason)
}

// notPlain marks a stop reason that counts as a plain stop in other protocols:
// in this protocol, "stop_sequence" means that the model hit one of the
// caller's stop sequences.
const notPlain = " (not a plain end)"

// stopWord returns a stop reason, "" for none.
func stopWord(raw []byte) string {
	switch string(raw) {
	case `"end_turn"`:
		return endTurn
	case `"tool_use"`:
		return typeToolUse
	}
	return rawjson.TextOf(raw)
}

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
