package responses

import (
	"encoding/json"
	"slices"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/wire/sse"
)

// AppendShown implements [adapter.Dialect].
func (c *codec) AppendShown(dst []sse.Event, e *sse.Event, edit *adapter.Edit) []sse.Event {
	a := &c.answer
	a.rewriting, a.out = true, dst
	ev := c.lastParsed(e)
	defer c.forget()
	switch edit.Part {
	case adapter.Whole:
		if e.Kind == sse.Object {
			a.add(*e, ev, edit)
		}
	case adapter.Synthetic, adapter.UsageOnly:
		a.say(edit.Text)
		if edit.FinishOr("stop") != "" {
			a.ending = e.Keep(e.Data())
		}
		if usage := c.ShownUsage(edit.Usage, rawjson.Member(ev.response, "usage")); usage != nil {
			a.usage = usage
		}
	case adapter.TurnCut:
		if !a.over || len(a.turns) > 0 {
			a.settle(true)
			a.forget()
		}
	case adapter.TurnError:
		a.fail(e, ev)
	case adapter.AnswerEnd:
		a.flush(true)
		a.out = append(a.out, a.end(rawjson.Member(a.ending, "response")))
		if a.saidDone {
			head := sse.AppendHead(nil, "")
			a.out = append(a.out, sse.New(append(head, doneMark...), len(head), sse.Text))
		}
	}
	a.flush(false)
	return a.takeOut()
}

// fail ends the answer with the error that an event reports. It shows nothing if
// the event is not the protocol's own report of one.
func (a *answer) fail(e *sse.Event, ev *event) {
	switch {
	case ev.kind == responseFailed:
		a.flush(true)
		a.ending, a.usage = e.Keep(e.Data()), nil
		a.out = append(a.out, a.end(ev.response))
	case e.Kind == sse.Object && stageOf(ev.kind) != last:
		a.flush(true)
		a.emit(&entry{event: *e, wireSequence: ev.sequence})
	}
}

// takeOut returns the events that are ready to be shown, and gives up their
// ownership.
func (a *answer) takeOut() []sse.Event {
	out := a.out
	a.out = nil
	return out
}

// add shows an event of a turn whose events are edited.
func (a *answer) add(e sse.Event, ev *event, edit *adapter.Edit) {
	switch t := a.current(); {
	case stageOf(ev.kind) == last:
		t.response = e.Keep(ev.response)
		if t.first {
			a.base = t.response
		}
		a.say(edit.Text)
		a.settle(ev.kind != completed)
	case stageOf(ev.kind) == beginning, ev.kind == failed:
	default:
		a.addItem(e, ev, edit)
	}
}

// addItem shows an event about an item.
func (a *answer) addItem(e sse.Event, ev *event, edit *adapter.Edit) {
	if (ev.kind == itemAdded || ev.kind == itemDone) && rawjson.ObjectEnd(ev.item) < 0 {
		return // there is no item in it
	}
	t := a.current()
	it := a.itemOf(ev)
	if it == nil {
		if t.first { // of a continuation, it says nothing about the answer
			a.queue.push(entry{event: e, wireSequence: ev.sequence})
		}
		return
	}
	if len(edit.Calls) > 0 && edit.Calls[0].Drop && !edit.Calls[0].Rewrite {
		a.leaveOut(it, ev)
		a.grown = true // what follows is shown under other numbers
	}
	if it.fate != dropped {
		a.place(e, it, ev, edit.Text)
	}
}

// itemOf returns the item that an event is about, and opens it if the event
// begins it. It returns nil if there is no item, or if it has ended.
func (a *answer) itemOf(ev *event) *item {
	t := a.current()
	it := t.find(ev)
	switch {
	case ev.kind == itemAdded:
		if it != nil && !it.closing && it.fate == shown && !t.first && !it.kind.isCall() {
			a.close(it) // its index is used again
		}
		return a.open(ev)
	case it != nil && !it.closing:
		return it
	case t.first || t.isClosed(ev):
		return nil
	}
	return a.openLate(ev)
}

// openLate opens an item that began without its own event. It returns nil if
// the event does not tell the kind of the item.
func (a *answer) openLate(ev *event) *item {
	switch ev.kind {
	case textDelta:
		begun := *ev
		begun.setItem(rawjson.Object("id", rawjson.TextOf(ev.itemID), "type", "message"))
		it := a.open(&begun)
		a.begin(it, nil)
		return it
	case itemDone:
		it := a.open(ev)
		if it.kind == message {
			a.begin(it, ev.fields.phase)
			a.repeat(it, ev.fields.content)
		} else {
			a.queue.push(a.written(it, nil, opening, itemAdded, "item", json.RawMessage(ev.item)))
		}
		return it
	}
	return nil
}

// repeat adds the events that end the texts of a message that came in one
// piece, with this content.
func (a *answer) repeat(it *item, content []byte) {
	for i, p := range partsOf(content) {
		if p.text == nil {
			continue
		}
		x := it.text(i)
		x.streams = true
		if i > 0 {
			a.queue.push(a.written(it, nil, opening, partAdded, "content_index", i, "part", x.partOf("")))
		}
		said := rawjson.TextOf(p.text)
		a.queue.push(a.written(it, x, closing, textDone, "content_index", i, "text", said, "logprobs", []string{}))
		a.queue.push(a.written(it, x, closing, partDone, "content_index", i, "part", x.partOf(said)))
	}
}

