package gemini

import (
	"slices"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/wire"
	"github.com/carryon-go/carryon/internal/wire/sse"
)

// codec reads and shows one streamed answer.
type codec struct {
	show  show
	began bool          // a chunk of the first turn was read
	read  progress      // of the current turn
	texts rawjson.Texts // of the current event
	own   *sse.Event    // of turn 1, about to be shown; nil if there is none
}

var (
	_ wire.Codec  = (*codec)(nil)
	_ wire.Holder = (*codec)(nil)
)

// Hold implements [wire.Holder]. It delays nothing, but the end of turn 1 shows the usage
// of a failed continuation too.
func (c *codec) Hold(e sse.Event) {
	e = c.show.recounted(e)
	c.own = &e
}

// HoldsFinish says that the chunk with the finish of turn 1 is shown whole if the answer
// is not continued. Nearly every one has text, and nothing but the end of the stream,
// which comes at once, tells whether it was the last.
func (c *codec) HoldsFinish() {}

// Release implements [wire.Holder].
func (c *codec) Release() {}

// Next implements [wire.Holder].
func (c *codec) Next() (e sse.Event, ok bool) {
	if c.own == nil {
		return e, false
	}
	e, c.own = *c.own, nil
	return e, true
}

// IsHolding implements [wire.Holder].
func (c *codec) IsHolding() bool { return false }

// EndTurn implements [adapter.Dialect].
func (c *codec) EndTurn(keep bool) {
	c.show.endTurn(keep)
	c.read = progress{}
}

// Clone implements [adapter.Dialect].
func (c *codec) Clone(e *sse.Event) sse.Event { return e.Clone() }

// AppendHeartbeat implements [adapter.Heartbeat]. There is none that all clients take:
// many fail on a comment, and drop a turn that has an empty chunk.
func (c *codec) AppendHeartbeat(dst []sse.Event) []sse.Event { return dst }

// Read implements [adapter.Dialect].
func (c *codec) Read(e *sse.Event, t adapter.TurnReader) {
	c.texts.Reset()
	t.Size(len(e.Raw))
	ch := parse(e, c.show.wrapped)
	if ch == nil {
		switch e.Kind {
		case sse.Broken:
			t.Fail(wire.ErrUnreadable)
		case sse.Text:
			t.Unknown() // no chunk; clients fail on it
		case sse.NonData, sse.Object:
		}
		return
	}
	c.began = true
	c.show.envelope.take(ch, c.show.later)
	c.show.set(ch.usage)
	if c.show.envelope.size() > wire.MaxRepeated || len(ch.usage) > wire.MaxRepeated {
		t.Unknown()
	}
	if counts := countsOf(c.show.usages.turn); counts != (adapter.Usage{}) && (ch.usage != nil || ch.finish != nil) {
		t.Usage(counts)
	}
	r := reader{turn: &c.read, later: c.show.later, text: c.texts.Of, to: t}
	r.read(ch)
}

// AppendShown implements [adapter.Dialect].
func (c *codec) AppendShown(dst []sse.Event, e *sse.Event, edit *adapter.Edit) []sse.Event {
	switch edit.Part {
	case adapter.Whole:
		return c.show.appendWhole(dst, e, edit)
	case adapter.Synthetic:
		return c.show.appendSynthetic(dst, e, edit)
	case adapter.TurnCut:
		return c.show.cut(dst)
	case adapter.TurnError:
		return c.show.appendError(dst, e)
	case adapter.UsageOnly, adapter.AnswerEnd: // each chunk has its usage, and nothing ends the stream
	}
	return dst
}

// The roles of the values that vary between events.
const (
	roleText wire.Role = wire.Ignored + 1 + iota
	roleReasoning
	roleCount // and one for each of the counts
)

// Classify implements [wire.Codec]. A chunk with one part of text or of thinking, its
// usage, and nothing else that matters may be relayed.
func (c *codec) Classify(name, data []byte, v *wire.Values) bool {
	if !c.began || len(name) > 0 {
		return false
	}
	l := classifier{v: v, relays: true}
	s := rawjson.Over(data)
	if c.show.wrapped {
		for member := range s.Members() {
			switch member {
			case "response":
				l.body(&s)
			case "traceId":
			default:
				return false
			}
		}
	} else {
		l.body(&s)
	}
	// Behind the last member there may be blanks, which hide the length of a text.
	if !l.relays || l.parts != 1 || !s.OK() || s.At() != len(data) {
		return false
	}
	c.show.set(l.taken)
	return true
}

// classifier looks for what an event may vary in. Its methods read the next value.
type classifier struct {
	v      *wire.Values
	relays bool // nothing speaks against it
	parts  int
	taken  []byte // the usage
}

func (l *classifier) body(s *rawjson.Scanner) {
	for name := range s.Members() {
		switch name {
		case "candidates":
			for i := range s.Elements() {
				l.relays = l.relays && i == 0
				l.candidate(s)
			}
		case "usageMetadata":
			l.usage(s)
		case "responseId", "modelVersion", "createTime":
		default:
			l.relays = false
		}
	}
}

// usage reads the usage, whose counts may vary. A usage with other members than the one
// before it is another shape.
func (l *classifier) usage(s *rawjson.Scanner) {
	from := s.At()
	for name := range s.Members() {
		if at := slices.Index(counts[:], name); at >= 0 {
			l.value(s, 0, roleCount+wire.Role(at)) //nolint:gosec // a small number
		}
	}
	l.taken = s.Since(from)
}

func (l *classifier) candidate(s *rawjson.Scanner) {
	for name := range s.Members() {
		switch name {
		case "content":
			l.content(s)
		case "index":
			l.relays = l.relays && string(s.Raw()) == "0"
		default:
			l.relays = false
		}
	}
}

func (l *classifier) content(s *rawjson.Scanner) {
	for name := range s.Members() {
		switch name {
		case "parts":
			for range s.Elements() {
				l.part(s)
			}
		case "role":
			l.relays = l.relays && string(s.Raw()) == `"model"`
		default:
			l.relays = false
		}
	}
}

func (l *classifier) part(s *rawjson.Scanner) {
	l.parts++
	role := roleText
	if string(s.Peek("thought")) == "true" {
		role = roleReasoning
	}
	for name := range s.Members() {
		switch name {
		case "text":
			l.value(s, '"', role)
		case "thoughtSignature":
			l.value(s, '"', wire.Ignored)
		case "thought":
		default:
			l.relays = false
		}
	}
}

// value adds the next value, which must be a string if quote is one, and else a number.
func (l *classifier) value(s *rawjson.Scanner, quote byte, role wire.Role) {
	first := s.Kind()
	isOfType := first == quote || quote == 0 && '0' <= first && first <= '9'
	from := s.At()
	s.Skip()
	l.relays = l.relays && isOfType && l.v.Add(from, s.At(), role)
}

// Observe implements [wire.Codec]. The usage is reported with the finish, because a
// lock for each chunk would cost more than all the rest.
func (c *codec) Observe(role wire.Role, value []byte, r wire.Relay) {
	switch role {
	case roleText:
		r.Text(rawjson.View(value))
	case roleReasoning:
		r.Reasoning(rawjson.View(value))
	case wire.Ignored:
	default:
		c.show.observe(int(role-roleCount), value)
	}
}
