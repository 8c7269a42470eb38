package responses

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/wire"
	"github.com/carryon-go/carryon/internal/wire/sse"
)

// document reads and shows an answer that is not streamed.
type document struct {
	wire.Usage

	request *request
	turn    *turn   // the current one
	kept    []*turn // those that were kept
	firstID string
}

var _ adapter.Dialect[sse.Event] = (*document)(nil)

// Clone implements [adapter.Dialect].
func (d *document) Clone(e *sse.Event) sse.Event { return e.Clone() }

// EndTurn implements [adapter.Dialect].
func (d *document) EndTurn(keep bool) {
	d.Usage.EndTurn(keep)
	if keep && d.turn != nil {
		d.request.keep(d.firstID, &d.turn.read)
		d.kept = append(d.kept, d.turn)
	}
	d.turn = nil
}

// Read implements [adapter.Dialect].
func (d *document) Read(e *sse.Event, t adapter.TurnReader) {
	t.Size(len(e.Raw))
	turn := d.request.newTurn(len(d.kept) == 0)
	d.turn = turn
	if e.Kind != sse.Object {
		t.Fail(wire.ErrUnreadable)
		return
	}
	response := e.Data()
	turn.response = response
	if raw := rawjson.Member(response, "error"); !rawjson.IsNull(raw) && rawjson.Member(response, "output") == nil {
		t.Fail(wire.Reported(raw))
		return
	}
	s := rawjson.Over(rawjson.Member(response, "output"))
	for i := range s.Elements() {
		ev, from := event{kind: itemDone, output: i}, s.At()
		ev.fields = readItem(&s)
		ev.item = s.Since(from)
		turn.readItem(turn.open(&ev, t), &ev.fields, t)
	}
	if !turn.read.calls && !isSound(response) {
		t.Unknown() // nothing can be joined to it
	}
	if usage := turn.readEnd(response, t); usage != nil {
		d.SetUsage(usage)
	}
	if turn.first {
		d.firstID = rawjson.TextOf(turn.read.id)
		d.request.chains.forget(d.request.caller, d.firstID)
	}
}

// AppendShown implements [adapter.Dialect]. e belongs to the last turn that was
// kept.
func (d *document) AppendShown(dst []sse.Event, e *sse.Event, edit *adapter.Edit) []sse.Event {
	a := newAnswer(d.request.declares)
	a.output.items.moved = true
	a.end.usage = d.ShownUsage(edit.Usage, rawjson.Member(e.Data(), "usage"))
	from := 0
	for i, turn := range d.kept {
		end := len(edit.Text)
		if i < len(edit.TurnEnds) {
			end = edit.TurnEnds[i]
		}
		last := i == len(d.kept)-1
		a.addDocument(turn, edit.Text[from:end], func(call int) bool { return !last || edit.Call(call).Drop })
		from = end
	}
	if len(d.kept) > 0 {
		a.end.base = d.kept[0].response
	}
	a.addNotice(edit.Text[from:])
	return append(dst, sse.Document(bytes.Clone(a.end.joined(e.Data())), true))
}

// addDocument adds a turn with the part of its text that is shown. The edit
// identifies calls by their number in the turn.
func (a *answer) addDocument(t *turn, shown string, isDropped func(call int) bool) {
	a.end.begin(t)
	calls := 0
	for i, raw := range rawjson.Elements(rawjson.Member(t.response, "output")) {
		ev := event{kind: itemDone, output: i}
		ev.setItem(raw)
		it := a.enter(t, &ev)
		it.shown.begun, it.shown.ended, it.shown.done = true, true, raw
		switch it.kind {
		case functionCall:
			calls++
			if isDropped(calls - 1) {
				a.leaveOut(it, &ev)
			}
		case message:
			a.hideTexts(it, &ev)
		}
	}
	a.show(shown)
	isCut := a.texts.cut()
	a.keepEmpty(t)
	t.shown.decide(t.first && !isCut && len(t.shown.dropped) == 0)
	for _, it := range t.shown.items {
		if it.shown.visibility == visible {
			a.output.items.last, it.shown.ended = it, false // more may be added to it
		}
	}
}

