package responses

import (
	"encoding/json"
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
	reader  *reader // of the current turn
	answer  answer
	began   bool    // the first turn's id was read
	later   bool    // the first turn has ended
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
	return &codec{request: r, reader: r.newReader(false), answer: answer{sequence: none, watches: r.declares}}
}

// Clone implements [adapter.Dialect].
func (c *codec) Clone(e *sse.Event) sse.Event { return e.Clone() }

// EndTurn implements [adapter.Dialect].
func (c *codec) EndTurn(keep bool) {
	c.forget()
	c.Usage.EndTurn(keep)
	if keep {
		c.request.keep(c.firstID, c.reader)
	}
	c.later, c.reader = true, c.request.newReader(true)
	c.answer.endTurn()
}

// newReader returns the reader of a turn.
func (r *request) newReader(later bool) *reader {
	return &reader{ownPause: r.ownPause, ownShell: r.ownShell, later: later}
}

// keep records a turn that was kept: its messages, and that its response has
// the whole answer in its history. It does not record the response if a
// todo_pause was left out of it: the server would demand a result for that
// call.
func (r *request) keep(firstID string, turn *reader) {
	r.turns = append(r.turns, turn.messages())
	id := rawjson.TextOf(turn.id)
	if r.stored && len(r.turns) > 1 && !turn.pauses && id != "" && id != firstID && firstID != "" {
		r.chains.put(r.caller, firstID, id)
	}
}

// Read implements [adapter.Dialect].
func (c *codec) Read(e *sse.Event, t adapter.TurnReader) {
	t.Size(len(e.Raw))
	ev := c.parse(e)
	if isDone(e) {
		c.answer.saidDone = true
		t.Done()
		return
	}
	switch {
	case isFailure(e, ev):
		if e.Kind == sse.Broken {
			t.Fail(wire.ErrUnreadable)
			return
		}
		t.Fail(errorIn(e, ev))
	case e.Kind != sse.Object:
	case c.later && !json.Valid(e.Data()):
		t.Fail(wire.ErrUnreadable)
	case stageOf(ev.kind) == beginning:
		c.begin(len(e.Name()) > 0, ev)
	case stageOf(ev.kind) == last:
		c.finish(e, ev, t)
	default:
		c.reader.read(ev, t)
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
	if c.later || c.began || ev.response == nil {
		return
	}
	c.began, c.answer.named = true, named
	c.firstID = rawjson.TextOf(rawjson.Member(ev.response, "id"))
	c.request.chains.forget(c.request.caller, c.firstID)
}

// finish reads the event that ends a turn.
func (c *codec) finish(e *sse.Event, ev *event, t adapter.TurnReader) {
	if usage := c.reader.finish(ev.response, t); usage != nil {
		c.SetUsage(usage)
	}
	if c.later || c.reader.calls {
		return
	}
	if c.answer.base = e.Keep(ev.response); !isSound(ev.response) {
		t.Unknown() // nothing can be joined to it
	}
}

// AppendHeartbeat implements [adapter.Heartbeat] with an empty text, which
// models send too, while a message is open. Clients fail on events of other
// types.
func (c *codec) AppendHeartbeat(dst []sse.Event) []sse.Event {
	a := &c.answer
	x := a.openText()
	if x == nil {
		return dst
	}
	e := a.deltaOf(piece{x, ""})
	a.grown, a.out = true, dst
	a.emit(&e)
	return a.takeOut()
}

// IsHolding implements [wire.Holder].
func (c *codec) IsHolding() bool { return !c.answer.queue.isEmpty() }

// Release implements [wire.Holder].
func (c *codec) Release() { c.answer.flush(true) }

// Next implements [wire.Holder].
func (c *codec) Next() (e sse.Event, ok bool) {
	a := &c.answer
	if a.next == len(a.out) {
		a.out, a.next = a.out[:0], 0
		return e, false
	}
	e, a.out[a.next] = a.out[a.next], sse.Event{} // the caller's now
	a.next++
	return e, true
}

// Hold implements [wire.Holder].
func (c *codec) Hold(e sse.Event) {
	a, ev := &c.answer, c.lastParsed(&e)
	defer c.forget()
	isEnd := stageOf(ev.kind) == last
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
	case c.reader.refused:
		a.flush(true)
		a.out = append(a.out, e)
	default:
		a.take(e, ev)
		a.flush(false)
	}
}

// take puts an event of turn 1 into the queue as it came.
func (a *answer) take(e sse.Event, ev *event) {
	t := a.current()
	it := t.find(ev)
	if ev.kind == itemAdded || it == nil && ev.kind == itemDone {
		it = a.open(ev)
	}
	en := entry{event: e, item: it, wireSequence: ev.sequence, asItCame: true}
	if it != nil {
		en.role, en.text = it.place(&e, ev)
	}
	a.queue.push(en)
}

// place returns the event's role in its item, and the text that it repeats.
func (it *item) place(e *sse.Event, ev *event) (role, *text) {
	isMessage := it.kind == message
	switch {
	case ev.kind == itemAdded:
		return opening, nil
	case ev.kind == itemDone:
		it.closing, it.done = true, e.Keep(ev.item)
		if isMessage {
			return closing, nil
		}
	case isMessage:
		return it.placePart(ev)
	}
	return content, nil
}

// placePart is place for an event about a part of a message.
func (it *item) placePart(ev *event) (role, *text) {
	switch ev.kind {
	case partAdded:
		switch string(rawjson.Member(ev.part, "type")) {
		case textPart:
			it.text(ev.content)
		case refusalPart:
			it.text(ev.content).isRefusal = true
		}
		return opening, nil
	case textDone, refusalDone, partDone:
		if x := it.textAt(ev.content); x != nil {
			x.said, x.ended = true, x.ended || ev.kind == partDone
			return closing, x
		}
	}
	return content, nil
}
