package transport

import (
	"bytes"
	"unsafe"

	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/middleware"
)

// wire is the dialect of Chat Completions, for the events of a stream and for
// whole answers, which are taken for one event.
type wire struct {
	whole bool // answers are not streamed
	ended bool // a turn said [DONE]

	envelope envelope
	usage    *usage // nil before there is any
	scratch  []byte // texts of the event at hand that were escaped
	called   int    // the index of the last tool call, or of the last fragment of one
	extra    *extra // of whole answers; nil as long as there is nothing to know
}

// extra is what is known of whole answers beside their text.
type extra struct {
	listed    bool     // the first turn's content is a list of parts
	reasonKey string   // the member that has the reasoning
	reasoning []string // of the turns kept
	pending   string   // of the turn at hand
}

// key returns the member that shows the reasoning of the turns kept, "" if there
// is none.
func (x *extra) key() string {
	if x == nil || len(x.reasoning) == 0 {
		return ""
	}
	return x.reasonKey
}

var _ middleware.Dialect[event] = (*wire)(nil)

// envelope is what every chunk of a joined answer has in common, as the first
// turn has it.
type envelope struct {
	tokens   []byte                    // one behind the other
	ends     [len(envelopeNames)]int32 // where they end; one that it does not have is empty
	anchored bool                      // the first turn has given an id
	began    bool
}

var envelopeNames = [...]string{"id", "object", "created", "model"} //nolint:gochecknoglobals // constant

// at returns which of the members of the envelope the name is, or -1.
func (v *envelope) at(name []byte) int {
	for i := range envelopeNames {
		if string(name) == envelopeNames[i] {
			return i
		}
	}
	return -1
}

// anchor takes the envelope from the first chunk that has an id, or else from
// the first; some providers begin with one that has none.
func (v *envelope) anchor(found *[len(envelopeNames)][]byte) {
	id := found[0]
	v.anchored = !rawjson.IsNull(id) && string(id) != `""`
	if v.began && !v.anchored {
		return
	}
	v.began = true
	v.tokens = bytes.Join(found[:], nil)
	end := int32(0)
	for i := range found {
		end += int32(len(found[i])) //nolint:gosec // at most MaxBody
		v.ends[i] = end
	}
}

// token returns one of the members as the first turn has it, or nothing.
func (v *envelope) token(i int) []byte {
	from := int32(0)
	if i > 0 {
		from = v.ends[i-1]
	}
	return v.tokens[from:v.ends[i]]
}

// EndTurn implements [middleware.Dialect].
func (d *wire) EndTurn(keep bool) {
	d.envelope.anchored = true // a first turn without an id leaves the others without one
	d.usage.endTurn(keep)
	if p := d.extra; p != nil {
		if keep && p.pending != "" {
			p.reasoning = append(p.reasoning, p.pending)
		}
		p.pending = ""
	}
}

// noteUsage takes note of a usage of the turn at hand. The last one counts.
func (d *wire) noteUsage(raw []byte) {
	if d.usage == nil {
		d.usage = new(usage)
	}
	d.usage.note(raw)
}

// known returns what is known of whole answers, to be changed.
func (d *wire) known() *extra {
	if d.extra == nil {
		d.extra = new(extra)
	}
	return d.extra
}

// Clone implements [middleware.Dialect].
func (d *wire) Clone(e *event) event { return e.clone() }

// text returns what a string stands for. It is valid until the next event is
// read.
func (d *wire) text(raw []byte) string {
	if !rawjson.IsString(raw) {
		return ""
	}
	text, scratch := rawjson.Text(raw, d.scratch)
	d.scratch = scratch
	return view(text)
}

// view returns bytes as a string without copying them: most of them are looked
// at and passed on. It must not be kept longer than they stay as they are.
func view(b []byte) string {
	return unsafe.String(unsafe.SliceData(b), len(b)) //nolint:gosec // see above
}