// decide decides whether the items that are still undecided are shown. It leaves out
// messages without remaining text, and reasoning that nothing follows. Turn 1 is kept
// whole unless it paused.
func (s *turnShown) decide(isWhole bool) {
	follows := false
	for _, it := range slices.Backward(s.items) {
		v := &it.shown.visibility
		switch {
		case *v != undecided:
		case isWhole, it.kind == reasoning && follows:
			*v = visible
		default:
			*v = dropped
		}
		follows = follows || *v == visible
	}
	for _, it := range s.items {
		if it.kind == reasoning && it.shown.visibility == dropped && s.endsIn(it) {
			it.shown.visibility = visible
		}
	}
}

// responseEnd is the end of the answer, with the response object.
type responseEnd struct {
	turns []*turn // of which something was shown
	base  []byte  // the response object of turn 1
	event []byte  // the event that ends the answer
	usage []byte  // that it shows
}

// begin records that something of a turn is shown.
func (n *responseEnd) begin(t *turn) {
	if n.lastTurn() != t {
		n.turns = append(n.turns, t)
	}
}

// lastTurn returns the last turn of which something was shown, or nil.
func (n *responseEnd) lastTurn() *turn {
	if len(n.turns) == 0 {
		return nil
	}
	return n.turns[len(n.turns)-1]
}

// write returns the event that ends the answer: the one that ended the last turn, with
// the response object of the first turn and the items of all turns. The last turn's
// response object says how it ended.
func (n *responseEnd) write(w *eventWriter, last []byte) sse.Event {
	response := n.joined(last)
	var e rawjson.Edits
	s := rawjson.Over(n.event)
	numbered := false
	for name := range s.Members() {
		from := s.KeyAt()
		switch name {
		case "response":
			e.ReplaceNext(&s, response)
		case "sequence_number":
			numbered = true
			if w.sequence == none {
				s.Skip()
				e.Remove(n.event, from, s.At())
				break
			}
			e.ReplaceNext(&s, w.number())
		}
	}
	if !numbered && w.sequence != none {
		e.Insert(s.At()-1, append([]byte(`,"sequence_number":`), w.number()...))
	}
	return w.event(rawjson.TextOf(rawjson.Member(n.event, "type")), e.Apply(n.event))
}

// ofTheLast are the members of a response object that tell how it ended. The
// joined answer takes them from the last turn.
var ofTheLast = []string{ //nolint:gochecknoglobals // constant
	"status", "completed_at", "incomplete_details", "error", "service_tier", "end_turn", "moderation",
}

// joined returns the response object of the answer.
func (n *responseEnd) joined(last []byte) []byte {
	with := make([]rawjson.Change, 0, len(ofTheLast)+2)
	for _, name := range ofTheLast {
		if value := rawjson.Member(last, name); value != nil {
			with = append(with, rawjson.Set(name, value))
		}
	}
	with = append(with, rawjson.Set("output", n.output()))
	if n.usage != nil {
		with = append(with, rawjson.Set("usage", n.usage))
	}
	return rawjson.With(n.base, with...)
}

// output returns the items that were shown, as in the turns' own response
// objects. These may differ from the events, and clients read either.
func (n *responseEnd) output() []byte {
	all := make([][]byte, 0, len(n.turns))
	listed := slices.ContainsFunc(n.turns, func(t *turn) bool { return len(n.listed(t)) > 0 })
	for _, t := range n.turns {
		elements := n.listed(t)
		if len(elements) == 0 && (listed || !n.listsNothing(t)) {
			elements = t.finished()
		}
		all = append(all, t.edited(elements)...)
	}
	return append(append([]byte{'['}, bytes.Join(all, []byte{','})...), ']')
}

// outputOf returns the list of items in a turn's response object, or nil if it has none.
func (n *responseEnd) outputOf(t *turn) []byte {
	object := t.response
	if t.first {
		object = n.base
	}
	return rawjson.Member(object, "output")
}

