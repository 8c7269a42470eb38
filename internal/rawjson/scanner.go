// Package rawjson reads and edits JSON in place: it finds a value without
// decoding the text around it, and changes a value without touching that text.
// If several members of an object have one name, the last one counts; see
// [Member].
package rawjson

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"iter"
	"math/bits"
)

// Scanner reads a JSON value in one pass, without allocating. Open, with Member
// or Element, reads a value; Skip and Raw pass over it. The caller must read or
// skip each value before it asks for the next.
//
// It does not validate all of the input. On input that is not JSON it still
// ends, and does not panic; then OK is false, or the values it returned are
// meaningless.
type Scanner struct {
	json  []byte
	at    int
	key   []byte
	keyAt int
	first bool // nothing of the innermost object or array has been read
	bad   bool
}

// Over returns a Scanner at the beginning of the value in json, which must not
// change while it is read.
func Over(json []byte) Scanner { return Scanner{json: json} }

// OK reports whether the Scanner has met no syntax error so far.
func (s *Scanner) OK() bool { return !s.bad }

// At returns the offset of the first byte that was not read.
func (s *Scanner) At() int { return s.at }

// Kind returns the first byte of the next value, which tells its type, or 0 if
// there is none.
func (s *Scanner) Kind() byte {
	for ; s.at < len(s.json); s.at++ {
		if c := s.json[s.at]; !isSpace(c) {
			return c
		}
	}
	return 0
}

// Open enters the next value if it begins with the bracket, '{' or '['.
// Otherwise it skips the value and reports false.
func (s *Scanner) Open(bracket byte) bool {
	if s.Kind() != bracket || s.bad {
		s.Skip()
		return false
	}
	s.at++
	s.first = true
	return true
}

// Member goes to the next member of the object that was opened last, and leaves
// the object if there is none.
func (s *Scanner) Member() bool {
	if !s.more('}') {
		return false
	}
	s.keyAt = s.at
	if n := Plain(s.json[s.at:]); n > 0 {
		s.key = s.json[s.at+1 : s.at+n-1]
		s.at += n
	} else if key := s.Raw(); IsString(key) {
		s.key = AppendText(nil, key)
	} else {
		s.bad = true
	}
	s.bad = s.bad || s.Kind() != ':'
	if s.bad {
		return false
	}
	s.at++
	return true
}

// Key returns the name of the current member.
func (s *Scanner) Key() []byte { return s.key }

// KeyAt returns the offset at which the current member begins. It is valid only
// before the member's value is read.
func (s *Scanner) KeyAt() int { return s.keyAt }

// Element goes to the next element of the array that was opened last, and leaves
// the array if there is none.
func (s *Scanner) Element() bool { return s.more(']') }

// Members returns an iterator over the member names of the next value. It skips
// a value that is not an object. The loop body may read a member's value;
// otherwise the iterator skips it.
func (s *Scanner) Members() iter.Seq[string] {
	return func(yield func(name string) bool) {
		for more := s.Open('{') && s.Member(); more; more = s.Member() {
			s.Kind()
			at := s.at
			if !yield(View(s.key)) {
				return
			}
			if s.at == at {
				s.Skip()
			}
		}
	}
}

// Elements returns an iterator over the indexes of the next value. It skips a
// value that is not an array. The loop body may read an element; otherwise the
// iterator skips it.
func (s *Scanner) Elements() iter.Seq[int] {
	return func(yield func(i int) bool) {
		more := s.Open('[') && s.Element()
		for i := 0; more; i++ {
			at := s.at
			if !yield(i) {
				return
			}
			if s.at == at {
				s.Skip()
			}
			more = s.Element()
		}
	}
}

// more reports whether another member or element follows. If not, it reads the
// closing bracket.
func (s *Scanner) more(closing byte) bool {
	if s.bad {
		return false
	}
	c, first := s.Kind(), s.first
	s.first = false
	switch {
	case c == closing:
		s.at++
		return false
	case !first && c == ',':
		s.at++
		c = s.Kind()
	case !first:
		c = 0 // the comma is missing
	}
	s.bad = c == 0 || c == closing
	return !s.bad
}

