package responses

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/sse"
	"github.com/carryon-go/carryon/internal/wire"
)

// codec reads and shows a streamed answer.
type codec struct {
	wire.Usage

	request *request
	reader  *reader // of the current turn
	answer  answer
	began   bool   // the first turn's id was read
	later   bool   // the first turn has ended
	firstID string // the id of the first turn
}

var (
	_ wire.Codec  = (*codec)(nil)
	_ wire.Holder = (*codec)(nil)
)

func newCodec(r *request) *codec {
	return &codec{request: r, reader: &reader{ownPause: r.ownPause}, answer: answer{sequence: none, watches: r.declares}}
}

// Clone implements [adapter.Dialect].
func (c *codec) Clone(e *sse.Event) sse.Event { return e.Clone() }

// EndTurn implements [adapter.Dialect].
func (c *codec) EndTurn(keep bool) {
	c.Usage.EndTurn(keep)
	if keep {
		c.request.keep(c.firstID, c.reader)
	}
	c.later, c.reader = true, &reader{ownPause: c.request.ownPause}
	c.answer.endTurn()
}

// keep records a turn that was kept: what was said in it, and that its response
// stands for the whole answer, unless a todo_pause was left out of it, which the
// server would want to have answered.
func (r *request) keep(firstID string, turn *reader) {
	r.turns = append(r.turns, turn.messages())
	id := rawjson.TextOf(turn.id)
	if r.stored && len(r.turns) > 1 && !turn.pauses && id != "" && id != firstID && firstID != "" {
		r.chains.put(firstID, id)
	}
}

// Read implements [adapter.Dialect].
func (c *codec) Read(e *sse.Event, t adapter.TurnReader) {
	t.Size(len(e.Raw))
	if isDone(e) {
		c.answer.saidDone = true
		t.Done()
		return
	}
	ev := eventOf(e.Data())
	switch {
	case isFailure(e, &ev):
		if e.Kind == sse.Broken {
			t.Fail(wire.ErrUnreadable)
			return
		}
		t.Fail(errorIn(e.Data()))
	case e.Kind != sse.Object:
	case c.later && !json.Valid(e.Data()):
		t.Fail(wire.ErrUnreadable)
	case stageOf(ev.kind) == beginning:
		c.begin(e, &ev)
	case stageOf(ev.kind) == ending:
		c.finish(&ev, t)
	default:
		c.reader.read(&ev, t)
	}
}

// begin reads an event that begins a turn.
func (c *codec) begin(e *sse.Event, ev *event) {
	if c.later || c.began || ev.response == nil {
		return
	}
	c.began, c.answer.named = true, len(e.Name()) > 0
	c.firstID = rawjson.TextOf(rawjson.Member(ev.response, "id"))
}

// finish reads the event that ends a turn.
func (c *codec) finish(ev *event, t adapter.TurnReader) {
	if usage := c.reader.finish(ev.response, t); usage != nil {
		c.SetUsage(usage)
	}
	if c.later || c.reader.calls {
		return
	}
	if c.answer.base = bytes.Clone(ev.response); !json.Valid(ev.response) {
		t.Unknown() // nothing can be joined to it
	}
}

// AppendHeartbeat implements [adapter.Heartbeat]: an empty text, which models send
// too, for as long as a message is open. Clients fail on events of other types.
func (c *codec) AppendHeartbeat(dst []sse.Event) []sse.Event {
	a := &c.answer
	x := a.openText()
	if x == nil {
		return dst
	}
	e := a.deltaOf(piece{x, ""})
	a.grown, a.out = true, nil
	a.emit(&e)
	return append(dst, a.out...)
}

// The roles of the values in which events differ.
const (
	roleText wire.Role = wire.Ignored + 1 + iota
	roleReasoning
	roleSequence
)

// relayed are the events that add to an item that is open, with the role of what
// they add.
var relayed = map[string]wire.Role{ //nolint:gochecknoglobals // constant
	textDelta: roleText, summaryDelta: roleReasoning, reasoningDelta: roleReasoning, argumentsDelta: wire.Ignored,
	"response.custom_tool_call_input.delta": wire.Ignored, "response.code_interpreter_call_code.delta": wire.Ignored,
	"response.mcp_call_arguments.delta": wire.Ignored, "response.shell_call_command.delta": wire.Ignored,
	"response.shell_call_output_content.delta":       wire.Ignored,
	"response.apply_patch_call_operation_diff.delta": wire.Ignored,
}

