package messages

import (
	"slices"
	"strconv"
	"strings"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/wire/sse"
)

// document reads and shows one answer that is not streamed.
type document struct {
	usages

	turn []byte   // the message of the current turn
	kept [][]byte // those of the turns that were kept
}

var _ adapter.Dialect[sse.Event] = (*document)(nil)

// EndTurn implements [adapter.Dialect].
func (d *document) EndTurn(keep bool) {
	d.usages.EndTurn(keep)
	if keep {
		d.kept = append(d.kept, d.turn)
	}
}

// Clone implements [adapter.Dialect].
func (d *document) Clone(e *sse.Event) sse.Event { return e.Clone() }

// Read implements [adapter.Dialect].
func (d *document) Read(e *sse.Event, t adapter.TurnReader) {
	t.Size(len(e.Raw))
	message, later := e.Data(), len(d.kept) > 0
	d.turn = message
	if typeOf(message) == failure {
		t.Fail(failureIn(message))
		return
	}
	t.Response(rawjson.TextView(rawjson.Member(message, "id")), rawjson.TextView(rawjson.Member(message, "model")))
	for i, block := range rawjson.Elements(rawjson.Member(message, "content")) {
		readContent(block, i, later, rawjson.TextOf, t)
	}
	if usage := rawjson.Member(message, "usage"); !rawjson.IsNull(usage) {
		if counts := countsOf(usage, nil); counts != (adapter.Usage{}) {
			d.SetUsage(nil, usage)
			t.Usage(counts)
		}
	}
	readStop(stopWord(rawjson.Member(message, "stop_reason")), t)
}

// AppendShown implements [adapter.Dialect]: the first turn's message, with the
// blocks of all turns, and the end of the last one.
func (d *document) AppendShown(dst []sse.Event, e *sse.Event, edit *adapter.Edit) []sse.Event {
	last := e.Data()
	whole := last
	if len(d.kept) > 0 {
		whole = d.kept[0]
	}
	whole = rawjson.With(whole, rawjson.Set("content", d.content(edit)))
	finish := strings.TrimSuffix(edit.FinishOr(endTurn), notPlain)
	for _, name := range []string{"stop_reason", "stop_sequence", "stop_details", "container", "context_management"} {
		own := rawjson.Member(last, name)
		switch {
		case name == "stop_reason" && rawjson.TextOf(own) != finish:
			own = rawjson.Quote(finish)
		case name == "stop_sequence" && textIn(last, "stop_reason") != finish:
			own = []byte("null")
		case name == "container" && rawjson.IsNull(own):
			continue // it stays
		case own == nil && rawjson.Member(whole, name) != nil:
			own = []byte("null")
		}
		if own != nil {
			whole = rawjson.With(whole, rawjson.Set(name, own))
		}
	}
	if usage := d.shown(edit.Usage); usage != nil {
		whole = rawjson.With(whole, rawjson.Set("usage", usage))
	}
	return append(dst, sse.Document(whole, true))
}

// content returns the blocks of all turns. The edit's text after the texts of
// the turns is a notice.
func (d *document) content(edit *adapter.Edit) []byte {
	w := contentWriter{edit: edit}
	from := 0
	for i, message := range d.kept {
		to := len(edit.Text)
		if i < len(edit.TurnEnds) {
			to = edit.TurnEnds[i]
		}
		w.turn = turnWriter{first: i == 0, last: i == len(d.kept)-1, text: edit.Text[from:to]}
		w.addTurn(rawjson.Elements(rawjson.Member(message, "content")))
		from = to
	}
	w.addText(edit.Text[from:])
	return append(append([]byte{'['}, w.out...), ']')
}

// contentWriter writes the blocks of a joined message.
type contentWriter struct {
	edit     *adapter.Edit
	turn     turnWriter
	out      []byte
	ids      blockIDs
	calls    int  // how many of the last turn's calls were written or dropped
	signed   bool // there was signed thinking
	thinking bool // the last block is one of thinking
}

// turnWriter writes the blocks of one turn.
type turnWriter struct {
	first, last bool
	text        string // what it says, as far as it was not written yet
}

func (w *contentWriter) addTurn(blocks [][]byte) {
	w.signed = w.signed || slices.ContainsFunc(blocks, isSigned)
	lastText := -1
	for i, block := range blocks {
		if typeOf(block) == typeText {
			lastText = i
		}
	}
	for i, block := range blocks {
		switch kind := typeOf(block); {
		case kind == typeText:
			w.addTextBlock(block, i == lastText)
		case kind == typeToolUse:
			w.addCall(block)
		case w.turn.first, mayShow(kind, w.signed, w.thinking):
			w.ids.own(textIn(block, "id"))
			w.add(block)
		}
	}
	w.addText(w.turn.text)
}

// addTextBlock writes a block with its part of the turn's text. That part
// differs from the block's own text by a separator at the beginning, or by a
// printed todo_pause that was removed at the end of the turn.
func (w *contentWriter) addTextBlock(block []byte, last bool) {
	own := textIn(block, "text")
	shown := w.turn.text
	if at := strings.Index(shown, own); !last && at >= 0 && strings.TrimLeft(shown[:at], "\n") == "" {
		shown = shown[:at+len(own)]
	}
	w.turn.text = w.turn.text[len(shown):]
	switch {
	case shown == own && (own != "" || w.turn.first):
		w.add(block)
	case shown != "":
		w.add(rawjson.With(block, rawjson.Set("text", rawjson.Quote(shown))))
	}
}

// addText writes a text that belongs to no block.
func (w *contentWriter) addText(text string) {
	if text != "" {
		w.add(textBlock(text))
	}
}

// addCall writes a tool call that is shown.
func (w *contentWriter) addCall(block []byte) {
	if !w.turn.last {
		return // only the last turn has calls of the caller's tools
	}
	edit := w.edit.Call(w.calls)
	w.calls++
	if edit.Drop {
		return
	}
	id := textIn(block, "id")
	if own := w.ids.own(id); own != id {
		block = rawjson.With(block, rawjson.Set("id", rawjson.Quote(own)))
	}
	w.add(block)
}

func (w *contentWriter) add(block []byte) {
	if len(w.out) > 0 {
		w.out = append(w.out, ',')
	}
	w.out = append(w.out, block...)
	w.thinking = isThinking(typeOf(block))
}

// blockIDs are the ids of the blocks that are shown.
type blockIDs struct {
	taken map[string]bool
	tried int // the number that was put behind an id last
}

// own returns an id that no other block has, and records it: some servers count
// from 1 in each turn.
func (b *blockIDs) own(id string) string {
	if id == "" {
		return ""
	}
	if b.taken == nil {
		b.taken = make(map[string]bool)
	}
	own := id
	for b.taken[own] {
		b.tried++ // no number is tried twice, so all ids together take linear time
		own = id + "_" + strconv.Itoa(b.tried)
	}
	b.taken[own] = true
	return own
}
