package middleware

import "github.com/carryon-go/carryon/adapter"

// usageChunk holds the chunk that shows the usage of the answer, if the chunk with
// the finish does not: the last chunk with usage, of the last turn that had any.
type usageChunk[C any] struct {
	current  *C // of the current turn
	previous *C // of an earlier turn
}

// set sets the chunk of the current turn. The last one set counts.
func (u *usageChunk[C]) set(d adapter.Dialect[C], c *C) {
	clone := d.Clone(c)
	u.current = &clone
}

// nextTurn begins a turn.
func (u *usageChunk[C]) nextTurn() {
	u.previous, u.current = u.last(), nil
}

// last returns the chunk, or nil if no turn had usage.
func (u *usageChunk[C]) last() *C {
	if u.current != nil {
		return u.current
	}
	return u.previous
}
