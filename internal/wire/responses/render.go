package responses

import (
	"cmp"
	"encoding/json"
	"strconv"

	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/wire/sse"
)

// render edits an event for the joined answer: its number, and the index and
// the id of its item. It leaves values that are already right unchanged.
func (a *answer) render(e *entry) {
	data := e.event.Data()
	isFirst := e.item == nil || e.item.turn.first
	if !a.grown && isFirst { // it stays as it came
		if a.follow(e.wireSequence); !e.asItCame && !e.event.Written {
			e.event = a.write(e.kind(), data)
		}
		return
	}
	r := rendering{answer: a, entry: e}
	s := rawjson.Over(data)
	for name := range s.Members() {
		r.member(name, &s)
	}
	if !s.OK() {
		return // it can't be edited
	}
	if !r.numbered && !isFirst && a.sequence != none {
		r.edits.Insert(s.At()-1, append([]byte(`,"sequence_number":`), a.number()...))
	}
	if !e.event.Written && !e.asItCame || len(r.edits) > 0 {
		e.event = a.write(e.kind(), r.edits.Apply(data))
	}
}

// kind returns the type of the event: in its data, or else its name.
func (e *entry) kind() string {
	return cmp.Or(rawjson.TextOf(rawjson.Member(e.event.Data(), "type")), string(e.event.Name()))
}

// follow notes the number of an event that is shown as it came, or none.
func (a *answer) follow(sequence int) {
	if sequence != none {
		a.sequence = sequence
	}
}

// number returns the number of the next event to show.
func (a *answer) number() []byte {
	a.sequence++
	return strconv.AppendInt(nil, int64(a.sequence), 10)
}

// rendering is how an event is edited.
type rendering struct {
	*answer
	*entry

	edits    rawjson.Edits
	numbered bool // the event has a number
}

// member edits a member, whose value is next in s.
func (r *rendering) member(name string, s *rawjson.Scanner) {
	switch {
	case name == "sequence_number" && r.sequence == none:
		from := s.KeyAt()
		s.Skip()
		r.edits.Remove(r.event.Data(), from, s.At())
	case name == "sequence_number":
		r.numbered = true
		replaceNext(&r.edits, s, r.number())
	case r.item == nil:
	case name == "output_index" && r.item.index != r.item.wireIndex:
		replaceNext(&r.edits, s, strconv.AppendInt(nil, int64(r.item.index), 10))
	case name == "item_id" && r.item.id != r.item.wireID:
		replaceNext(&r.edits, s, rawjson.Quote(r.item.id))
	case name == "item":
		r.item.edit(&r.edits, s)
	case r.text != nil && r.text.changed() && name == "part":
		r.text.edit(&r.edits, s)
	case r.text != nil && r.text.changed():
		r.text.editMember(name, &r.edits, s)
	}
}

// replaceNext replaces the next value in s.
func replaceNext(e *rawjson.Edits, s *rawjson.Scanner, with []byte) {
	raw := s.Raw()
	e.Replace(s.At()-len(raw), s.At(), with)
}

// write returns an event of the type with the data.
func (a *answer) write(kind string, data []byte) sse.Event {
	if !a.named {
		kind = ""
	}
	head := sse.AppendHead(make([]byte, 0, len(kind)+len(data)+24), kind)
	from := len(head)
	return sse.New(append(head, data...), from, sse.Object)
}