// Raw passes over the value and returns its bytes. They share memory with the
// input.
func (s *Scanner) Raw() []byte {
	s.Kind()
	from := s.at
	s.Skip()
	return s.Since(from)
}

// Since returns the bytes from an offset on that were read. They share memory
// with the input.
func (s *Scanner) Since(from int) []byte {
	if s.bad {
		return nil
	}
	return s.json[from:s.at:s.at]
}

// Skip passes over the value.
func (s *Scanner) Skip() {
	if s.bad {
		return
	}
	s.Kind()
	n := Length(s.json[s.at:])
	s.bad = n < 0
	if !s.bad {
		s.at += n
	}
}

// stringEnd returns the offset after the quote that ends the string whose first
// byte is at from, or -1.
func stringEnd(b []byte, from int) int {
	for at := from; ; {
		n := bytes.IndexByte(b[at:], '"')
		if n < 0 {
			return -1
		}
		at += n + 1
		if !endsInEscape(b[from : at-1]) {
			return at
		}
	}
}

// endsInEscape reports whether a backslash at the end of b escapes what follows:
// whether it is not itself escaped.
func endsInEscape(b []byte) bool {
	n := len(b)
	for n > 0 && b[n-1] == '\\' {
		n--
	}
	return (len(b)-n)%2 == 1
}

// bracketEnd returns the offset after the bracket that closes the one b begins
// with, or -1.
func bracketEnd(b []byte) int {
	depth := 0
	for at := 0; at < len(b); at++ {
		switch b[at] {
		case '"':
			at = stringEnd(b, at+1) - 1
			if at < 0 {
				return -1
			}
		case '{', '[':
			depth++
		case '}', ']':
			depth--
			if depth == 0 {
				return at + 1
			}
		}
	}
	return -1
}

const spaces = " \n\r\t"

func endsLiteral(c byte) bool {
	return isSpace(c) || c == ',' || c == '}' || c == ']' || c == ':' || c == '"'
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

// Length returns the length of the value that b begins with, or -1 if b does
// not begin with a whole value. A number at the end of b counts as whole.
func Length(b []byte) int {
	if len(b) == 0 {
		return -1
	}
	switch b[0] {
	case '"':
		return stringEnd(b, 1)
	case '{', '[':
		return bracketEnd(b)
	}
	end := 0
	for end < len(b) && !endsLiteral(b[end]) {
		end++
	}
	return cmp.Or(end, -1)
}

// A word is eight bytes. c*each has the value c in each of them.
const (
	word  = 8
	each  = 0x0101010101010101
	highs = 0x80 * each
)

// special returns the offset of the first byte of b, from an offset on, that is
// special in a string: a quote, a backslash or a control character. It returns
// len(b) or more if there is none.
//
// Most strings of a stream are a few letters long. For them, testing eight bytes
// at once is faster than bytes.IndexByte, which is made for long ones.
func special(b []byte, from int) int {
	at := from
	for ; at+word <= len(b); at += word {
		w := binary.LittleEndian.Uint64(b[at:])
		if found := below(w^'"'*each, 1) | below(w^'\\'*each, 1) | below(w, ' '); found != 0 {
			return at + bits.TrailingZeros64(found)/8
		}
	}
	for at < len(b) && b[at] != '"' && b[at] != '\\' && b[at] >= ' ' {
		at++
	}
	return at
}

// below marks the first byte of w that is less than c, and perhaps some behind
// it. c must not be greater than 0x80.
func below(w, c uint64) uint64 { return (w - c*each) &^ w & highs }

// Plain returns the length of the string that b begins with, quotes included, if
// nothing in it is escaped. Otherwise it returns 0.
func Plain(b []byte) int {
	if len(b) == 0 || b[0] != '"' {
		return 0
	}
	if end := special(b, 1); end < len(b) && b[end] == '"' {
		return end + 1
	}
	return 0
}

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
