package messages

import (
	"slices"
	"strconv"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/wire/sse"
)

// blocks shows the content blocks of a joined answer. Each part of a block
// comes between its start and its stop, and the indexes have no gaps. A block
// of text opens with its first text, and closes when something else is shown:
// until then, a text that may be a printed todo_pause can still turn out to be
// plain text.
type blocks struct {
	next     int      // the index of the next block that is shown
	thinking bool     // the last block that is shown is one of thinking
	unclosed bool     // the caller's own turn has not ended its last block
	dropped  []int    // the blocks of the caller's own turn that are not shown
	turn     []*block // the blocks of a later turn that have not ended
	text     *block   // the block of text that is open, or nil
	sealed   bool     // the turn of that block has ended
}

// block is a content block of a later turn.
type block struct {
	index int // on the wire
	kind  string
	state state
	shown int      // the index that it is shown under
	start []byte   // the event that begins it
	parts [][]byte // the events that wait until it is shown
	size  int      // of the parts
}

type state uint8

const (
	waiting state = iota // not shown yet
	open
	hidden
)

// maxWaiting is how many bytes of a block are held until its end.
const maxWaiting = 1 << 20

// waits reports whether the block is shown only when it has ended. The end of
// thinking tells whether it is signed, and a call of a tool that the provider
// runs must not be shown in part.
func (b *block) waits() bool {
	return isThinking(b.kind) || b.kind == "server_tool_use" || b.kind == "mcp_tool_use" || !isKnown(b.kind) && b.kind != typeToolUse
}

// endFirst records the end of the caller's own turn.
func (s *blocks) endFirst(t *turn) {
	if n := len(t.blocks); n > 0 {
		s.next = n - len(s.dropped)
		s.thinking, s.unclosed = isThinking(t.blocks[n-1].kind), !t.blocks[n-1].ended
	}
}

// endTurn ends a turn that was kept. No later text goes into its block of text.
func (s *blocks) endTurn() { s.turn, s.sealed = nil, true }

// cut closes the blocks that a failed turn has left open, except calls of the
// caller's tools: half a call must not look whole.
func (s *blocks) cut(dst []sse.Event) []sse.Event {
	for _, b := range s.turn {
		if b.state == open && b.kind != typeText && b.kind != typeToolUse {
			dst = append(dst, stopOf(b.shown))
		}
	}
	s.turn = nil
	return s.closeText(dst)
}

// appendFirst shows an event of the caller's own turn, from which something is
// left out.
func (s *blocks) appendFirst(dst []sse.Event, ev *event, edit *adapter.Edit) []sse.Event {
	switch ev.kind {
	case "", messageDelta, messageStop:
		return dst
	case blockStart:
		if typeOf(ev.block) == typeToolUse && edit.Call(0).Drop {
			s.dropped = append(s.dropped, ev.index)
		}
	case blockDelta, blockStop:
	default:
		return append(dst, newEvent(ev.kind, ev.data))
	}
	index := ev.index
	for _, dropped := range s.dropped {
		if dropped == ev.index {
			return dst
		}
		if dropped < ev.index {
			index--
		}
	}
	return append(dst, numbered(ev.kind, ev.data, index))
}

// begin begins a block of a later turn.
func (s *blocks) begin(ev *event) *block {
	b := &block{index: ev.index, kind: typeOf(ev.block), start: slices.Clone(ev.data)}
	s.turn = append(s.turn, b)
	return b
}

// find returns the block that a part with the index belongs to: the newest one
// of that index, or else the newest block. It returns nil if there is none.
func (s *blocks) find(index int) *block {
	for _, b := range slices.Backward(s.turn) {
		if b.index == index {
			return b
		}
	}
	if n := len(s.turn); n > 0 {
		return s.turn[n-1]
	}
	return nil
}

// show shows the start of a block, and the parts that were held.
func (s *blocks) show(dst []sse.Event, b *block) []sse.Event {
	dst = s.close(dst)
	b.state, b.shown = open, s.next
	s.next++
	s.thinking = isThinking(b.kind)
	dst = append(dst, numbered(blockStart, b.start, b.shown))
	for _, part := range b.parts {
		dst = append(dst, numbered(blockDelta, part, b.shown))
	}
	b.parts, b.size = nil, 0
	return dst
}

