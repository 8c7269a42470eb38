package messages

import (
	"errors"
	"slices"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/finish"
	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/wire"
	"github.com/carryon-go/carryon/internal/wire/sse"
)

// The failures of a continuation that the provider reports as ordinary answers.
var (
	errRefused   = errors.New("transport: the model refused to go on")
	errCompacted = errors.New("transport: the provider has shortened the conversation")
)

// turn is the part of a turn that was read. The next turn replaces it.
type turn struct {
	began  []byte // the usage of its message_start
	reason string // the stop reason there, which stands for a message_delta
	ended  bool   // there was a message_delta
	blocks []readBlock
}

// readBlock is a content block that was read.
type readBlock struct {
	index int // on the wire
	kind  string
	ended bool
}

// find returns the block that a part with the index belongs to: the newest one
// of that index, or else the open one. It returns nil if there is none.
func (t *turn) find(index int) *readBlock {
	for i := range slices.Backward(t.blocks) {
		if b := &t.blocks[i]; !b.ended && b.index == index {
			return b
		}
	}
	for i := range slices.Backward(t.blocks) {
		if b := &t.blocks[i]; !b.ended {
			return b
		}
	}
	return nil
}

// Read implements [adapter.Dialect].
func (c *codec) Read(e *sse.Event, t adapter.TurnReader) {
	c.scratch = c.scratch[:0]
	t.Size(len(e.Raw))
	switch ev := parse(e); ev.kind {
	case messageStart:
		c.readStart(&ev, t)
	case blockStart:
		c.turn.blocks = append(c.turn.blocks, readBlock{index: ev.index, kind: typeOf(ev.block)})
		c.readBlock(ev.block, ev.index, t)
	case blockDelta:
		c.readDelta(&ev, t)
	case blockStop:
		if b := c.turn.find(ev.index); b != nil {
			b.ended = true
		}
	case messageDelta:
		c.readEnd(&ev, t)
	case messageStop:
		if c.turn.reason != "" && !c.turn.ended {
			c.finish(nil, c.turn.reason, t)
		}
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

// readStart reads the start of a message, which may already have content.
func (c *codec) readStart(ev *event, t adapter.TurnReader) {
	c.began = true
	s := rawjson.Over(ev.message)
	for name := range s.Members() {
		switch name {
		case "usage":
			if raw := s.Raw(); !rawjson.IsNull(raw) {
				c.turn.began = append(c.turn.began[:0], raw...)
				t.Usage(countsOf(raw, nil))
			}
		case "container":
			c.keepContainer(s.Raw())
		case "stop_reason":
			c.turn.reason = stopWord(s.Raw())
		}
	}
	for i, block := range rawjson.Elements(rawjson.Member(ev.message, "content")) {
		c.turn.blocks = append(c.turn.blocks, readBlock{index: noIndex, kind: typeOf(block), ended: true})
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
	readContent(block, index, c.later, c.text, t)
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

// text returns the text of a string, or "" for any other value. It is valid
// until the next event is read.
func (c *codec) text(raw []byte) string {
	if !rawjson.IsString(raw) {
		return ""
	}
	text, scratch := rawjson.Text(raw, c.scratch)
	c.scratch = scratch
	return rawjson.View(text)
}

// readDelta reads a part of a block. Text and thinking count even without a
// block; the input of a call does not.
func (c *codec) readDelta(ev *event, t adapter.TurnReader) {
	switch kind := typeOf(ev.delta); kind {
	case textDelta:
		t.Text(c.text(rawjson.Member(ev.delta, "text")))
	case thinkingDelta:
		t.Reasoning(c.text(rawjson.Member(ev.delta, "thinking")))
	case signatureDelta:
		if !rawjson.IsEmpty(rawjson.Member(ev.delta, "signature")) {
			c.signed = true
			t.Signed()
		}
	case inputDelta:
		if b := c.turn.find(ev.index); b != nil && b.kind == typeToolUse {
			t.Call(b.index, "", "", c.text(rawjson.Member(ev.delta, "partial_json")))
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
	c.SetUsage(c.turn.began, usage)
	if u := countsOf(c.turn.began, usage); u != (adapter.Usage{}) {
		t.Usage(u)
	}
	readStop(reason, c.later, t)
}

// endTurn is the only stop reason that is a plain stop.
const endTurn = "end_turn"

// readStop reads a stop reason. It fails a continuation that the model refused.
func readStop(reason string, later bool, t adapter.TurnReader) {
	if reason == "refusal" {
		if later {
			t.Fail(errRefused)
			return
		}
		t.Refusal()
	}
	if reason != endTurn && finish.IsPlainStop(reason) {
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
