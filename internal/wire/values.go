package wire

import (
	"sync"

	"github.com/carryon-go/carryon/internal/rawjson"
)

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