// listed returns the items in a turn's response object.
func (n *responseEnd) listed(t *turn) [][]byte { return rawjson.Elements(n.outputOf(t)) }

// listsNothing reports whether a turn's response object has an empty list of items.
func (n *responseEnd) listsNothing(t *turn) bool {
	s := rawjson.Over(n.outputOf(t))
	return s.Kind() == '['
}

// finished returns the items of the turn as in the events that ended them.
func (t *turn) finished() [][]byte {
	items := t.shown.items
	all := make([][]byte, 0, len(items))
	for _, it := range items {
		if it.shown.done != nil && it.shown.begun {
			all = append(all, it.shown.done)
		}
	}
	return all
}

// edited returns the turn's items as they are shown, including those that the
// turn left open and carryon has closed.
func (t *turn) edited(elements [][]byte) [][]byte {
	all := make([][]byte, 0, len(elements))
	items := t.shown.items
	left, next := unmatchedOf(items), 0
	addClosed := func(before int) {
		for ; next < before; next++ {
			if s := &items[next].shown; s.leftOpen && !left.taken[next] {
				all = append(all, s.done)
				left.taken[next] = true
			}
		}
	}
	for _, raw := range elements {
		f := itemOf(raw)
		i := left.take(&f)
		if i < 0 {
			if !t.hides(&f) {
				all = append(all, raw)
			}
			continue
		}
		addClosed(i)
		it := items[i]
		if it.shown.visibility == dropped {
			continue
		}
		var e rawjson.Edits
		s := rawjson.Over(raw)
		it.edit(&e, &s)
		if s.OK() {
			raw = e.Apply(raw)
		}
		all = append(all, raw)
	}
	addClosed(len(items))
	return all
}

// hides reports whether an item that was not streamed must not be shown.
func (t *turn) hides(f *fields) bool {
	switch f.kind {
	case functionCall:
		return t.read.tools.isPause(f.nameOf()) || t.shown.dropped[rawjson.TextOf(f.callID)]
	case compaction:
		return !t.first
	}
	return false
}

// unmatched are the items of a turn that were not met in its response object.
type unmatched struct {
	taken  []bool
	byID   map[kindID][]int // the indexes of items, in order
	byKind map[kind][]int
}

type kindID struct {
	kind kind
	id   string
}

func unmatchedOf(items []*item) *unmatched {
	u := &unmatched{make([]bool, len(items)), make(map[kindID][]int), make(map[kind][]int)}
	for i, it := range items {
		u.byKind[it.kind] = append(u.byKind[it.kind], i)
		if it.id != "" {
			key := kindID{it.kind, it.id}
			u.byID[key] = append(u.byID[key], i)
		}
	}
	return u
}

// take takes the item that belongs to f, and returns its index: the one with
// its id, or else the first of its kind. It returns -1 if there is none.
func (u *unmatched) take(f *fields) int {
	key := kindID{f.kind, rawjson.TextOf(f.id)}
	i, left := u.first(u.byID[key])
	u.byID[key] = left
	if i < 0 {
		i, u.byKind[f.kind] = u.first(u.byKind[f.kind])
	}
	if i >= 0 {
		u.taken[i] = true
	}
	return i
}

// first returns the first of the indexes that is not taken, or -1, and the
// indexes after it.
func (u *unmatched) first(indexes []int) (i int, after []int) {
	for n, i := range indexes {
		if !u.taken[i] {
			return i, indexes[n+1:]
		}
	}
	return -1, nil
}

// isSound reports whether a response object is JSON and has no member twice
// that carryon replaces: replacements may be much larger.
func isSound(response []byte) bool {
	met := make(map[string]bool)
	s := rawjson.Over(response)
	for name := range s.Members() {
		if met[name] && (name == "output" || name == "usage" || slices.Contains(ofTheLast, name)) {
			return false
		}
		met[strings.Clone(name)] = true
	}
	return json.Valid(response)
}
