package responses

import (
	"bytes"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/wire"
	"github.com/carryon-go/carryon/internal/wire/sse"
	"github.com/carryon-go/carryon/pause"
)

// reader is the part of a turn that was read.
type reader struct {
	ownPause bool   // a todo_pause is the caller's own
	ownShell bool   // a shell is the caller's own
	later    bool   // it is a continuation
	id       []byte // of the response, as it is written
	items    index[*heard]
	opened   int      // how many there are
	kept     int      // how many bytes there are of them
	refused  bool     // it is too large to be joined
	said     []*heard // the messages
	calls    bool     // the caller has to answer an item
	pauses   bool     // a todo_pause of carryon's was called
	shells   int      // calls of a shell that have no output yet
	last     *int     // the length of the text that is relayed
}

// heard is the part of an item that was read.
type heard struct {
	kind      kind
	index     int
	id        string
	callID    string
	name      string // of a function, as the engine is to know it
	phase     string
	length    int          // of the text of its first part
	lengths   map[int]*int // of the texts of others, by content_index
	arguments int          // bytes that were reported
	named     bool         // the name was reported
	counted   bool         // the item was read
	listed    bool         // it is one of the messages that were said
}

// Limits of a turn that is joined.
const (
	maxID    = 4 << 10 // bytes of an item's id, with which carryon writes events of its own
	maxItems = 16 << 10
	maxKept  = 64 << 20 // bytes of items and of what is added to them
)

// open returns the item that an event begins.
func (r *reader) open(ev *event, t adapter.TurnReader) *heard {
	it := &heard{index: ev.output, id: rawjson.TextOf(ev.idOf())}
	if r.opened++; r.opened > maxItems || len(it.id) > maxID {
		r.refuse(t)
		return it
	}
	if r.items == nil {
		r.items = make(index[*heard])
	}
	r.items.add(it.index, it.id, it)
	return it
}

// refuse ends the reading of a turn that is larger than any answer is.
func (r *reader) refuse(t adapter.TurnReader) {
	r.refused = true
	if r.later {
		t.Fail(wire.ErrUnreadable)
	} else {
		t.Unknown() // nothing can be joined to it
	}
}

// lengthOf returns the length of the text that was read of a part.
func (it *heard) lengthOf(content int) *int {
	if content == 0 {
		return &it.length
	}
	n := it.lengths[content]
	if n == nil {
		if it.lengths == nil {
			it.lengths = make(map[int]*int)
		}
		n = new(int)
		it.lengths[content] = n
	}
	return n
}

// list adds a message to those that were said.
func (r *reader) list(it *heard) {
	if !it.listed {
		it.listed, r.said = true, append(r.said, it)
	}
}

// read reports an event's additions to the turn.
func (r *reader) read(ev *event, t adapter.TurnReader) {
	if r.kept += len(ev.item) + len(ev.delta); r.kept > maxKept {
		r.refuse(t)
		return
	}
	switch ev.kind {
	case itemAdded:
		r.readItem(r.open(ev, t), &ev.fields, t)
	case itemDone:
		it, ok := r.items.find(ev)
		if !ok {
			it = r.open(ev, t)
		}
		r.readItem(it, &ev.fields, t)
	case summaryDelta, reasoningDelta:
		t.Reasoning(rawjson.TextOf(ev.delta))
	case refusalDelta, refusalDone:
		t.Refusal()
	default:
		it, ok := r.items.find(ev)
		if !ok && ev.kind == textDelta {
			it, ok = r.open(ev, t), true
			it.kind = message
			r.list(it)
		}
		if ok {
			r.readPart(it, ev, t)
		}
	}
}

// readPart reports an event's additions to an open item.
func (r *reader) readPart(it *heard, ev *event, t adapter.TurnReader) {
	switch ev.kind {
	case textDelta:
		it.say(ev.content, ev.delta, t)
	case textDone:
		it.sayOnce(ev.content, ev.text, t)
	case partDone:
		s := rawjson.Over(ev.part)
		it.sayOnce(ev.content, readPart(&s).text, t)
	case argumentsDelta:
		it.call(ev.name, ev.delta, t)
	case argumentsDone:
		it.call(ev.name, it.unheard(ev.arguments), t)
	default:
		if it.kind == functionCall {
			it.call(nil, nil, t)
		}
	}
}

// say reports a text.
func (it *heard) say(content int, text []byte, t adapter.TurnReader) {
	said := rawjson.TextOf(text)
	*it.lengthOf(content) += len(said)
	t.Text(said)
}

// sayOnce reports a repeated text, unless it was reported before.
func (it *heard) sayOnce(content int, text []byte, t adapter.TurnReader) {
	if *it.lengthOf(content) == 0 {
		it.say(content, text, t)
	}
}

// unheard returns the arguments of a call if they have not been reported.
func (it *heard) unheard(arguments []byte) []byte {
	if it.arguments > 0 {
		return nil
	}
	return arguments
}

// call reports an addition to a function call: its name, unless that is known,
// and arguments.
func (it *heard) call(name, arguments []byte, t adapter.TurnReader) {
	if it.kind != functionCall {
		return
	}
	if it.name == "" {
		it.name = rawjson.TextOf(name)
	}
	added := ""
	if !it.named {
		it.named, added = it.name != "", it.name
	}
	text := textOrJSON(arguments)
	it.arguments += len(text)
	t.Call(max(it.index, 0), it.callID, added, text)
}

