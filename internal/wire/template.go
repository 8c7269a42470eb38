package wire

import (
	"bytes"
	"slices"
	"sync"

	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/wire/sse"
)

// The largest events that become templates, and the largest values other than
// strings that are compared with one.
const (
	maxTemplate = 4 << 10 // without the values
	maxValue    = 16 << 10
	maxField    = 256
)

// template is a relayed event without the values in which similar events
// differ. The events of a stream differ in little more than their text, so
// nearly all of them match the previous one, and need not be parsed or split
// into lines. A template without spans matches nothing.
type template struct {
	fixed []byte // up to the end of the blank line
	spans [maxValues]span
	n     uint8
	blank uint8 // length of the blank line
}

// span is the place of a value.
type span struct {
	at   uint16 // in fixed
	form form
	role Role
}

// isLearned reports whether there is anything to match.
func (t *template) isLearned() bool { return t.n > 0 }

// learn makes t the template of an event with these values. lines ends with the
// event's data line, and begins at offset at of the buffer; the values' offsets
// are into the buffer too.
func (t *template) learn(lines []byte, at int, values []value) {
	blank := 1
	if bytes.HasSuffix(lines, []byte("\r\n")) {
		blank = 2
	}
	size := len(lines) + blank
	for _, v := range values {
		size -= v.to - v.from
	}
	if len(values) == 0 || size > maxTemplate {
		return // keep the old template: later events may match it
	}
	t.fixed, t.n = slices.Grow(t.fixed[:0], size), uint8(len(values)) //nolint:gosec // at most maxValues
	from := 0
	for i, v := range values {
		t.fixed = append(t.fixed, lines[from:v.from-at]...)
		t.spans[i] = span{uint16(len(t.fixed)), v.form, v.role} //nolint:gosec // at most maxTemplate
		from = v.to - at
	}
	t.fixed = append(append(t.fixed, lines[from:]...), lines[len(lines)-blank:]...)
	t.blank = uint8(blank) //nolint:gosec // 1 or 2
}

// notArrived is the end of an event whose data line has not arrived in full.
// Whether the event matches is looked at again when more has arrived.
const notArrived = -1

// match compares the event that begins at an offset of b with the template, and
// finds its values. It returns the end of the event, or of the blank line that
// follows it. The end is 0 if the event does not match, and notArrived if that
// cannot be told yet.
func (t *template) match(b []byte, from int, found *[maxValues]value) (end int) {
	if !t.isLearned() {
		return 0
	}
	at := 0
	end = from
	for i := range t.spans[:t.n] {
		next := &t.spans[i]
		fixed := t.fixed[at:next.at]
		if !bytes.HasPrefix(b[end:], fixed) {
			return mismatch(b[end:])
		}
		end += len(fixed)
		n, plain := next.form.length(b[end:])
		if n < 0 {
			return mismatch(b[end:])
		}
		v := &found[i]
		v.from, v.to, v.form, v.role, v.plain = end, end+n, next.form, next.role, plain
		end, at = end+n, int(next.at)
	}
	rest := t.fixed[at:]
	if after := skip(b, end, rest); after > 0 {
		return after
	}
	if after := skip(b, end, rest[:len(rest)-int(t.blank)]); after > 0 {
		return after
	}
	return mismatch(b[end:])
}

// mismatch returns the end for an event whose rest does not match.
func mismatch(rest []byte) (end int) {
	if sse.BreakAt(rest) < 0 {
		return notArrived
	}
	return 0
}

// skip returns the offset after lines if b has them at an offset, and 0
// otherwise.
func skip(b []byte, at int, lines []byte) int {
	end := at + len(lines)
	if !bytes.HasPrefix(b[at:], lines) || lines[len(lines)-1] == '\r' && (end == len(b) || b[end] == '\n') {
		return 0 // an LF after a CR belongs to it
	}
	return end
}

// length returns the length of the value that b begins with, and reports
// whether it is a string without escapes. The length is -1 if no value of the
// form ends on this line.
func (f form) length(b []byte) (n int, plain bool) {
	switch f {
	case blanks:
		for n < min(len(b), maxField) && b[n] == ' ' {
			n++
		}
		return n, false
	case field:
		return sse.BreakAt(b[:min(len(b), maxField)]), false
	case text:
		if n := rawjson.Plain(b); n > 0 {
			return n, true // with no line break in it, which is a control character
		}
	default:
		b = b[:min(len(b), maxValue)]
	}
	if len(b) == 0 || formOf(b[0]) != f {
		return -1, false
	}
	n = rawjson.Length(b)
	if f != scalar && n >= 0 && sse.BreakAt(b[:n]) >= 0 {
		n = -1
	}
	return n, false
}

// maxValues is the largest number of values that may vary in an event.
const maxValues = 7

// Role is the meaning of a value to a [Codec]. Each codec defines its own
// roles.
type Role uint8

// Ignored is the role of a value that adds nothing.
const Ignored Role = 0

// Values are the values that vary between similar events. A codec finds them
// when it classifies the first such event.
type Values struct {
	buffer []byte // with the event, and perhaps others
	data   int    // where the event's data begins
	all    []value
	room   [maxValues]value // for all
}

// valuesPool shares Values between streams: they are too large for each open
// stream to have its own.
var valuesPool = sync.Pool{New: func() any { return new(Values) }} //nolint:gochecknoglobals // a pool

type value struct {
	from, to int // in the buffer
	form     form
	role     Role
	plain    bool // a string in which nothing is escaped
}

// Add adds the value between two offsets of the event's data. It reports false
// if there are too many values. Add values in their order, without overlap.
func (v *Values) Add(from, to int, role Role) bool {
	from, to = v.data+from, v.data+to
	return from < to && v.add(value{from: from, to: to, form: formOf(v.buffer[from]), role: role})
}

// AddBlanks adds the blanks between two offsets of the event's data. Later
// events may have more of them, or none.
func (v *Values) AddBlanks(from, to int) bool {
	return v.add(value{from: v.data + from, to: v.data + to, form: blanks})
}

func (v *Values) add(added value) bool {
	if len(v.all) == maxValues {
		return false
	}
	v.all = append(v.all, added)
	return true
}

// scratchPool has buffers for unescaped texts.
var scratchPool = sync.Pool{New: func() any { return new([]byte) }} //nolint:gochecknoglobals // a pool

// unescaped calls f with the text of a string that has escapes. The text is
// valid until f returns.
func unescaped(raw []byte, f func(text []byte)) {
	scratch, _ := scratchPool.Get().(*[]byte)
	defer scratchPool.Put(scratch)
	var text []byte
	text, *scratch = rawjson.Text(raw, (*scratch)[:0])
	f(text)
}

// form is the JSON type of a value, by its first byte. Values of one form may
// replace each other.
type form byte

const (
	scalar form = 0 // a number, true, false or null
	text   form = '"'
	blanks form = ' ' // between values
	field  form = ':' // no JSON: the value of a field other than data
)

func formOf(first byte) form {
	if first == '"' || first == '{' || first == '[' {
		return form(first)
	}
	return scalar
}
