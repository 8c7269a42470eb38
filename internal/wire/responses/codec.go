package responses

import (
	"sync"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/wire"
	"github.com/carryon-go/carryon/internal/wire/sse"
)

// codec reads and shows a streamed answer.
type codec struct {
	wire.Usage

	request *request
	turn    *turn // the current one
	answer  answer
	began   bool    // the first turn's id was read
	firstID string  // the id of the first turn
	last    *parsed // the event that was read last, until it is shown
}

// parsed is an event with its members.
type parsed struct {
	data  []byte // identifies the event: Read parses each event, also one that reuses this memory, before it is shown
	event event
}

// parsedPool shares them between streams: they are too large for each open
// stream to have its own.
var parsedPool = sync.Pool{New: func() any { return new(parsed) }} //nolint:gochecknoglobals // a pool

var (
	_ wire.Codec  = (*codec)(nil)
	_ wire.Holder = (*codec)(nil)
)

func newCodec(r *request) *codec {
	return &codec{request: r, turn: r.newTurn(true), answer: newAnswer(r.declares)}
}

// Clone implements [adapter.Dialect].
func (c *codec) Clone(e *sse.Event) sse.Event { return e.Clone() }

// EndTurn implements [adapter.Dialect].
func (c *codec) EndTurn(keep bool) {
	c.forget()
	c.Usage.EndTurn(keep)
	if keep {
		c.request.keep(c.firstID, &c.turn.read)
	}
	c.turn = c.request.newTurn(false)
}

// Read implements [adapter.Dialect].
func (c *codec) Read(e *sse.Event, t adapter.TurnReader) {
	t.Size(len(e.Raw))
	ev := c.parse(e)
	if isDone(e) {
		c.answer.hasDone = true
		t.Done()
		return
	}
	switch {
	case e.Kind == sse.Broken:
		t.Fail(wire.ErrUnreadable)
	case isFailure(e, ev):
		t.Fail(errorIn(e, ev))
	case e.Kind != sse.Object:
	case stageOf(ev.kind) == beginning:
		c.begin(len(e.Name()) > 0, ev)
		t.Response(rawjson.TextView(rawjson.Member(ev.response, "id")), rawjson.TextView(rawjson.Member(ev.response, "model")))
	case stageOf(ev.kind) == last:
		c.readEnd(e, ev, t)
	default:
		c.turn.readEvent(ev, t)
	}
}

// parse reads the members of an event, and keeps them for lastParsed.
func (c *codec) parse(e *sse.Event) *event {
	if c.last == nil {
		c.last, _ = parsedPool.Get().(*parsed)
	}
	p := c.last
	p.data, p.event = e.Data(), event{output: none, sequence: none}
	if e.Kind == sse.Object {
		p.event.read(p.data)
	}
	return &p.event
}

// lastParsed returns the members of an event that is shown, which is usually the
// one that was read last.
func (c *codec) lastParsed(e *sse.Event) *event {
	data := e.Data()
	if p := c.last; p != nil && len(data) > 0 && len(p.data) == len(data) && &p.data[0] == &data[0] {
		return &p.event
	}
	return c.parse(e)
}

// forget gives up the members of the last event, which need not be kept while the
// stream waits.
func (c *codec) forget() {
	if c.last == nil {
		return
	}
	*c.last = parsed{}
	parsedPool.Put(c.last)
	c.last = nil
}

// begin reads an event that begins a turn, which may have a name.
func (c *codec) begin(named bool, ev *event) {
	if !c.turn.first || c.began || ev.response == nil {
		return
	}
	c.began, c.answer.output.writer.named = true, named
	c.firstID = rawjson.TextOf(rawjson.Member(ev.response, "id"))
	c.request.chains.forget(c.request.caller, c.firstID)
}

// readEnd reads the event that ends a turn.
func (c *codec) readEnd(e *sse.Event, ev *event, t adapter.TurnReader) {
	if usage := c.turn.readEnd(ev.response, t); usage != nil {
		c.SetUsage(usage)
	}
	if !c.turn.first || c.turn.read.calls {
		return
	}
	c.answer.end.base = e.Keep(ev.response)
	if !isSound(ev.response) {
		t.Unknown() // nothing can be joined to it
	}
}

// The roles of the values that vary between events.
const (
	roleText wire.Role = wire.Ignored + 1 + iota
	roleReasoning
	roleSequence
)

// relayed are the events that add to an open item, with the role of the value
// that they add.
var relayed = map[string]wire.Role{ //nolint:gochecknoglobals // constant
	textDelta: roleText, summaryDelta: roleReasoning, reasoningDelta: roleReasoning, argumentsDelta: wire.Ignored,
	"response.custom_tool_call_input.delta": wire.Ignored, "response.code_interpreter_call_code.delta": wire.Ignored,
	"response.mcp_call_arguments.delta": wire.Ignored, "response.shell_call_command.delta": wire.Ignored,
	"response.shell_call_output_content.delta":       wire.Ignored,
	"response.apply_patch_call_operation_diff.delta": wire.Ignored,
}

// Classify implements [wire.Codec]. The events that begin the answer, and a
// delta of the open item, may be relayed. The name of an event is its type, so
// most other events can be rejected without reading their data.
func (c *codec) Classify(name, data []byte, v *wire.Values) bool {
	if !c.turn.first || len(name) > 0 && !mayRelay(string(name)) || rawjson.ObjectEnd(data) != len(data) {
		return false
	}
	ev := eventOf(data)
	switch {
	case len(name) > 0 && string(name) != ev.kind:
		return false
	case stageOf(ev.kind) == beginning:
		c.begin(len(name) > 0, &ev)
		c.answer.output.writer.follow(ev.sequence)
		return c.began
	}
	return c.classifyDelta(data, &ev, v)
}

