package chatcompletions

import (
	"bytes"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/wire"
	"github.com/carryon-go/carryon/internal/wire/sse"
)

// dialect reads and shows one answer.
type dialect struct {
	wire.Usage

	envelope adapter.Envelope[envelope]
	scratch  []byte // texts of the current event that were escaped
	lastCall int    // the index of the last tool call, or of the last fragment of one
	saidDone bool   // a turn has said [DONE]
	over     bool   // the turn has ended: what is read next begins another
	later    *laterTurn
	document *document // nil if the answer is streamed
}

// document is the state of an answer that is not streamed.
type document struct {
	inParts      bool   // the first turn's content is a list of parts
	reasoningKey string // the member that has the reasoning
	reasoning    adapter.KeptReasoning
	tokens       keptTokens
}

var _ wire.Codec = (*dialect)(nil)

// EndTurn implements [adapter.Dialect].
func (d *dialect) EndTurn(keep bool) {
	d.envelope.Fix()
	d.lastCall, d.over = adapter.NoIndex, true
	d.Usage.EndTurn(keep)
	if d.document != nil {
		d.document.reasoning.EndTurn(keep)
		d.document.tokens.endTurn(keep)
	}
}

// laterTurn is a continuation that is streamed; nil in the caller's own turn.
type laterTurn struct {
	choice int    // the index of its choice; noChoice until one says something
	others bool   // another choice has said something
	held   tokens // of its text
}

// noChoice is the index of the turn's choice before it is known.
const noChoice = -1

// Clone implements [adapter.Dialect].
func (d *dialect) Clone(e *sse.Event) sse.Event { return e.Clone() }

// body is the name of a choice's member with the model's message.
func (d *dialect) body() string {
	if d.document != nil {
		return "message"
	}
	return "delta"
}

// text returns the text of a string, or "" for any other value. It is valid
// until the next event is read.
func (d *dialect) text(raw []byte) string {
	if !rawjson.IsString(raw) {
		return ""
	}
	text, scratch := rawjson.Text(raw, d.scratch)
	d.scratch = scratch
	return rawjson.View(text)
}

// envelopeNames are the members that are the same in every chunk of an answer.
var envelopeNames = [...]string{"id", "object", "created", "model"} //nolint:gochecknoglobals // constant

// envelope has the first turn's values of these members.
type envelope struct {
	tokens string                    // one behind the other
	ends   [len(envelopeNames)]int32 // where they end; one that is not there is empty
}

// takeEnvelope takes a chunk's values as the envelope, unless the envelope is
// fixed.
func (d *dialect) takeEnvelope(found *[len(envelopeNames)][]byte) {
	if d.envelope.IsFixed() {
		return
	}
	taken := envelope{tokens: rawjson.View(bytes.Join(found[:], nil))}
	end := int32(0)
	for i := range found {
		end += int32(len(found[i])) //nolint:gosec // far smaller than a body may be
		taken.ends[i] = end
	}
	id := found[0]
	d.envelope.Take(taken, !rawjson.IsNull(id) && string(id) != `""`)
}

// token returns one of the values, or nothing.
func (v *envelope) token(i int) string {
	from := int32(0)
	if i > 0 {
		from = v.ends[i-1]
	}
	return v.tokens[from:v.ends[i]]
}

// kind is the kind of an event in this protocol.
type kind uint8

const (
	nonData kind = iota // nothing that the protocol knows
	chunk
	done    // [DONE]
	failure // an error, or what cannot be read
)

const doneMark = "[DONE]"

func kindOf(e *sse.Event) kind {
	switch {
	case e.Kind == sse.Text && bytes.HasPrefix(e.Data(), []byte(doneMark)):
		return done
	case e.Kind == sse.Broken, string(e.Name()) == "error":
		return failure
	case e.Kind == sse.Object:
		return chunk
	}
	return nonData
}
