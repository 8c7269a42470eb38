package transport

import (
	"slices"
	"unsafe"

	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/middleware"
)

// wire is the dialect of Chat Completions, for the events of a stream and for
// whole answers, which are taken for one event.
type wire struct {
	whole bool // answers are not streamed

	envelope envelope
	usage    usage
	scratch  []byte // texts of the event at hand that were escaped
	called   int    // the index of the last tool call, or of the last fragment of one
	ended    bool   // a turn said [DONE]

	// Of whole answers:
	listed    bool     // the first turn's content is a list of parts
	reasonKey string   // the member that has the reasoning
	reasoning []string // of the turns kept
	pending   string   // of the turn at hand
}

var _ middleware.Dialect[event] = (*wire)(nil)

// envelope is what every chunk of a joined answer has in common, as the first
// turn has it.
type envelope struct {
	tokens   [len(envelopeNames)][]byte // nil for one that it does not have
	anchored bool                       // the first turn has given an id
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
	for i, token := range found {
		v.tokens[i] = slices.Clone(token)
	}
}

// EndTurn implements [middleware.Dialect].
func (d *wire) EndTurn(keep bool) {
	d.envelope.anchored = true // a first turn without an id leaves the others without one
	d.usage.endTurn(keep)
	if keep && d.pending != "" {
		d.reasoning = append(d.reasoning, d.pending)
	}
	d.pending = ""
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
