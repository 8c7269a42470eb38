package rawjson

import "bytes"

// Balance finds the end of a JSON object that comes in pieces, each of which it
// reads once. Its zero value has seen nothing.
type Balance struct {
	depth   int32
	quoted  bool
	escaped bool
	closed  bool
}

// Closed reports whether the object has ended.
func (b *Balance) Closed() bool { return b.closed }

// Add takes the next piece.
func (b *Balance) Add(piece []byte) {
	for len(piece) > 0 && !b.closed {
		if b.quoted {
			piece = b.string(piece)
			continue
		}
		switch piece[0] {
		case '"':
			b.quoted = true
		case '{', '[':
			b.depth++
		case '}', ']':
			b.depth--
			b.closed = b.depth <= 0
		}
		piece = piece[1:]
	}
}

// string takes the rest of a string, and returns what follows it.
func (b *Balance) string(piece []byte) []byte {
	if b.escaped {
		b.escaped = false
		return piece[1:]
	}
	n := bytes.IndexAny(piece, `"\`)
	if n < 0 {
		return nil
	}
	b.quoted, b.escaped = piece[n] == '\\', piece[n] == '\\'
	return piece[n+1:]
}