// appendPart shows a part of a block that is not text.
func (s *blocks) appendPart(dst []sse.Event, b *block, ev *event) []sse.Event {
	switch b.state {
	case open:
		return append(dst, numbered(ev.kind, ev.data, b.shown))
	case waiting:
		b.parts = append(b.parts, slices.Clone(ev.data))
		switch b.size += len(ev.data); {
		case b.size <= maxWaiting:
		case isThinking(b.kind):
			b.state, b.parts = hidden, nil
		default:
			return s.show(dst, b)
		}
	case hidden:
	}
	return dst
}

// appendStop ends a block. It does not show thinking if this block or another
// one of the answer is signed: the signature is valid only after carryon's
// prompt, which the caller does not have. Nor does it show thinking directly
// after thinking, which the API refuses.
func (s *blocks) appendStop(dst []sse.Event, ev *event, signed bool) []sse.Event {
	b := s.find(ev.index)
	if b == nil {
		return dst
	}
	s.turn = slices.DeleteFunc(s.turn, func(other *block) bool { return other == b })
	if b.kind == typeText {
		return dst // it closes when something else is shown
	}
	if b.state == waiting && (!isThinking(b.kind) && isKnown(b.kind) || !signed && !s.thinking) {
		dst = s.show(dst, b)
	}
	if b.state != open {
		return dst
	}
	return append(dst, numbered(blockStop, ev.data, b.shown))
}

// endHeld ends the blocks that are held, because another one begins.
func (s *blocks) endHeld(dst []sse.Event, signed bool) []sse.Event {
	for _, b := range slices.Clone(s.turn) {
		if b.state == waiting && b.waits() {
			dst = s.appendStop(dst, &event{index: b.index, data: []byte(`{"type":"content_block_stop","index":0}`)}, signed)
		}
	}
	return dst
}

// appendTextOf shows the text of an event, which belongs to a block or to none.
func (s *blocks) appendTextOf(dst []sse.Event, b *block, ev *event, text string) []sse.Event {
	dst, b = s.openText(dst, b)
	data := ev.data
	if textIn(ev.delta, "text") != text {
		data = setMember(data, "delta", setMember(ev.delta, "text", rawjson.Quote(text)))
	}
	return append(dst, numbered(blockDelta, data, b.shown))
}

// appendText shows a text that has no event, or that came with the start of a
// block.
func (s *blocks) appendText(dst []sse.Event, b *block, text string) []sse.Event {
	dst, b = s.openText(dst, b)
	data := append(rawjson.AppendQuote([]byte(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":`), text), "}}"...)
	return append(dst, numbered(blockDelta, data, b.shown))
}

// openText opens a block of text, unless it is open. Text that belongs to no
// block goes into the open block of text, or else into a new one.
func (s *blocks) openText(dst []sse.Event, b *block) ([]sse.Event, *block) {
	switch {
	case b != nil && b == s.text, b == nil && s.text != nil && !s.sealed:
		return dst, s.text
	case b == nil:
		b = &block{kind: typeText, start: []byte(`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`)}
	}
	content := rawjson.Member(b.start, "content_block")
	if !rawjson.IsEmpty(rawjson.Member(content, "text")) {
		b.start = setMember(b.start, "content_block", setMember(content, "text", []byte(`""`)))
	}
	dst = s.show(dst, b)
	s.text, s.sealed = b, false
	return dst, b
}

// close ends the open block before another one begins, or before the end of the
// answer.
func (s *blocks) close(dst []sse.Event) []sse.Event {
	if s.unclosed {
		s.unclosed = false
		dst = append(dst, stopOf(s.next-1))
	}
	return s.closeText(dst)
}

// closeText ends the block of text that is open, if one is.
func (s *blocks) closeText(dst []sse.Event) []sse.Event {
	if s.text == nil {
		return dst
	}
	dst = append(dst, stopOf(s.text.shown))
	s.text.state, s.text = waiting, nil
	return dst
}

func stopOf(index int) sse.Event {
	return numbered(blockStop, []byte(`{"type":"content_block_stop","index":0}`), index)
}

// numbered returns the event of a block with an index.
func numbered(kind string, data []byte, index int) sse.Event {
	return newEvent(kind, setMember(data, "index", strconv.AppendInt(nil, int64(index), 10)))
}
