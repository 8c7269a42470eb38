package rawjson

// Balance finds the end of a JSON object that comes in pieces, and reads each
// piece once. Its zero value has read nothing.
type Balance struct {
	depth   int32
	quoted  bool
	escaped bool
	closed  bool
}

// Closed reports whether the object has ended.
func (b *Balance) Closed() bool { return b.closed }

// Add reads the next piece.
func (b *Balance) Add(piece []byte) {
	for _, c := range piece {
		switch {
		case b.closed:
			return
		case b.escaped:
			b.escaped = false
		case b.quoted:
			b.escaped, b.quoted = c == '\\', c != '"'
		case c == '"':
			b.quoted = true
		case c == '{', c == '[':
			b.depth++
		case c == '}', c == ']':
			b.depth--
			b.closed = b.depth <= 0
		}
	}
}