// readItem reports an item from its first or its last event.
func (r *reader) readItem(it *heard, f *fields, t adapter.TurnReader) {
	isNew := !it.counted
	if it.counted = true; isNew || it.kind == unknown {
		it.kind = f.kind
	}
	if it.name == "" {
		it.name = f.nameOf()
	}
	if it.callID == "" {
		it.callID = rawjson.TextOf(f.callID)
	}
	if !rawjson.IsNull(f.phase) {
		it.phase = string(f.phase)
	}
	r.readKind(it, f, isNew, t)
}

// readKind reports the parts of an item that depend on its kind.
func (r *reader) readKind(it *heard, f *fields, isNew bool, t adapter.TurnReader) {
	switch f.kind {
	case message:
		r.list(it)
		readContent(it, f.content, t)
	case functionCall:
		r.calls = true
		r.pauses = r.pauses || !r.ownPause && pause.Is(it.name)
		it.call(nil, it.unheard(f.arguments), t)
	case otherCall:
		r.calls = true
		t.OtherCall()
	case shellCall:
		if r.shells += count(isNew); r.later && r.ownShell {
			t.OtherCall()
		}
	case shellOutput:
		r.shells -= count(isNew)
	case compaction:
		t.Unknown()
	case unknown:
		if t.Unknown(); r.later {
			t.OtherCall() // a part of it may be a part of a call
		}
	case reasoning, hosted:
	}
}

func count(isNew bool) int {
	if isNew {
		return 1
	}
	return 0
}

// readContent reports the parts of a message's content that have not been
// reported.
func readContent(it *heard, content []byte, t adapter.TurnReader) {
	for i, p := range partsOf(content) {
		switch {
		case p.text != nil:
			it.sayOnce(i, p.text, t)
		case string(p.kind) == refusalPart:
			t.Refusal()
		}
	}
}

// messages returns the messages of the turn.
func (r *reader) messages() said {
	all := make(said, 0, len(r.said))
	for _, it := range r.said {
		length := it.length
		for _, n := range it.lengths {
			length += *n
		}
		all = append(all, saidMessage{length, it.phase})
	}
	return all
}

// ending is how a response has ended.
type ending struct {
	status, details, failure []byte
	goesOn                   bool // the client is told to ask again, and does
}

// finish reports how a response ended, and what it used. It returns the usage,
// or nil.
func (r *reader) finish(response []byte, t adapter.TurnReader) (usage []byte) {
	var end ending
	s := rawjson.Over(response)
	for name := range s.Members() {
		switch name {
		case "id":
			r.id = bytes.Clone(s.Raw())
		case "status":
			end.status = s.Raw()
		case "incomplete_details":
			end.details = s.Raw()
		case "error":
			end.failure = s.Raw()
		case "end_turn":
			end.goesOn = string(s.Raw()) == "false"
		case "output":
			r.readOutput(s.Raw(), t)
		case "usage":
			if raw := s.Raw(); len(raw) > 0 && raw[0] == '{' {
				usage = raw
				t.Usage(usageOf(raw))
			}
		}
	}
	r.end(&end, t)
	return usage
}

// end reports the finish reason. The protocol has none, so end derives it from
// the status and the items.
func (r *reader) end(e *ending, t adapter.TurnReader) {
	switch word := rawjson.TextView(e.status); {
	case word == "failed" || word == "completed" && !rawjson.IsNull(e.failure):
		t.Fail(wire.Reported(e.failure))
	case word == "incomplete":
		t.Finish(incompleteBy(e.details))
	case word != "completed":
		t.Finish("status_" + word)
	case r.calls || r.shells > 0:
		t.Finish("tool_calls")
	case e.goesOn:
		t.Finish("end_turn_false")
	default:
		t.Finish("stop")
	}
}

// readOutput reads items that were not streamed.
func (r *reader) readOutput(output []byte, t adapter.TurnReader) {
	listed := 0
	s := rawjson.Over(output)
	for range s.Elements() {
		listed++
		switch f := readItem(&s); {
		case f.kind == unknown || f.kind == compaction:
			t.Unknown()
		case (f.kind == functionCall || f.kind == otherCall) && !r.calls:
			r.calls = true
			t.OtherCall()
		}
	}
	if listed > 0 && r.opened == 0 {
		t.Unknown() // nothing of it was shown
	}
	if r.shells > 0 {
		t.OtherCall()
	}
}

// incompleteBy returns the finish reason of a response that is incomplete.
func incompleteBy(details []byte) string {
	switch word := rawjson.TextOf(rawjson.Member(details, "reason")); word {
	case "max_output_tokens":
		return "length"
	case "":
		return "incomplete"
	default:
		return word
	}
}

func usageOf(raw []byte) (u adapter.Usage) {
	s := rawjson.Over(raw)
	for name := range s.Members() {
		switch name {
		case "input_tokens":
			u.Prompt = intOr(s.Raw(), 0)
		case "output_tokens":
			u.Completion = intOr(s.Raw(), 0)
		case "total_tokens":
			u.Total = intOr(s.Raw(), 0)
		}
	}
	return u
}

// errorIn returns the error that an event reports.
func errorIn(e *sse.Event, ev *event) *wire.ProviderError {
	if !rawjson.IsNull(ev.failure) {
		return wire.Reported(ev.failure)
	}
	return wire.Reported(e.Data())
}

// isFailure reports whether an event is an error or unreadable.
func isFailure(e *sse.Event, ev *event) bool {
	return e.Kind == sse.Broken || ev.kind == failed || !rawjson.IsNull(ev.failure) || string(e.Name()) == failed
}