// isClosed reports whether an event is about an item that has ended.
func (t *turn) isClosed(ev *event) bool {
	it := t.find(ev)
	return it != nil && it.closing && it.wireID == rawjson.TextOf(ev.idOf())
}

// leaveOut drops a call.
func (a *answer) leaveOut(it *item, ev *event) {
	a.decide(it, dropped)
	t := it.turn
	if id := rawjson.TextOf(ev.fields.callID); id != "" {
		if t.dropped == nil {
			t.dropped = make(map[string]bool)
		}
		t.dropped[id] = true
	}
	if ev.kind == itemDone {
		it.closing = true
	}
}

// place puts an event of an item into the queue, with the text that the engine
// shows instead of its own.
func (a *answer) place(e sse.Event, it *item, ev *event, said string) {
	r, x := it.place(&e, ev)
	en := entry{event: e, item: it, text: x, role: r, wireSequence: ev.sequence}
	if it.turn.first { // the engine changes no text in it
		a.queue.push(en)
		return
	}
	if it.kind == message {
		a.listen(it, ev)
	}
	switch pieces, rest := a.show(said); {
	case ev.kind == textDelta && len(pieces) == 1 && pieces[0].said == rawjson.TextOf(ev.delta) && pieces[0].text.item == it:
		a.queue.push(en)
		return
	default:
		a.sayPieces(pieces)
		a.addNotice(rest)
	}
	if ev.kind != textDelta {
		a.note(it, &e, ev)
		a.queue.push(en)
	}
}

// note records what an event adds to an item, beside text.
func (a *answer) note(it *item, e *sse.Event, ev *event) {
	switch ev.kind {
	case refusalDelta:
		a.decide(it, shown)
		x := it.text(ev.content)
		x.isRefusal, x.shown = true, append(x.shown, rawjson.TextView(ev.delta)...)
	case annotation:
		a.decide(it, shown)
		x := it.text(ev.content)
		x.annotations = append(x.annotations, e.Keep(ev.annotation))
	case argumentsDelta:
		it.arguments = append(it.arguments, textOrJSON(ev.delta)...)
	case argumentsDone:
		it.arguments = []byte(textOrJSON(ev.arguments))
	}
}

// listen records the text of an event that was reported to the engine.
func (a *answer) listen(it *item, ev *event) {
	once := func(content int, raw []byte) {
		if x := it.text(content); x.length == 0 && x.held == "" && raw != nil {
			a.hear(x, rawjson.TextOf(raw))
		}
	}
	switch ev.kind {
	case textDelta:
		x := it.text(ev.content)
		x.streams = true
		a.hear(x, rawjson.TextOf(ev.delta))
	case textDone:
		once(ev.content, ev.text)
	case partDone:
		s := rawjson.Over(ev.part)
		if p := readPart(&s); p.text != nil {
			once(ev.content, p.text)
		}
	case itemAdded, itemDone:
		for i, p := range partsOf(ev.fields.content) {
			if p.text != nil {
				once(i, p.text)
			} else if string(p.kind) == refusalPart {
				a.decide(it, shown)
			}
		}
	}
}

// say shows a text that has no event of its own.
func (a *answer) say(said string) {
	pieces, rest := a.show(said)
	a.sayPieces(pieces)
	a.addNotice(rest)
}

func (a *answer) sayPieces(pieces []piece) {
	for _, p := range pieces {
		if p.text.streams {
			a.addPiece(p)
		}
	}
}

// addPiece shows a piece of a text, before the events that repeat the text.
func (a *answer) addPiece(p piece) {
	if x := p.text; x.repeated > 0 || x.item.closing && !x.item.closed {
		x.late += p.said
		return
	}
	a.queue.push(a.deltaOf(p))
}

// addNotice adds a text to the last message, if nothing was shown after it.
// carryon does not add an item of its own, because the server would not know
// its id.
func (a *answer) addNotice(said string) {
	if said == "" {
		return
	}
	if x := a.openText(); x != nil {
		x.notice += said
		a.grown = true
		a.addPiece(piece{x, said})
	}
}

// openText returns the text to which more can be added: the last text of the
// last item that is shown, if that is a message whose end has not been shown.
// It returns nil if there is none.
func (a *answer) openText() *text {
	last := a.lastShown()
	if last == nil || last.kind != message || last.closed || len(last.texts) == 0 {
		return nil
	}
	x := last.texts[len(last.texts)-1]
	if x.isRefusal || last.closing && x.repeated == 0 {
		return nil
	}
	return x
}

// lastShown returns the last item that is shown, or is about to be.
func (a *answer) lastShown() *item {
	for _, e := range slices.Backward(a.queue.entries[a.queue.head:]) {
		if e.item != nil && e.item.fate == shown {
			return e.item
		}
	}
	return a.last
}
