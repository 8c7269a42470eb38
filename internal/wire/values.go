package wire

import (
	"sync"

	"github.com/carryon-go/carryon/internal/rawjson"
)

// maxValues is how many values of an event may differ from those of the next.
const maxValues = 7

// Role says what a [Codec] takes a value for. The codec makes up its own roles.
type Role uint8

// Ignored is the role of a value that adds nothing.
const Ignored Role = 0

// Values are the values in which an event differs from others of its kind. A
// codec finds them when it classifies the first such event.
type Values struct {
	buffer []byte // with the event, and perhaps others
	data   int    // where the event's data begins
	all    []value
	room   [maxValues]value // for all
}

// valuesPool has Values for those who inspect an event: they are too large for
// each open stream to have its own.
var valuesPool = sync.Pool{New: func() any { return new(Values) }} //nolint:gochecknoglobals // a pool

type value struct {
	from, to int // in the buffer
	form     form
	role     Role
	plain    bool // a string in which nothing is escaped
}

// Add adds a value that stands between two offsets of the event's data. It
// reports false if there are too many. Values must not overlap, and must be
// added in their order.
func (v *Values) Add(from, to int, role Role) bool {
	from, to = v.data+from, v.data+to
	return from < to && v.add(value{from: from, to: to, form: formOf(v.buffer[from]), role: role})
}

// AddBlanks adds the blanks that stand between two offsets of the event's data. In
// later events there may be more of them, or none.
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

// scratchPool has room for texts that are unescaped.
var scratchPool = sync.Pool{New: func() any { return new([]byte) }} //nolint:gochecknoglobals // a pool

// unescaped calls f with the text of a string in which something is escaped. It is
// valid until f returns.
func unescaped(raw []byte, f func(text []byte)) {
	scratch, _ := scratchPool.Get().(*[]byte)
	defer scratchPool.Put(scratch)
	var text []byte
	text, *scratch = rawjson.Text(raw, (*scratch)[:0])
	f(text)
}

// form is the JSON type of a value, by its first byte: values of one form may
// stand in place of one another.
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
