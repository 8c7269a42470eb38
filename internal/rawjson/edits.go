package rawjson

import (
	"bytes"
	"encoding/json"
	"slices"
)

// Edits are changes of a JSON text. The zero value changes nothing.
type Edits []edit

type edit struct {
	from, to int
	with     []byte
}

// Replace replaces the bytes between two offsets by with. Edits must not overlap.
func (e *Edits) Replace(from, to int, with []byte) {
	*e = append(*e, edit{from, to, with})
}

// Insert inserts with at an offset. Several insertions at one offset keep their order.
func (e *Edits) Insert(at int, with []byte) { e.Replace(at, at, with) }

// Remove removes the member between two offsets of json from its object, with
// one of the commas around it.
func (e *Edits) Remove(json []byte, from, to int) {
	if n := len(*e); n > 0 && (*e)[n-1].to == from && len((*e)[n-1].with) == 0 {
		// The member before is removed too. Removing both at once removes the right commas.
		from, *e = (*e)[n-1].from, (*e)[:n-1]
	}
	before, after := bytes.TrimRight(json[:from], spaces), bytes.TrimLeft(json[to:], spaces)
	switch {
	case bytes.HasPrefix(after, []byte{','}):
		to = len(json) - len(bytes.TrimLeft(after[1:], spaces))
	case bytes.HasSuffix(before, []byte{','}):
		from = len(before) - 1
	}
	e.Replace(from, to, nil)
}

// Apply returns a changed copy of json.
func (e Edits) Apply(json []byte) []byte {
	slices.SortStableFunc(e, func(a, b edit) int { return a.from - b.from })
	size := len(json)
	for _, edit := range e {
		size += len(edit.with) - (edit.to - edit.from)
	}
	out, at := make([]byte, 0, size), 0
	for _, edit := range e {
		out = append(out, json[at:edit.from]...)
		out = append(out, edit.with...)
		at = edit.to
	}
	return append(out, json[at:]...)
}

// ObjectEnd returns the length of the object that b begins with, or -1 if b
// does not begin with a whole one.
func ObjectEnd(b []byte) int {
	if len(b) == 0 || b[0] != '{' {
		return -1
	}
	return Length(b)
}

// Append skips the next value in s. If it is an array, Append adds the elements
// to its end.
func (e *Edits) Append(s *Scanner, elements ...[]byte) {
	raw := s.Raw()
	if len(raw) == 0 || raw[0] != '[' {
		return
	}
	inner := bytes.TrimRight(raw[:len(raw)-1], spaces)
	more := bytes.Join(elements, []byte{','})
	if len(inner) > 1 {
		more = append([]byte{','}, more...)
	}
	e.Insert(s.At()-len(raw)+len(inner), more)
}

// Object returns a JSON object of alternating names and values, at least one
// pair. It panics if a value cannot be encoded.
func Object(members ...any) []byte {
	object := []byte{'{'}
	for i, member := range members {
		encoded, err := json.Marshal(member)
		if err != nil {
			panic("carryon/internal/rawjson: " + err.Error())
		}
		object = append(append(object, encoded...), ":,"[i%2])
	}
	object[len(object)-1] = '}'
	return object
}
