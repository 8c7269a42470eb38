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
	over  bool           // the last of them has ended
	last  *item          // the last one shown
	count int            // how many indexes the shown items take
	ids   map[string]int // the ids that are taken, and the number that the next item with each gets
	texts []*text        // that the engine has not shown all of, in their order
	queue queue
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
	index    index[*item]
	dropped  map[string]bool // the ids of the calls that are left out
	response []byte          // its response object; nil if it has not ended
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
	byContent map[int]*text // the texts by their index, once there are several
	pending   int           // how many texts the engine has not shown all of
	firm      int           // how many events in the queue would show that the item is there
	added     []byte        // as its first event has it
	done      []byte        // as its last event has it
	arguments []byte        // of a call in a later turn, as it came
}

// text is the text of a part of a message, or a refusal.
type text struct {
	item      *item
	content   int    // its index
	held      string // what the engine has not shown yet
	length    int    // of what is shown
	shown     []byte // that, in later turns
	streams   bool   // it comes in deltas
	cut       bool   // not all of it is shown
	notice    string // what was added to it
	late      string // what is still to be shown before the events in the queue that repeat it
	repeated  int    // how many of these there are
	said      bool   // the event with the whole text is in
	ended     bool   // and the event that ends the part
	isRefusal bool

	annotations [][]byte
}

// current returns the turn whose events are shown.
func (a *answer) current() *turn {
	if len(a.turns) == 0 || a.over {
		a.over = false
		a.turns = append(a.turns, &turn{first: len(a.turns) == 0, index: make(index[*item])})
	}
	return a.turns[len(a.turns)-1]
}

// find returns the item that an event is about, or nil.
func (t *turn) find(ev *event) *item {
	it, _ := t.index.find(ev)
	return it
}

// open returns the item that an event begins.
func (a *answer) open(ev *event) *item {
	t, f := a.current(), &ev.fields
	it := &item{kind: f.kind, turn: t, wireIndex: ev.output, wireID: rawjson.TextOf(f.id), fate: shown}
	it.id = it.wireID
	if !t.first {
		it.id, it.added = a.unused(it.wireID), slices.Clone(ev.item)
	}
	a.reserve(it.id)
	switch {
	case it.kind == reasoning && (a.watches || !t.first), it.kind == message && !t.first:
		it.fate = open
	case it.kind == compaction && !t.first:
		it.fate = dropped // it knows of the prompt
	}
	t.items = append(t.items, it)
	t.index.add(it.wireIndex, it.wireID, it)
	return it
}

// unused returns the id, or the id with a number if an earlier item has it.
func (a *answer) unused(id string) string {
	n, taken := a.ids[id]
	if !taken {
		return id
	}
	own := id
	for ; taken; n++ {
		own = id + "_" + strconv.Itoa(n)
		_, taken = a.ids[own]
	}
	a.ids[id] = n
	return own
}

// reserve takes an id, so that no later item gets it.
func (a *answer) reserve(id string) {
	if _, taken := a.ids[id]; taken || id == "" {
		return
	}
	if a.ids == nil {
		a.ids = make(map[string]int)
	}
	a.ids[id] = 2
}

// decide sets the fate of an item.
func (a *answer) decide(it *item, f fate) {
	if it.fate == shown {
		a.queue.firm -= it.firm
	}
	if it.fate = f; f == shown {
		a.queue.firm += it.firm
	}
}

// text returns the text of a part of a message.
func (it *item) text(content int) *text {
	if x := it.textAt(content); x != nil {
		return x
	}
	x := &text{item: it, content: content}
	if it.texts = append(it.texts, x); len(it.texts) == 2 {
		it.byContent = map[int]*text{it.texts[0].content: it.texts[0]}
	}
	if it.byContent != nil {
		it.byContent[content] = x
	}
	return x
}

// textAt returns the text of a part, or nil if it has none.
func (it *item) textAt(content int) *text {
	if len(it.texts) == 1 && it.texts[0].content == content {
		return it.texts[0]
	}
	return it.byContent[content]
}

// hear records a text that was reported to the engine.
func (a *answer) hear(x *text, said string) {
	if said == "" {
		return
	}
	if x.held == "" {
		a.texts = append(a.texts, x)
		x.item.pending++
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
		a.extend(x, said[:n])
		if said, x.held = said[n:], x.held[n:]; x.held == "" {
			a.texts = a.texts[1:]
			x.item.pending--
		}
	}
	return pieces, said
}

// extend adds to what is shown of a text.
func (a *answer) extend(x *text, said string) {
	a.decide(x.item, shown)
	x.length += len(said)
	if !x.item.turn.first {
		x.shown = append(x.shown, said...)
	}
}

// cutTexts leaves out the text that the engine has not shown. It reports
// whether there was any.
func (a *answer) cutTexts() bool {
	for _, x := range a.texts {
		x.held, x.cut = "", true
		x.item.pending = 0
	}
	wasCut := len(a.texts) > 0
	a.texts = nil
	return wasCut
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
// shown, and items of which nothing is left. If the turn was cut off, its open
// calls stay open: half a call must not look whole.
func (a *answer) settle(isCut bool) {
	a.cutTexts()
	t := a.turns[len(a.turns)-1]
	a.keepEmpty(t)
	a.flush(false)
	for _, it := range t.items {
		switch {
		case it.fate == open:
			a.decide(it, dropped)
		case it.fate != shown || it.closing || t.first:
		case !it.kind.isCall():
			a.close(it)
		case !isCut:
			a.closeCall(it)
		}
	}
}

// forget frees the ids of a failed turn's items that were not shown, for when
// the turn is sent again.
func (a *answer) forget() {
	t := a.turns[len(a.turns)-1]
	t.items = slices.DeleteFunc(t.items, func(it *item) bool {
		if !it.announced {
			delete(a.ids, it.id)
		}
		return !it.announced
	})
}

// keepEmpty shows the messages that came without text, but not those whose text
// was removed.
func (a *answer) keepEmpty(t *turn) {
	for _, it := range t.items {
		isCut := slices.ContainsFunc(it.texts, func(x *text) bool { return x.cut })
		if it.kind == message && it.fate == open && it.closing && !isCut {
			a.decide(it, shown)
		}
	}
}

// endTurn ends the current turn.
func (a *answer) endTurn() { a.over = len(a.turns) > 0 }
