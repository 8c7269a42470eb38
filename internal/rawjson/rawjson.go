// Package rawjson reads and edits JSON in place: it finds a value without
// decoding the text around it, and changes a value without touching that text.
// If several members of an object have one name, the last one counts; see
// [Member].
package rawjson

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"iter"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
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

// From returns a Scanner at the value that begins at an offset of json, as Over does.
func From(json []byte, at int) Scanner { return Scanner{json: json, at: at} }

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
// len(b) or more if there is none. seen has the bits of the bytes before it, and
// perhaps of some behind it.
//
// Most strings of a stream are a few letters long. For them, testing eight bytes
// at once is faster than bytes.IndexByte, which is made for long ones.
func special(b []byte, from int) (at int, seen uint64) {
	at = from
	for ; at+word <= len(b); at += word {
		w := binary.LittleEndian.Uint64(b[at:])
		seen |= w
		if found := below(w^'"'*each, 1) | below(w^'\\'*each, 1) | below(w, ' '); found != 0 {
			return at + bits.TrailingZeros64(found)/8, seen
		}
	}
	for at < len(b) && b[at] != '"' && b[at] != '\\' && b[at] >= ' ' {
		seen |= uint64(b[at]) << (64 - 8)
		at++
	}
	return at, seen
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
	if end, _ := special(b, 1); end < len(b) && b[end] == '"' {
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

// Member returns the value of a member of the object in raw, or nil if there is
// none. If several members have the name, the last one counts, as in
// encoding/json and most other parsers.
func Member(raw []byte, name string) (value []byte) {
	s := Over(raw)
	for key := range s.Members() {
		if key == name {
			value = s.Raw()
		}
	}
	return value
}

// Peek returns a member of the object that comes next, as Member does. The
// Scanner stays where it is.
func (s *Scanner) Peek(name string) []byte { return Member(s.json[s.at:], name) }

// Elements returns the elements of the array in raw.
func Elements(raw []byte) [][]byte {
	s := Over(raw)
	return s.elements()
}

// MemberElements returns the elements of a member of the object in raw, which
// must be an array. It reads raw only once, because raw may be large.
func MemberElements(raw []byte, name string) (elements [][]byte) {
	s := Over(raw)
	for key := range s.Members() {
		if key == name {
			elements = s.elements()
		}
	}
	return elements
}

func (s *Scanner) elements() (all [][]byte) {
	for range s.Elements() {
		all = append(all, s.Raw())
	}
	return all
}

// TextOf returns the text of the string in raw, or "" if raw is not a string.
func TextOf(raw []byte) string {
	if !IsString(raw) {
		return ""
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	return View(AppendText(make([]byte, 0, len(raw)), raw))
}

// TextView is TextOf without a copy if nothing in the string is escaped. The
// result is valid until raw changes.
func TextView(raw []byte) string {
	if !IsString(raw) {
		return ""
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return View(raw[1 : len(raw)-1])
	}
	return TextOf(raw)
}

// Int returns the integer in raw, and reports whether raw is one.
func Int(raw []byte) (int, bool) {
	n, err := strconv.Atoi(View(raw))
	return n, err == nil
}

// IsEmpty reports whether raw is absent, null, or an empty string, array or
// object.
func IsEmpty(raw []byte) bool {
	switch string(raw) {
	case "", "null", `""`, "[]", "{}":
		return true
	}
	return false
}

// View returns bytes as a string without copying them. The string is valid
// until the bytes change.
func View(b []byte) string {
	return unsafe.String(unsafe.SliceData(b), len(b)) //nolint:gosec // the caller must not change b, as documented
}

// Text decodes the string in raw, which includes its quotes. If nothing is
// escaped, text is a part of raw; otherwise Text appends it to scratch, which
// it returns as well. raw must be a string as [Scanner.Raw] returns it.
func Text(raw, scratch []byte) (text, grown []byte) {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1], scratch
	}
	from := len(scratch)
	scratch = AppendText(scratch, raw)
	return scratch[from:len(scratch):len(scratch)], scratch
}

// Texts decodes the strings of one event after another, in memory that it uses again.
// The zero value is ready for use.
type Texts struct{ scratch []byte }

// Of returns the text of the string in raw, or "" for any other value. It is valid
// until the next Reset, and while raw does not change.
func (t *Texts) Of(raw []byte) string {
	if !IsString(raw) {
		return ""
	}
	text, scratch := Text(raw, t.scratch)
	t.scratch = scratch
	return View(text)
}

// Reset begins the next event.
func (t *Texts) Reset() { t.scratch = t.scratch[:0] }

// AppendText appends the decoded string in raw, which includes its quotes. It
// leaves an escape that JSON does not have as it is.
func AppendText(to, raw []byte) []byte {
	in := raw[1 : len(raw)-1]
	for {
		n := bytes.IndexByte(in, '\\')
		if n < 0 || n+1 >= len(in) {
			return append(to, in...)
		}
		to = append(to, in[:n]...)
		to, in = appendEscape(to, in[n:])
	}
}

// appendEscape appends the decoded escape at the beginning of in, and returns
// the rest of in.
func appendEscape(to, in []byte) (grown, rest []byte) {
	if i := strings.IndexByte(`"\/bfnrt`, in[1]); i >= 0 {
		return append(to, "\"\\/\b\f\n\r\t"[i]), in[2:]
	}
	r := unit(in)
	if r < 0 {
		return append(to, in[0]), in[1:]
	}
	if whole := utf16.DecodeRune(r, unit(in[6:])); whole != utf8.RuneError {
		return utf8.AppendRune(to, whole), in[12:]
	}
	return utf8.AppendRune(to, r), in[6:] // half a pair becomes U+FFFD
}

// unit returns the code unit of an escape such as \u00fc, or -1.
func unit(in []byte) rune {
	if len(in) < 6 || in[0] != '\\' || in[1] != 'u' {
		return -1
	}
	r, err := strconv.ParseUint(View(in[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(r)
}

// Quote returns text as a JSON string. Invalid UTF-8 becomes U+FFFD.
func Quote(text string) []byte { return AppendQuote(nil, text) }

// AppendQuote appends text as a JSON string, as Quote returns it.
func AppendQuote(to []byte, text string) []byte {
	if isPlain(text) {
		return append(append(append(to, '"'), text...), '"')
	}
	b := bytes.NewBuffer(to)
	encoder := json.NewEncoder(b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) //nolint:errchkjson // a string can always be encoded
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// isPlain reports whether text needs no escapes between quotes.
func isPlain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// IsString reports whether raw is a string.
func IsString(raw []byte) bool { return len(raw) >= 2 && raw[0] == '"' }

// IsNull reports whether raw is null or absent.
func IsNull(raw []byte) bool { return len(raw) == 0 || string(raw) == "null" }

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

// ReplaceNext replaces the next value in s by with.
func (e *Edits) ReplaceNext(s *Scanner, with []byte) {
	raw := s.Raw()
	e.Replace(s.At()-len(raw), s.At(), with)
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

// AppendAfter is Append to an array whose last element begins at an offset. It reads no
// other element.
func (e *Edits) AppendAfter(s *Scanner, last int, elements ...[]byte) {
	s.at = last
	s.Skip()
	e.Insert(s.At(), append([]byte{','}, bytes.Join(elements, []byte{','})...))
	s.more(']')
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
