package responses

import (
	"slices"
	"strconv"

	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/wire/sse"
)

// answer is the joined answer: its turns in order, shown as one response.
//
// Turn 1 is shown unchanged. From the first event that carryon changes on, all
// events get new numbers. An event waits in the queue until its form is
// certain: the end of a message, to which more text may be added; a message
// from which all text may be removed; and reasoning, which is shown only with
// the item after it.
type answer struct {
	named     bool   // events have names
	sequence  int    // the number of the last event shown, or none if they have none
	rewriting bool   // nothing is shown as it came any more
	watches   bool   // turn 1 may pause, so that its reasoning waits too
	saidDone  bool   // a turn has said [DONE]
	grown     bool   // something was shown that turn 1 does not have
	base      []byte // the response object of turn 1

	turns []*turn
	over  bool    // the last of them has ended
	items []*item // that are shown, in their order
	count int     // how many indexes they take
	texts []*text // that the engine has not shown all of, in their order
	queue []entry
	size  int         // of the queue, in bytes
	out   []sse.Event // ready to be shown
	next  int         // which of them is shown next
	spare bool        // the last event of out was written, and needs no blank line

	ending []byte // the event that ends the answer
	usage  []byte // that it shows
}

// turn is the state of a turn.
type turn struct {
	first    bool
	items    []*item
	dropped  []string // the ids of the calls that are left out
	response []byte   // its response object; nil if it has not ended
}

// fate says whether an item is shown.
type fate uint8

const (
	open fate = iota
	shown
	dropped
)

// item is an item of the answer.
type item struct {
	kind      kind
	turn      *turn
	wireIndex int    // as its turn has it
	wireID    string // likewise
	index     int    // as it is shown
	id        string // likewise
	fate      fate
	announced bool // its first event was shown
	unended   bool // the turn has left it open
	closing   bool // its last event is in
	closed    bool // and was shown
	texts     []*text
	added     []byte // as its first event has it
	done      []byte // as its last event has it
}

// text is the text of a part of a message.
type text struct {
	item    *item
	content int    // its index
	held    string // what the engine has not shown yet
	length  int    // of what is shown
	shown   []byte // that, in later turns
	streams bool   // it comes in deltas
	cut     bool   // not all of it is shown
	notice  string // what was added to it

	annotations [][]byte
}

// current returns the turn whose events are shown.
func (a *answer) current() *turn {
	if len(a.turns) == 0 || a.over {
		a.over = false
		a.turns = append(a.turns, &turn{first: len(a.turns) == 0})
	}
	return a.turns[len(a.turns)-1]
}

// find returns the turn's item that an event is about; see [reader.find].
func (t *turn) find(ev *event) *item {
	var found *item
	id := rawjson.TextView(ev.idOf())
	for _, it := range slices.Backward(t.items) {
		if ev.output != none && it.wireIndex != ev.output {
			continue
		}
		if id != "" && it.wireID == id {
			return it
		}
		if found == nil && ev.output != none {
			found = it
		}
	}
	return found
}

// open returns the item that an event begins.
func (a *answer) open(ev *event) *item {
	t, f := a.current(), &ev.fields
	it := &item{kind: f.kind, turn: t, wireIndex: ev.output, wireID: rawjson.TextOf(f.id), fate: shown}
	it.id = it.wireID
	if !t.first {
		it.id, it.added = a.unused(it.wireID), slices.Clone(ev.item)
	}
	if it.kind == reasoning && (a.watches || !t.first) || it.kind == message && !t.first {
		it.fate = open
	}
	t.items = append(t.items, it)
	return it
}

// unused returns the id, or the id with a number if an earlier item has it.
func (a *answer) unused(id string) string {
	taken := func(id string) bool {
		return slices.ContainsFunc(a.turns, func(t *turn) bool {
			return slices.ContainsFunc(t.items, func(other *item) bool { return other.id == id })
		})
	}
	for n, plain := 2, id; id != "" && taken(id); n++ {
		id = plain + "_" + strconv.Itoa(n)
	}
	return id
}

// text returns the text of a part of a message.
func (it *item) text(content int) *text {
	for _, x := range it.texts {
		if x.content == content {
			return x
		}
	}
	x := &text{item: it, content: content}
	it.texts = append(it.texts, x)
	return x
}

// isPending reports whether the engine may show more of the item's text.
func (it *item) isPending() bool {
	return slices.ContainsFunc(it.texts, func(x *text) bool { return x.held != "" })
}

// hear records a text that was reported to the engine.
func (a *answer) hear(x *text, said string) {
	if said == "" {
		return
	}
	if x.held == "" {
		a.texts = append(a.texts, x)
	}
	x.held += said
}

// piece is a piece of a text that is shown.
type piece struct {
	text *text
	said string
}

// show assigns text that the engine shows to the texts that were reported to
// it. It returns the pieces, and the rest that belongs to no text.
func (a *answer) show(said string) (pieces []piece, rest string) {
	for said != "" && len(a.texts) > 0 {
		x := a.texts[0]
		n := min(len(x.held), len(said))
		pieces = append(pieces, piece{x, said[:n]})
		x.add(said[:n])
		if said, x.held = said[n:], x.held[n:]; x.held == "" {
			a.texts = a.texts[1:]
		}
	}
	return pieces, said
}

func (x *text) add(said string) {
	x.item.fate = shown
	x.length += len(said)
	if !x.item.turn.first {
		x.shown = append(x.shown, said...)
	}
}

// changed reports whether the shown text differs from the model's.
func (x *text) changed() bool { return x.cut || x.notice != "" }

// final returns the shown text for the whole text of the model.
func (x *text) final(own string) string {
	if x.cut {
		own = own[:min(x.length, len(own))]
	}
	return own + x.notice
}

// settle ends the current turn. It leaves out text that the engine has not
// shown, and items of which nothing is left.
func (a *answer) settle() {
	for _, x := range a.texts {
		x.held, x.cut = "", true
	}
	a.texts = nil
	t := a.turns[len(a.turns)-1]
	t.keepEmpty()
	a.flush(false)
	for _, it := range t.items {
		switch {
		case it.fate == open:
			it.fate = dropped
		case it.fate == shown && !it.closing && !t.first:
			a.close(it)
		}
	}
	a.queue = slices.DeleteFunc(a.queue, func(e entry) bool { return e.item != nil && e.item.fate == dropped })
}

// forget removes a failed turn's items that were not shown, so that their ids
// are free when the turn is sent again.
func (a *answer) forget() {
	t := a.turns[len(a.turns)-1]
	t.items = slices.DeleteFunc(t.items, func(it *item) bool { return !it.announced })
}

// keepEmpty shows the messages that came without text, but not those whose text
// was removed.
func (t *turn) keepEmpty() {
	for _, it := range t.items {
		isCut := slices.ContainsFunc(it.texts, func(x *text) bool { return x.cut })
		if it.kind == message && it.fate == open && it.closing && !isCut {
			it.fate = shown
		}
	}
}

// endTurn ends the current turn.
func (a *answer) endTurn() { a.over = len(a.turns) > 0 }
