package rawjson

import "slices"

// Edits are changes to be made to a JSON text. The zero value changes nothing.
type Edits []edit

type edit struct {
	from, to int
	with     []byte
}

// Replace puts with in the place of the bytes between two offsets. No two edits
// may overlap.
func (e *Edits) Replace(from, to int, with []byte) {
	*e = append(*e, edit{from, to, with})
}

// Insert puts with in at an offset. What is inserted first at an offset comes
// first.
func (e *Edits) Insert(at int, with []byte) { e.Replace(at, at, with) }

// Remove takes a member out of an object in json, with the comma that sets it
// apart. From and to are the offsets between which it stands.
func (e *Edits) Remove(json []byte, from, to int) {
	if n := len(*e); n > 0 && (*e)[n-1].to == from && len((*e)[n-1].with) == 0 {
		// The member before is removed too: their commas are one matter.
		from, *e = (*e)[n-1].from, (*e)[:n-1]
	}
	after := to
	for after < len(json) && isSpace(json[after]) {
		after++
	}
	if after < len(json) && json[after] == ',' {
		for after++; after < len(json) && isSpace(json[after]); {
			after++
		}
		e.Replace(from, after, nil)
		return
	}
	before := from
	for before > 0 && isSpace(json[before-1]) {
		before--
	}
	if before > 0 && json[before-1] == ',' {
		from = before - 1
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