// Classify implements [wire.Codec]. A delta of the item that is open may be
// relayed.
func (c *codec) Classify(name, data []byte, v *wire.Values) bool {
	if !c.began || c.later || string(name) == failed || rawjson.ObjectEnd(data) != len(data) {
		return false
	}
	ev := eventOf(data)
	role, ok := relayed[ev.kind]
	it := c.reader.find(&ev)
	if !ok || it == nil || !rawjson.IsString(ev.delta) || role == wire.Ignored && it.kind == message || role == roleText && it.kind != message {
		return false
	}
	s := rawjson.Over(data)
	for name := range s.Members() {
		r := wire.Ignored
		switch name {
		case "delta":
			r = role
		case "sequence_number":
			if r = roleSequence; ev.sequence == none {
				return false
			}
		case "obfuscation", "logprobs":
		case "error":
			return false
		default:
			continue
		}
		raw := s.Raw()
		if string(raw) == "[]" {
			continue // as it is in all of them
		}
		if !v.Add(s.At()-len(raw), s.At(), r) {
			return false
		}
	}
	if role == wire.Ignored {
		it.arguments++ // they need not be known
	} else if role == roleText {
		c.reader.last = it.lengthOf(ev.content)
	}
	return true
}

// Observe implements [wire.Codec].
func (c *codec) Observe(v *wire.Values, r wire.Relay) {
	for i := range v.Len() {
		switch v.Role(i) {
		case roleText:
			said := v.Text(i)
			*c.reader.last += len(said)
			r.Text(said)
		case roleReasoning:
			r.Reasoning(v.Text(i))
		case roleSequence:
			c.answer.sequence = intOr(v.Raw(i), c.answer.sequence)
		}
	}
}

// IsHolding implements [wire.Holder].
func (c *codec) IsHolding() bool { return len(c.answer.queue) > 0 }

// Release implements [wire.Holder].
func (c *codec) Release() []sse.Event {
	a := &c.answer
	a.out = a.out[:0]
	a.flush(true)
	return a.out
}

// Hold implements [wire.Holder].
func (c *codec) Hold(e sse.Event) []sse.Event {
	a := &c.answer
	a.out = a.out[:0]
	ev := event{output: none}
	if e.Kind == sse.Object {
		ev = eventOf(e.Data())
	}
	isEnd := stageOf(ev.kind) == ending
	switch {
	case isEnd:
		a.flush(true)
		if a.grown {
			a.ending, a.usage = e.Data(), nil
			e = a.end(ev.response)
		}
		a.out = append(a.out, e)
	case a.rewriting:
		a.out = append(a.out, e)
	default:
		a.take(e, &ev)
		a.flush(false)
	}
	return a.out
}

// take puts an event of turn 1 into the queue as it came.
func (a *answer) take(e sse.Event, ev *event) {
	t := a.current()
	it := t.find(ev)
	if ev.kind == itemAdded || it == nil && ev.kind == itemDone {
		it = a.open(ev, ev.item)
	}
	en := entry{event: e, item: it}
	if it != nil {
		en.role, en.text = it.place(ev)
	}
	a.push(en)
}

// place returns what an event is to its item, and the text that it repeats.
func (it *item) place(ev *event) (role, *text) {
	isMessage := it.kind == message
	switch ev.kind {
	case itemAdded:
		return opening, nil
	case itemDone:
		it.closing, it.done = true, slices.Clone(ev.item)
		if isMessage {
			return closing, nil
		}
	case partAdded:
		if isMessage {
			if rawjson.TextOf(rawjson.Member(ev.part, "type")) == "output_text" {
				it.text(ev.content)
			}
			return opening, nil
		}
	case textDone, partDone, refusalDone:
		if isMessage {
			return closing, it.textAt(ev.content)
		}
	}
	return content, nil
}

// textAt returns the text of a part, or nil if it has none.
func (it *item) textAt(content int) *text {
	for _, x := range it.texts {
		if x.content == content {
			return x
		}
	}
	return nil
}
