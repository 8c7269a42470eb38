package rawjson

import (
	"bytes"
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
