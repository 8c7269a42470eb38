package transport

import "bytes"

// balance finds the end of a JSON object that comes in pieces.
type balance struct {
	depth   int
	quoted  bool
	escaped bool
	closed  bool // the object has ended
}

// add takes the next piece.
func (b *balance) add(piece []byte) {
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
func (b *balance) string(piece []byte) []byte {
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
