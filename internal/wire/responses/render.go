package responses

import (
	"cmp"
	"encoding/json"
	"strconv"

	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/wire/sse"
)

// eventWriter gives the events of the joined answer their form.
type eventWriter struct {
	named     bool // events have names
	sequence  int  // the number of the last event shown, or none if they have none
	renumbers bool // something was shown that turn 1 does not have
}

// itemNumbers gives items their indexes and ids.
type itemNumbers struct {
	moved bool           // nothing is shown as it came any more: indexes count what was shown
	count int            // how many indexes the shown items take
	last  *item          // the last one shown
	ids   map[string]int // those that are taken, and the number that the next item with each gets
}

// add gives an item its index.
func (n *itemNumbers) add(it *item) {
	it.shown.index = it.index
	if n.moved {
		it.shown.index = n.count
	}
	n.count = max(n.count, it.shown.index+1)
	n.last = it
}

// unused returns the id, or the id with a number if an earlier item has it.
func (n *itemNumbers) unused(id string) string {
	number, taken := n.ids[id]
	if !taken {
		return id
	}
	own := id
	for ; taken; number++ {
		own = id + "_" + strconv.Itoa(number)
		_, taken = n.ids[own]
	}
	n.ids[id] = number
	return own
}

// reserve takes an id, so that no later item gets it.
func (n *itemNumbers) reserve(id string) {
	if _, taken := n.ids[id]; taken || id == "" {
		return
	}
	if n.ids == nil {
		n.ids = make(map[string]int)
	}
	n.ids[id] = 2
}

// release gives up an id.
func (n *itemNumbers) release(id string) { delete(n.ids, id) }

// follow notes the number of an event that is shown as it came, or none.
func (w *eventWriter) follow(sequence int) {
	if sequence != none {
		w.sequence = sequence
	}
}

// number returns the number of the next event to show.
func (w *eventWriter) number() []byte {
	w.sequence++
	return strconv.AppendInt(nil, int64(w.sequence), 10)
}

// event returns an event of the type with the data.
func (w *eventWriter) event(kind string, data []byte) sse.Event {
	if !w.named {
		kind = ""
	}
	return sse.Written(kind, data, sse.Object)
}

// render edits an event for the joined answer: its number, and the index and the id
// of its item. It leaves values that are already right unchanged.
func (w *eventWriter) render(e *entry) {
	data := e.event.Data()
	isFirst := e.item == nil || e.item.turn.first
	if !w.renumbers && isFirst { // it stays as it came
		w.follow(e.sequence)
		if !e.asItCame && !e.event.Written {
			e.event = w.event(e.kind(), data)
		}
		return
	}
	r := eventEdit{writer: w, entry: e}
	s := rawjson.Over(data)
	for name := range s.Members() {
		r.member(name, &s)
	}
	if !s.OK() {
		return // it can't be edited
	}
	if !r.numbered && !isFirst && w.sequence != none {
		r.edits.Insert(s.At()-1, append([]byte(`,"sequence_number":`), w.number()...))
	}
	if !e.event.Written && !e.asItCame || len(r.edits) > 0 {
		e.event = w.event(e.kind(), r.edits.Apply(data))
	}
}

// kind returns the type of the event: in its data, or else its name.
func (e *entry) kind() string {
	return cmp.Or(rawjson.TextOf(rawjson.Member(e.event.Data(), "type")), string(e.event.Name()))
}

// eventEdit is how an event is edited.
type eventEdit struct {
	writer   *eventWriter
	entry    *entry
	edits    rawjson.Edits
	numbered bool // the event has a number
}

// member edits a member, whose value is next in s.
func (r *eventEdit) member(name string, s *rawjson.Scanner) {
	it, x := r.entry.item, r.entry.text
	switch {
	case name == "sequence_number" && r.writer.sequence == none:
		from := s.KeyAt()
		s.Skip()
		r.edits.Remove(r.entry.event.Data(), from, s.At())
	case name == "sequence_number":
		r.numbered = true
		r.edits.ReplaceNext(s, r.writer.number())
	case it == nil:
	case name == "output_index" && it.shown.index != it.index:
		r.edits.ReplaceNext(s, strconv.AppendInt(nil, int64(it.shown.index), 10))
	case name == "item_id" && it.shown.id != it.id:
		r.edits.ReplaceNext(s, rawjson.Quote(it.shown.id))
	case name == "item":
		it.edit(&r.edits, s)
	case x != nil && x.changed() && name == "part":
		x.edit(&r.edits, s)
	case x != nil && x.changed():
		x.editMember(name, &r.edits, s)
	}
}

// edit edits the next item in s: its id, and the texts of a message.
func (it *item) edit(e *rawjson.Edits, s *rawjson.Scanner) {
	for name := range s.Members() {
		switch {
		case name == "id" && it.shown.id != it.id:
			e.ReplaceNext(s, rawjson.Quote(it.shown.id))
		case name == "content" && it.kind == message:
			for i := range s.Elements() {
				if x := it.shown.textAt(i); x != nil && x.changed() {
					x.edit(e, s)
				}
			}
		}
	}
}

// edit edits the next part in s.
func (x *text) edit(e *rawjson.Edits, s *rawjson.Scanner) {
	for name := range s.Members() {
		x.editMember(name, e, s)
	}
}

// editMember edits a member of the part, or of an event about it.
func (x *text) editMember(name string, e *rawjson.Edits, s *rawjson.Scanner) {
	switch name {
	case "text":
		raw := s.Raw()
		e.Replace(s.At()-len(raw), s.At(), rawjson.Quote(x.final(rawjson.TextOf(raw))))
	case "logprobs":
		e.ReplaceNext(s, []byte("[]"))
	}
}

// about returns an event about an item, or about the text x of it, that the model did
// not send.
func (w *eventWriter) about(it *item, x *text, r role, kind string, members ...any) entry {
	all := []any{"type", kind, "output_index", it.index, "item_id", it.id}
	if members[0] == "item" {
		all = all[:4]
	}
	if w.sequence != none {
		all = append(all, "sequence_number", 0)
	}
	data := rawjson.Object(append(all, members...)...)
	return entry{event: w.event(kind, data), item: it, text: x, sequence: none, role: r}
}

// delta returns the event that shows an addition to a text.
func (w *eventWriter) delta(x *text, added string) entry {
	return w.about(x.item, nil, content, textDelta, "content_index", x.content, "delta", added, "logprobs", x.take(added))
}

// partAdded returns the event that begins a part.
func (w *eventWriter) partAdded(x *text) entry {
	return w.about(x.item, nil, opening, partAdded, "content_index", x.content, "part", x.part(""))
}

// textDone returns the event that repeats a text.
func (w *eventWriter) textDone(x *text, whole string) entry {
	if x.isRefusal {
		return w.about(x.item, x, closing, refusalDone, "content_index", x.content, "refusal", whole)
	}
	return w.about(x.item, x, closing, textDone, "content_index", x.content, "text", whole, "logprobs", []string{})
}

// partDone returns the event that ends a part.
func (w *eventWriter) partDone(x *text, whole string) entry {
	return w.about(x.item, x, closing, partDone, "content_index", x.content, "part", x.part(whole))
}

// part returns the part of the message with its shown text.
func (x *text) part(shown string) json.RawMessage {
	if x.isRefusal {
		return rawjson.Object("type", "refusal", "refusal", shown)
	}
	notes := make([]json.RawMessage, 0, len(x.annotations))
	for _, raw := range x.annotations {
		notes = append(notes, raw)
	}
	return rawjson.Object("type", "output_text", "text", shown, "annotations", notes, "logprobs", []string{})
}
