package responses

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/wire"
	"github.com/carryon-go/carryon/internal/wire/sse"
)

// document reads and shows an answer that is not streamed.
type document struct {
	wire.Usage

	request *request
	reader  *reader  // of the current turn
	kept    [][]byte // the response objects of the turns
	read    []byte   // that of the current turn
	firstID string
}

var _ adapter.Dialect[sse.Event] = (*document)(nil)

// Clone implements [adapter.Dialect].
func (d *document) Clone(e *sse.Event) sse.Event { return e.Clone() }

// EndTurn implements [adapter.Dialect].
func (d *document) EndTurn(keep bool) {
	d.Usage.EndTurn(keep)
	if keep && d.reader != nil {
		d.request.keep(d.firstID, d.reader)
		d.kept = append(d.kept, d.read)
	}
	d.reader = nil
}

// Read implements [adapter.Dialect].
func (d *document) Read(e *sse.Event, t adapter.TurnReader) {
	t.Size(len(e.Raw))
	d.reader = d.request.newReader(len(d.kept) > 0)
	if e.Kind != sse.Object || len(d.kept) > 0 && !json.Valid(e.Data()) {
		t.Fail(wire.ErrUnreadable)
		return
	}
	response := e.Data()
	d.read = response
	if raw := rawjson.Member(response, "error"); !rawjson.IsNull(raw) && rawjson.Member(response, "output") == nil {
		t.Fail(wire.Reported(raw))
		return
	}
	s := rawjson.Over(rawjson.Member(response, "output"))
	for i := range s.Elements() {
		it, f := d.reader.open(&event{output: i}, t), readItem(&s)
		d.reader.readItem(it, &f, t)
	}
	if !d.reader.calls && !isSound(response) {
		t.Unknown() // nothing can be joined to it
	}
	if usage := d.reader.finish(response, t); usage != nil {
		d.SetUsage(usage)
	}
	if len(d.kept) == 0 {
		d.firstID = rawjson.TextOf(d.reader.id)
		d.request.chains.forget(d.request.caller, d.firstID)
	}
}

// AppendShown implements [adapter.Dialect]. e belongs to the last turn that was
// kept.
func (d *document) AppendShown(dst []sse.Event, e *sse.Event, edit *adapter.Edit) []sse.Event {
	a := answer{sequence: none, watches: d.request.declares, usage: d.ShownUsage(edit.Usage, rawjson.Member(e.Data(), "usage"))}
	from := 0
	for i, kept := range d.kept {
		end := len(edit.Text)
		if i < len(edit.TurnEnds) {
			end = edit.TurnEnds[i]
		}
		last := i == len(d.kept)-1
		a.addDocument(kept, edit.Text[from:end], func(call int) bool { return !last || edit.Call(call).Drop })
		from = end
	}
	if len(d.kept) > 0 {
		a.base = d.kept[0]
	}
	a.addNotice(edit.Text[from:])
	return append(dst, sse.Document(bytes.Clone(a.joined(e.Data())), true))
}

// addDocument adds a turn with the part of its text that is shown. The edit
// identifies calls by their number in the turn.
func (a *answer) addDocument(response []byte, said string, isDropped func(call int) bool) {
	t := a.current()
	t.response = response
	calls := 0
	for i, raw := range rawjson.Elements(rawjson.Member(response, "output")) {
		ev := event{kind: itemDone, output: i}
		ev.setItem(raw)
		it := a.open(&ev)
		it.announced, it.closing, it.done = true, true, raw
		switch it.kind {
		case functionCall:
			if calls++; isDropped(calls - 1) {
				a.leaveOut(it, &ev)
			}
		case message:
			a.listen(it, &ev)
		}
	}
	a.show(said)
	cut := a.cutTexts()
	a.keepEmpty(t)
	t.decide(cut || len(t.dropped) > 0)
	for _, it := range t.items {
		if it.fate == shown {
			a.last, it.closing = it, false // more may be added to it
		}
	}
	a.endTurn()
}

// decide decides whether the items that are still open are shown. It leaves out
// messages without remaining text, and reasoning that nothing follows. It
// leaves out nothing of turn 1, unless that has paused.
func (t *turn) decide(paused bool) {
	follows := false
	for _, it := range slices.Backward(t.items) {
		switch {
		case it.fate == open && (it.kind == reasoning && follows || t.first && !paused):
			it.fate = shown
		case it.fate == open:
			it.fate = dropped
		}
		follows = follows || it.fate == shown
	}
}
