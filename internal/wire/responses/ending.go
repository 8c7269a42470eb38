package responses

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/wire/sse"
)

// end returns the event that ends the answer: the one that ended the last turn,
// with the response object of the first turn and the items of all turns.
func (a *answer) end(last []byte) sse.Event {
	response := a.joined(last)
	var e rawjson.Edits
	s := rawjson.Over(a.ending)
	numbered := false
	for name := range s.Members() {
		from := s.KeyAt()
		switch name {
		case "response":
			raw := s.Raw()
			e.Replace(s.At()-len(raw), s.At(), response)
		case "sequence_number":
			raw := s.Raw()
			numbered = true
			if a.sequence == none {
				e.Remove(a.ending, from, s.At())
				break
			}
			e.Replace(s.At()-len(raw), s.At(), a.number())
		}
	}
	if !numbered && a.sequence != none {
		e.Insert(s.At()-1, append([]byte(`,"sequence_number":`), a.number()...))
	}
	return a.write(rawjson.TextOf(rawjson.Member(a.ending, "type")), e.Apply(a.ending))
}

// ofTheLast are the members of a response object that tell how it ended. The
// joined answer takes them from the last turn.
var ofTheLast = []string{ //nolint:gochecknoglobals // constant
	"status", "completed_at", "incomplete_details", "error", "service_tier", "end_turn", "moderation",
}

// joined returns the response object of the answer.
func (a *answer) joined(last []byte) []byte {
	with := map[string][]byte{"usage": a.usage, "output": a.output()}
	for _, name := range ofTheLast {
		with[name] = rawjson.Member(last, name)
	}
	return replaceMembers(a.base, with, append(slices.Clone(ofTheLast), "output", "usage"))
}

// replaceMembers returns the object with the values that are not nil. They
// replace its own members, or are added at its end.
func replaceMembers(object []byte, with map[string][]byte, order []string) []byte {
	var e rawjson.Edits
	s := rawjson.Over(object)
	empty := true
	done := make(map[string]bool)
	for name := range s.Members() {
		empty = false
		if value := with[name]; value != nil {
			raw := s.Raw()
			e.Replace(s.At()-len(raw), s.At(), value)
			done[name] = true
		}
	}
	for _, name := range order {
		if value := with[name]; value != nil && !done[name] {
			member := append(append(rawjson.Quote(name), ':'), value...)
			if !empty {
				member = append([]byte{','}, member...)
			}
			empty = false
			e.Insert(s.At()-1, member)
		}
	}
	if !s.OK() {
		return object
	}
	return e.Apply(object)
}

// output returns the items that were shown, as in the turns' own response
// objects. These may differ from the events, and clients read either.
func (a *answer) output() []byte {
	all := make([][]byte, 0, len(a.turns))
	listed := slices.ContainsFunc(a.turns, func(t *turn) bool { return len(t.listed(a)) > 0 })
	for _, t := range a.turns {
		elements := t.listed(a)
		if len(elements) == 0 && (listed || !t.listsNothing(a)) {
			elements = t.finished()
		}
		all = append(all, t.edited(elements)...)
	}
	return append(append([]byte{'['}, bytes.Join(all, []byte{','})...), ']')
}

// object returns the response object of the turn, nil if it has none.
func (t *turn) object(a *answer) []byte {
	if t.first {
		return a.base
	}
	return t.response
}

// listed returns the items in the turn's response object.
func (t *turn) listed(a *answer) [][]byte {
	return rawjson.Elements(rawjson.Member(t.object(a), "output"))
}

// listsNothing reports whether the turn's response object has an empty list of
// items.
func (t *turn) listsNothing(a *answer) bool {
	s := rawjson.Over(rawjson.Member(t.object(a), "output"))
	return s.Kind() == '['
}

// finished returns the items of the turn as in the events that ended them.
func (t *turn) finished() [][]byte {
	all := make([][]byte, 0, len(t.items))
	for _, it := range t.items {
		if it.done != nil && it.announced {
			all = append(all, it.done)
		}
	}
	return all
}

// edited returns the turn's items as they are shown, including those that the
// turn left open and carryon has closed.
func (t *turn) edited(elements [][]byte) [][]byte {
	all := make([][]byte, 0, len(elements))
	left, next := remainingOf(t.items), 0
	addClosed := func(before int) {
		for ; next < before; next++ {
			if it := t.items[next]; it.unended && left.has(next) {
				all = append(all, it.done)
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
		it := t.items[i]
		if it.fate == dropped {
			continue
		}
		var e rawjson.Edits
		s := rawjson.Over(raw)
		if it.edit(&e, &s); s.OK() {
			raw = e.Apply(raw)
		}
		all = append(all, raw)
	}
	addClosed(len(t.items))
	return all
}

// hides reports whether an item that was not streamed must not be shown.
func (t *turn) hides(f *fields) bool {
	return f.kind == functionCall && t.dropped[rawjson.TextOf(f.callID)] || f.kind == compaction && !t.first
}

// remaining are the items of a turn that were not met in its response object.
type remaining struct {
	taken  []bool
	byID   map[kindID][]int // the indexes of items, in order
	byKind map[kind][]int
}

type kindID struct {
	kind kind
	id   string
}

func remainingOf(items []*item) *remaining {
	r := &remaining{make([]bool, len(items)), make(map[kindID][]int), make(map[kind][]int)}
	for i, it := range items {
		r.byKind[it.kind] = append(r.byKind[it.kind], i)
		if it.wireID != "" {
			key := kindID{it.kind, it.wireID}
			r.byID[key] = append(r.byID[key], i)
		}
	}
	return r
}

func (r *remaining) has(i int) bool { return !r.taken[i] }

// take takes the item that belongs to f, and returns its index: the one with
// its id, or else the first of its kind. It returns -1 if there is none.
func (r *remaining) take(f *fields) int {
	key := kindID{f.kind, rawjson.TextOf(f.id)}
	i, left := r.first(r.byID[key])
	r.byID[key] = left
	if i < 0 {
		i, r.byKind[f.kind] = r.first(r.byKind[f.kind])
	}
	if i >= 0 {
		r.taken[i] = true
	}
	return i
}

// first returns the first of the indexes that is not taken, or -1, and the
// indexes after it.
func (r *remaining) first(indexes []int) (i int, rest []int) {
	for n, i := range indexes {
		if !r.taken[i] {
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
