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
	next     int         // the index of the next block that is shown
	thinking bool        // the last block that is shown is one of thinking
	unclosed []int       // the blocks that turns before have begun and not ended, by the index that they are shown under
	dropped  int         // how many calls of the caller's own turn are not shown
	moved    map[int]int // what blocks of that turn are shown under, since the first of those calls, by their index on the wire
	turn     []*block    // the blocks of a later turn that have not ended, the newest last
	text     *block      // the block of text that is open, or nil
	running  []running   // tools that the provider runs, without results, of a later turn
	sealed   bool        // the turn of that block has ended
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

// running is a call of a tool that the provider runs, of which no result was shown.
type running struct{ id, kind, name string }

// note notes a block that is shown, if it is such a call or the result of one.
func (s *blocks) note(b *block) {
	if b.kind == typeText || isThinking(b.kind) || b.kind == typeToolUse {
		return
	}
	content := rawjson.Member(b.start, "content_block")
	if b.kind == "server_tool_use" || b.kind == "mcp_tool_use" {
		s.running = append(s.running, running{textIn(content, "id"), b.kind, textIn(content, "name")})
		return
	}
	id := textIn(content, "tool_use_id")
	s.running = slices.DeleteFunc(s.running, func(r running) bool { return r.id == id })
}

// serverTools are the tools that the provider runs, with the type of their results, as
// far as its failure has a form.
var serverTools = map[string]string{ //nolint:gochecknoglobals // constant
	"web_search": "web_search", "web_fetch": "web_fetch", "code_execution": "code_execution", "bash_code_execution": "bash_code_execution",
	"text_editor_code_execution": "text_editor_code_execution", "tool_search_tool_regex": "tool_search_tool", "tool_search_tool_bm25": "tool_search_tool",
}

// failed returns the block that says that the tool has failed, or nil if there is none.
func (r *running) failed() []byte {
	if r.kind == "mcp_tool_use" {
		return rawjson.Object("type", "mcp_tool_result", "tool_use_id", r.id, "is_error", true, "content", []string{})
	}
	name, ok := serverTools[r.name]
	if !ok {
		return nil
	}
	return rawjson.Object("type", name+"_tool_result", "tool_use_id", r.id,
		"content", rawValue(rawjson.Object("type", name+"_tool_result_error", "error_code", "unavailable")))
}

type state uint8

const (
	waiting state = iota // not shown yet
	open
	hidden
)

// maxWaiting is how many bytes of a block are held until its end.
const maxWaiting = 1 << 20

// waits reports whether blocks of the type are shown only when they have ended.
// The end of thinking tells whether it is signed, and what may be a call must not
// be shown in part, unless it is one of the caller's own tools.
func waits(kind string) bool { return isThinking(kind) || mayCall(kind) }

// mayCall reports whether blocks of the type are, or could be, calls of a tool
// that the provider runs.
func mayCall(kind string) bool {
	return kind == "server_tool_use" || kind == "mcp_tool_use" || !isKnown(kind) && kind != typeToolUse
}

// endFirst records the end of the caller's own turn.
func (s *blocks) endFirst(t *turn) {
	s.next, s.thinking = t.begun-s.dropped, isThinking(t.last)
	for _, b := range t.open {
		shown := s.firstIndex(b.index)
		if b.index == noIndex {
			shown = b.order - s.dropped
		}
		if shown >= 0 {
			s.unclosed = append(s.unclosed, shown)
		}
	}
}

// endTurn ends a turn that was kept. No later text goes into its block of text. A call
// that was open when the turn broke off stays so: it may be half a call.
func (s *blocks) endTurn(brokeOff bool) {
	for _, b := range s.turn {
		if b.state == open && b != s.text && (!brokeOff || b.kind != typeToolUse) {
			s.unclosed = append(s.unclosed, b.shown)
		}
	}
	s.turn, s.sealed, s.running = nil, true, nil
}

// cut closes the blocks that a failed turn has left open, except calls: half a
// call must not look whole. A tool that the provider ran has failed if no result of it
// came: the API takes no conversation that has the call alone.
func (s *blocks) cut(dst []sse.Event) []sse.Event {
	for _, b := range s.turn {
		if b.state == open && b.kind != typeText && b.kind != typeToolUse && !mayCall(b.kind) {
			dst = append(dst, stopOf(b.shown))
		}
	}
	s.turn = nil
	dst = s.closeText(dst)
	for i := range s.running {
		if content := s.running[i].failed(); content != nil {
			b := &block{kind: typeOf(content), start: rawjson.Object("type", blockStart, "index", 0, "content_block", rawValue(content))}
			dst = append(s.show(dst, b), stopOf(b.shown))
		}
	}
	s.running = nil
	return dst
}

// leftOut is the index of a block that is not shown.
const leftOut = -2

