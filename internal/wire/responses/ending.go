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
	left := slices.Clone(t.items)
	addClosed := func(before int) {
		for i, it := range left {
			if it != nil && it.unended && i < before {
				all, left[i] = append(all, it.done), nil
			}
		}
	}
	for _, raw := range elements {
		f := itemOf(raw)
		i := matching(left, &f)
		if i < 0 {
			if !slices.Contains(t.dropped, rawjson.TextOf(f.callID)) || f.kind != functionCall {
				all = append(all, raw)
			}
			continue
		}
		it := left[i]
		addClosed(i)
		if left[i] = nil; it.fate == dropped {
			continue
		}
		var e rawjson.Edits
		s := rawjson.Over(raw)
		if it.edit(&e, &s); s.OK() {
			raw = e.Apply(raw)
		}
		all = append(all, raw)
	}
	addClosed(len(left))
	return all
}

// matching returns the index of the item that belongs to f: the one with its
// id, or else the first of its kind.
func matching(items []*item, f *fields) int {
	id := rawjson.TextOf(f.id)
	i := slices.IndexFunc(items, func(it *item) bool {
		return it != nil && id != "" && it.wireID == id && it.kind == f.kind
	})
	if i < 0 {
		i = slices.IndexFunc(items, func(it *item) bool { return it != nil && it.kind == f.kind })
	}
	return i
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