// edit edits the next item in s: its id, and the texts of a message.
func (it *item) edit(e *rawjson.Edits, s *rawjson.Scanner) {
	for name := range s.Members() {
		switch {
		case name == "id" && it.id != it.wireID:
			replaceNext(e, s, rawjson.Quote(it.id))
		case name == "content" && it.kind == message:
			for i := range s.Elements() {
				if x := it.textAt(i); x != nil && x.changed() {
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
		replaceNext(e, s, []byte("[]"))
	}
}

// deltaOf returns the event that shows a piece of a text.
func (a *answer) deltaOf(p piece) entry {
	return a.written(p.text.item, p.text, content, textDelta, "content_index", p.text.content, "delta", p.said, "logprobs", []string{})
}

// written returns an event about an item that the model did not send.
func (a *answer) written(it *item, x *text, r role, kind string, members ...any) entry {
	all := []any{"type", kind, "output_index", it.wireIndex, "item_id", it.wireID}
	if _, isItem := members[0].(string); isItem && members[0] == "item" {
		all = all[:4]
	}
	if a.sequence != none {
		all = append(all, "sequence_number", 0)
	}
	if r == content {
		x = nil // it repeats nothing
	}
	data := rawjson.Object(append(all, members...)...)
	return entry{event: a.write(kind, data), item: it, text: x, wireSequence: none, role: r}
}

// begin opens a message that began without its own event.
func (a *answer) begin(it *item, phase []byte) {
	members := []any{"id", it.wireID, "type", "message", "status", "in_progress", "role", "assistant", "content", []string{}}
	if len(phase) > 0 {
		members = append(members, "phase", json.RawMessage(phase))
	}
	it.added = rawjson.Object(members...)
	a.queue.push(a.written(it, nil, opening, itemAdded, "item", json.RawMessage(it.added)))
	x := it.text(0)
	a.queue.push(a.written(x.item, nil, opening, partAdded, "content_index", x.content, "part", x.partOf("")))
}

// partOf returns the part of the message with its shown text.
func (x *text) partOf(said string) json.RawMessage {
	if x.isRefusal {
		return rawjson.Object("type", "refusal", "refusal", said)
	}
	notes := make([]json.RawMessage, 0, len(x.annotations))
	for _, raw := range x.annotations {
		notes = append(notes, raw)
	}
	return rawjson.Object("type", "output_text", "text", said, "annotations", notes, "logprobs", []string{})
}

// close ends an item that its turn has left open, and the parts of it that are
// open.
func (a *answer) close(it *item) {
	with := map[string][]byte{"status": []byte(`"incomplete"`)}
	switch it.kind {
	case message:
		parts := make([]json.RawMessage, 0, len(it.texts))
		for _, x := range it.texts {
			parts = append(parts, x.partOf(string(x.shown)))
			a.closePart(x)
		}
		all, _ := json.Marshal(parts) //nolint:errchkjson // it is JSON already
		with["status"], with["content"] = []byte(`"completed"`), all
	case hosted:
		with["status"] = []byte(`"failed"`)
	}
	a.finish(it, with)
}

// closePart ends a part, as far as its turn has not.
func (a *answer) closePart(x *text) {
	it, said := x.item, string(x.shown)
	switch {
	case x.said:
	case x.isRefusal:
		a.queue.push(a.written(it, x, closing, refusalDone, "content_index", x.content, "refusal", said))
	default:
		a.queue.push(a.written(it, x, closing, textDone, "content_index", x.content, "text", said, "logprobs", []string{}))
	}
	if !x.ended {
		a.queue.push(a.written(it, x, closing, partDone, "content_index", x.content, "part", x.partOf(said)))
	}
}

// closeCall ends a function call that a turn has left open although it has
// ended well, if its arguments are whole.
func (a *answer) closeCall(it *item) {
	if it.kind == functionCall && rawjson.ObjectEnd(it.arguments) == len(it.arguments) && json.Valid(it.arguments) {
		a.finish(it, map[string][]byte{"status": []byte(`"completed"`), "arguments": rawjson.Quote(string(it.arguments))})
	}
}

// finish writes the last event of an item that its turn has left open, with
// other values of some members.
func (a *answer) finish(it *item, with map[string][]byte) {
	it.closing, it.unended = true, true
	it.done = replaceMembers(it.added, with, []string{"status", "content", "arguments"})
	a.queue.push(a.written(it, nil, closing, itemDone, "item", json.RawMessage(it.done)))
}
