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

// Values are the values in which an event differs from others of its kind: a
// codec finds them when it classifies the first such event, and observes those
// of the events that are relayed after it.
type Values struct {
	buffer  []byte // with the event, and perhaps others
	scratch []byte // texts of the event that were escaped
	data    int    // where the event's data begins
	n       int
	all     [maxValues]value
}

// valuesPool has Values for those who scan a buffer: they are too large for each
// open stream to have its own.
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
	if v.n == maxValues {
		return false
	}
	v.all[v.n] = added
	v.n++
	return true
}

// reset removes all values. It writes no pointer, which would cost more than the
// rest of what an event costs while the garbage collector runs.
func (v *Values) reset() {
	v.n = 0
	if len(v.scratch) > 0 {
		v.scratch = v.scratch[:0]
	}
}

// Len returns how many values there are.
func (v *Values) Len() int { return v.n }

// Role returns the role of a value.
func (v *Values) Role(i int) Role { return v.all[i].role }

// Raw returns the bytes of a value.
func (v *Values) Raw(i int) []byte { return v.buffer[v.all[i].from:v.all[i].to] }

// Text returns the text of a value that is a string. It is valid until the next
// event.
func (v *Values) Text(i int) string {
	raw := v.Raw(i)
	if v.all[i].plain {
		return rawjson.View(raw[1 : len(raw)-1])
	}
	text, scratch := rawjson.Text(raw, v.scratch)
	v.scratch = scratch
	return rawjson.View(text)
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