// mayRelay reports whether an event of that type may be relayed.
func mayRelay(kind string) bool {
	_, ok := relayed[kind]
	return ok || stageOf(kind) == beginning
}

// classifyDelta is Classify for an event that does not begin the answer.
func (c *codec) classifyDelta(data []byte, ev *event, v *wire.Values) bool {
	role, ok := relayed[ev.kind]
	if !ok || !c.began || !rawjson.IsString(ev.delta) {
		return false
	}
	it := c.turn.read.index.find(ev)
	if it == nil || (role == roleText) != (it.read.kind == message) || !addValues(data, role, v) {
		return false
	}
	switch role {
	case roleText:
		c.turn.read.relayed = it.read.texts.of(ev.content)
	case wire.Ignored:
		it.read.arguments++ // which need not be known
	}
	return true
}

// addValues adds the values that vary between deltas, and reports whether the
// event has no others that matter.
func addValues(data []byte, role wire.Role, v *wire.Values) bool {
	s := rawjson.Over(data)
	for name := range s.Members() {
		as := wire.Ignored
		switch name {
		case "delta":
			as = role
		case "sequence_number":
			as = roleSequence
		case "obfuscation", "logprobs":
		case "error":
			return false
		default:
			continue
		}
		if raw := s.Raw(); string(raw) != "[]" && !v.Add(s.At()-len(raw), s.At(), as) {
			return false
		}
	}
	return true
}

// Observe implements [wire.Codec].
func (c *codec) Observe(role wire.Role, value []byte, r wire.Relay) {
	switch role {
	case roleText:
		*c.turn.read.relayed += len(value)
		r.Text(rawjson.View(value))
	case roleReasoning:
		r.Reasoning(rawjson.View(value))
	case roleSequence:
		w := &c.answer.output.writer
		w.sequence = intOr(value, w.sequence)
	}
}

// Hold implements [wire.Holder].
func (c *codec) Hold(e sse.Event) {
	a, out, ev := &c.answer, &c.answer.output, c.lastParsed(&e)
	defer c.forget()
	switch {
	case stageOf(ev.kind) == last:
		out.flush(true)
		if out.writer.renumbers {
			a.end.event, a.end.usage = e.Data(), nil
			e = a.end.write(&out.writer, ev.response)
		}
		out.write(e)
	case out.items.moved:
		out.write(e)
	case c.turn.read.refused:
		out.flush(true)
		out.write(e)
	default:
		a.hold(c.turn, e, ev)
	}
}

// Release implements [wire.Holder].
func (c *codec) Release() { c.answer.output.flush(true) }

// Next implements [wire.Holder].
func (c *codec) Next() (sse.Event, bool) { return c.answer.output.takeNext() }

// IsHolding implements [wire.Holder].
func (c *codec) IsHolding() bool { return !c.answer.output.queue.isEmpty() }

// AppendHeartbeat implements [adapter.Heartbeat] with an empty text, which models send
// too, while a message is open. Clients fail on events of other types.
func (c *codec) AppendHeartbeat(dst []sse.Event) []sse.Event {
	out := &c.answer.output
	out.ready = dst
	c.answer.heartbeat()
	return out.take()
}

// AppendShown implements [adapter.Dialect].
func (c *codec) AppendShown(dst []sse.Event, e *sse.Event, edit *adapter.Edit) []sse.Event {
	a, out := &c.answer, &c.answer.output
	out.items.moved, out.ready = true, dst
	ev := c.lastParsed(e)
	defer c.forget()
	switch edit.Part {
	case adapter.Whole:
		if e.Kind == sse.Object {
			a.add(c.turn, *e, ev, edit)
		}
	case adapter.Synthetic, adapter.UsageOnly:
		c.showEdit(e, ev, edit)
	case adapter.TurnCut:
		if t := a.end.lastTurn(); t != nil {
			a.cutTurn(t)
		}
	case adapter.TurnError:
		c.showError(e, ev)
	case adapter.AnswerEnd:
		out.flush(true)
		out.write(a.end.write(&out.writer, rawjson.Member(a.end.event, "response")))
		if a.hasDone {
			out.write(sse.Written("", []byte(doneMark), sse.Text))
		}
	}
	out.flush(false)
	return out.take()
}

// showEdit shows what has no event, or takes it for the end of the answer.
func (c *codec) showEdit(e *sse.Event, ev *event, edit *adapter.Edit) {
	a := &c.answer
	a.say(edit.Text)
	if edit.FinishOr("stop") != "" {
		a.end.event = e.Keep(e.Data())
	}
	if usage := c.ShownUsage(edit.Usage, rawjson.Member(ev.response, "usage")); usage != nil {
		a.end.usage = usage
	}
}

// showError ends the answer with the error that an event reports. It shows nothing if
// the event is not the protocol's own report of one.
func (c *codec) showError(e *sse.Event, ev *event) {
	a, out := &c.answer, &c.answer.output
	switch {
	case ev.kind == responseFailed:
		out.flush(true)
		a.end.event, a.end.usage = e.Keep(e.Data()), nil
		out.write(a.end.write(&out.writer, ev.response))
	case e.Kind == sse.Object && stageOf(ev.kind) != last:
		out.flush(true)
		out.emit(&entry{event: *e, sequence: ev.sequence})
	}
}