// appendFirst shows an event of the caller's own turn, from which a call is left
// out. The blocks that begin after the call move up.
func (s *blocks) appendFirst(dst []sse.Event, ev *event, edit *adapter.Edit) []sse.Event {
	switch ev.kind {
	case "", messageDelta, messageStop:
		return dst
	case blockStart:
		s.move(ev, edit)
	case blockDelta, blockStop:
	default:
		return append(dst, sse.Written(ev.kind, ev.data, sse.Object))
	}
	index := s.firstIndex(ev.index)
	if index == leftOut {
		return dst
	}
	return append(dst, numbered(ev.kind, ev.data, index))
}

// move decides what a block of the caller's own turn is shown under.
func (s *blocks) move(ev *event, edit *adapter.Edit) {
	switch {
	case typeOf(ev.block) == typeToolUse && edit.Call(0).Drop:
		if s.moved == nil {
			s.moved = make(map[int]int)
		}
		s.moved[ev.index] = leftOut
		s.dropped++
	case s.dropped > 0:
		s.moved[ev.index] = ev.index - s.dropped
	}
}

// firstIndex returns what a block of the caller's own turn is shown under, by its
// index on the wire.
func (s *blocks) firstIndex(index int) int {
	if shown, ok := s.moved[index]; ok {
		return shown
	}
	return index
}

// begin begins a block of a later turn.
func (s *blocks) begin(ev *event) *block {
	b := &block{index: ev.index, kind: typeOf(ev.block), start: slices.Clone(ev.data)}
	s.turn = append(s.turn, b)
	return b
}

// find returns the block that a part with the index belongs to: the newest one
// of that index, or else the newest block. It returns nil if there is none. The
// blocks are few; see [maxOpen].
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
	s.note(b)
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

// appendStop ends a block.
func (s *blocks) appendStop(dst []sse.Event, ev *event, signed bool) []sse.Event {
	if b := s.find(ev.index); b != nil {
		return s.end(dst, b, ev.data, signed)
	}
	return dst
}

// mayShow reports whether a whole block of a later turn is shown, other than text and
// calls of the caller's tools. Thinking is not shown if this block or another one of the
// answer is signed: the signature is valid only after carryon's prompt, which the caller
// does not have. Nor is thinking shown directly after thinking, which the API refuses.
func mayShow(kind string, signed, afterThinking bool) bool {
	return kind != typeCompaction && (!isThinking(kind) && isKnown(kind) || !signed && !afterThinking)
}

// end ends a block.
func (s *blocks) end(dst []sse.Event, b *block, stop []byte, signed bool) []sse.Event {
	s.turn = slices.DeleteFunc(s.turn, func(other *block) bool { return other == b })
	if b.kind == typeText {
		return dst // it closes when something else is shown
	}
	if b.state == waiting && mayShow(b.kind, signed, s.thinking) {
		dst = s.show(dst, b)
	}
	if b.state != open {
		return dst
	}
	return append(dst, numbered(blockStop, stop, b.shown))
}

// endHeld ends the block that is held, because another one begins or the turn ends:
// some servers end no thinking. At most one is held, the newest.
func (s *blocks) endHeld(dst []sse.Event, signed bool) []sse.Event {
	if n := len(s.turn); n > 0 && s.turn[n-1].state == waiting && waits(s.turn[n-1].kind) {
		dst = s.end(dst, s.turn[n-1], []byte(stopData), signed)
	}
	return dst
}

// appendTextOf shows the text of an event, which belongs to a block or to none.
func (s *blocks) appendTextOf(dst []sse.Event, b *block, ev *event, text string) []sse.Event {
	dst, b = s.openText(dst, b)
	data := ev.data
	if textIn(ev.delta, "text") != text {
		data = rawjson.With(data, rawjson.Set("delta", rawjson.With(ev.delta, rawjson.Set("text", rawjson.Quote(text)))))
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
		b.start = rawjson.With(b.start, rawjson.Set("content_block", rawjson.With(content, rawjson.Set("text", []byte(`""`)))))
	}
	dst = s.show(dst, b)
	s.text, s.sealed = b, false
	return dst, b
}

// close ends the blocks that are open, before another one begins or before the end
// of the answer: those that earlier turns have not ended, and the block of text.
func (s *blocks) close(dst []sse.Event) []sse.Event {
	for _, shown := range s.unclosed {
		dst = append(dst, stopOf(shown))
	}
	s.unclosed = nil
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

// stopData is the data of an event that ends a block.
const stopData = `{"type":"content_block_stop","index":0}`

func stopOf(index int) sse.Event { return numbered(blockStop, []byte(stopData), index) }

// numbered returns the event of a block with an index.
func numbered(kind string, data []byte, index int) sse.Event {
	return sse.Written(kind, rawjson.With(data, rawjson.Set("index", strconv.AppendInt(nil, int64(index), 10))), sse.Object)
}
