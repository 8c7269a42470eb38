package responses

import (
	"bytes"
	"slices"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/wire"
	"github.com/carryon-go/carryon/internal/wire/sse"
	"github.com/carryon-go/carryon/pause"
)

// turn is a turn of the model: what was read of it, and how it is shown. Reading may be
// some events ahead of showing, so each of them finds items in an index of its own.
type turn struct {
	first    bool
	response []byte // its response object; nil before its end
	read     turnRead
	shown    turnShown
}

// turnRead is what was read of a turn.
type turnRead struct {
	tools    callerTools
	id       []byte // of the response, as it is written
	index    index
	opened   int     // how many items there are
	ahead    []*item // those that showing has not come to
	size     int     // in bytes, of all items
	refused  bool    // it is too large to be joined
	messages []*item
	calls    bool // the caller has to answer an item
	pauses   bool // a todo_pause of carryon's was called
	shells   int  // calls of a shell that have no output yet
	relayed  *int // the length of the text that is relayed
}

// turnShown is what was shown of a turn.
type turnShown struct {
	index   index
	items   []*item
	dropped map[string]bool // the ids of the calls that are left out
}

// endsIn reports whether a turn ends in reasoning behind a message, with nothing left out
// behind the message: some servers put it there.
func (s *turnShown) endsIn(it *item) bool {
	at := slices.Index(s.items, it)
	for _, other := range s.items[at+1:] {
		if other.kind != reasoning {
			return false
		}
	}
	for _, other := range slices.Backward(s.items[:at]) {
		if other.kind != reasoning {
			return other.kind == message && other.shown.visibility == visible
		}
	}
	return false
}

// callerTools are tools of the caller that carryon must not take for others.
type callerTools struct {
	pause bool // todo_pause
	shell bool
}

// isPause reports whether a tool's name is that of carryon's todo_pause.
func (t *callerTools) isPause(name string) bool { return !t.pause && pause.Is(name) }

// item is an item of the model's output.
type item struct {
	kind  kind // as its first event has it
	turn  *turn
	index int    // its output_index, or none
	id    string // "" without one
	read  itemRead
	shown itemShown
}

// itemRead is what was read of an item.
type itemRead struct {
	kind      kind // known from its last event at the latest
	callID    string
	name      string // of a function, as the engine is to know it
	phase     string // as it is written, or ""
	texts     textLengths
	arguments int  // bytes that were reported
	named     bool // the name was reported
	counted   bool // the item was read
	listed    bool // it is one of the turn's messages
}

// textLengths are the lengths of the texts of an item's parts.
type textLengths struct {
	first  int
	others map[int]*int // by content_index
}

// of returns the length of the text of a part.
func (l *textLengths) of(content int) *int {
	if content == 0 {
		return &l.first
	}
	n := l.others[content]
	if n == nil {
		if l.others == nil {
			l.others = make(map[int]*int)
		}
		n = new(int)
		l.others[content] = n
	}
	return n
}

// sum returns the length of all texts.
func (l *textLengths) sum() int {
	sum := l.first
	for _, n := range l.others {
		sum += *n
	}
	return sum
}

// index finds the items of a turn by what their events say of them: an output
// index, an id, or both.
type index map[itemKey]*item

type itemKey struct {
	output int    // or none
	id     string // or ""
}

// add adds the newest item.
func (x *index) add(it *item) {
	if *x == nil {
		*x = make(index)
	}
	if it.index != none {
		(*x)[itemKey{it.index, ""}] = it
	}
	if it.id != "" {
		(*x)[itemKey{it.index, it.id}], (*x)[itemKey{none, it.id}] = it, it
	}
}

// find returns the item that an event is about, or nil: the newest one with its
// index, unless its id names an older one. Some servers reuse an index, and some
// give an item a different id in each event.
func (x index) find(ev *event) *item {
	it := x[itemKey{ev.output, rawjson.TextView(ev.idOf())}]
	if it == nil {
		it = x[itemKey{ev.output, ""}]
	}
	return it
}

// Limits of a turn that is joined.
const (
	maxID    = wire.MaxRepeated // bytes of an id
	maxItems = 16 << 10
	maxRead  = 64 << 20 // bytes of items and of what is added to them
)

// newItem returns the item that an event begins.
func (t *turn) newItem(ev *event) *item {
	k := ev.fields.kind
	if ev.kind == textDelta {
		k = message
	}
	return &item{kind: k, turn: t, index: ev.output, id: rawjson.TextOf(ev.idOf()), read: itemRead{kind: k}}
}

// open opens the item that an event begins, for reading.
func (t *turn) open(ev *event, to adapter.TurnReader) *item {
	r, it := &t.read, t.newItem(ev)
	r.opened++
	if r.opened > maxItems || len(it.id) > maxID {
		t.refuse(to)
		return it
	}
	r.index.add(it)
	r.ahead = append(r.ahead, it)
	return it
}

// enter returns the item that an event begins, for showing: the one that reading has
// opened at that event.
func (t *turn) enter(ev *event) *item {
	id, ahead := rawjson.TextView(ev.idOf()), t.read.ahead
	for i, it := range ahead {
		if it.index == ev.output && it.id == id {
			t.read.ahead = ahead[i+1:]
			return it
		}
	}
	return t.newItem(ev)
}

// refuse ends the reading of a turn that is larger than any answer is.
func (t *turn) refuse(to adapter.TurnReader) {
	t.read.refused = true
	if t.first {
		to.Unknown() // nothing can be joined to it
	} else {
		to.Fail(wire.ErrUnreadable)
	}
}

// readEvent reports an event's additions to the turn.
func (t *turn) readEvent(ev *event, to adapter.TurnReader) {
	r := &t.read
	r.size += len(ev.item) + len(ev.delta)
	if r.size > maxRead {
		t.refuse(to)
		return
	}
	switch ev.kind {
	case itemAdded:
		t.readItem(t.open(ev, to), &ev.fields, to)
	case itemDone:
		it := r.index.find(ev)
		if it == nil {
			it = t.open(ev, to)
		}
		t.readItem(it, &ev.fields, to)
	case summaryDelta, reasoningDelta:
		to.Reasoning(rawjson.TextOf(ev.delta))
	case refusalDelta, refusalDone:
		to.Refusal()
	default:
		it := r.index.find(ev)
		if it == nil && ev.kind == textDelta {
			it = t.open(ev, to)
			r.list(it)
		}
		if it != nil {
			it.readPart(ev, to)
		}
	}
}

// list adds an item to the messages of the turn.
func (r *turnRead) list(it *item) {
	if !it.read.listed {
		it.read.listed, r.messages = true, append(r.messages, it)
	}
}

// readPart reports an event's additions to an open item.
func (it *item) readPart(ev *event, to adapter.TurnReader) {
	switch ev.kind {
	case textDelta:
		it.readText(ev.content, ev.delta, to)
	case textDone:
		it.readWhole(ev.content, ev.text, to)
	case partDone:
		s := rawjson.Over(ev.part)
		it.readWhole(ev.content, readPart(&s).text, to)
	case argumentsDelta:
		it.readCall(ev.name, ev.delta, to)
	case argumentsDone:
		it.readCall(ev.name, it.unread(ev.arguments), to)
	default:
		it.readCall(nil, nil, to)
	}
}

// readText reports an addition to the text of a part.
func (it *item) readText(content int, raw []byte, to adapter.TurnReader) {
	text := rawjson.TextOf(raw)
	*it.read.texts.of(content) += len(text)
	to.Text(text)
}

// readWhole reports the whole text of a part, unless its pieces were reported.
func (it *item) readWhole(content int, raw []byte, to adapter.TurnReader) {
	if *it.read.texts.of(content) == 0 {
		it.readText(content, raw, to)
	}
}

// readContent reports the parts of a message's content that have not been reported.
func (it *item) readContent(content []byte, to adapter.TurnReader) {
	for i, p := range partsOf(content) {
		switch {
		case p.text != nil:
			it.readWhole(i, p.text, to)
		case string(p.kind) == refusalPart:
			to.Refusal()
		}
	}
}

// unread returns the arguments of a call if they have not been reported.
func (it *item) unread(arguments []byte) []byte {
	if it.read.arguments > 0 {
		return nil
	}
	return arguments
}

// readCall reports an addition to a function call: its name, unless that is known,
// and arguments. It ignores other items.
func (it *item) readCall(name, arguments []byte, to adapter.TurnReader) {
	r := &it.read
	if r.kind != functionCall {
		return
	}
	if r.name == "" {
		r.name = rawjson.TextOf(name)
	}
	added := ""
	if !r.named {
		r.named, added = r.name != "", r.name
	}
	text := wire.TextOrJSON(arguments)
	r.arguments += len(text)
	to.Call(max(it.index, 0), r.callID, added, text)
}

// readItem reports an item from its first or its last event.
func (t *turn) readItem(it *item, f *fields, to adapter.TurnReader) {
	r := &it.read
	isNew := !r.counted
	r.counted = true
	if isNew || r.kind == unknown {
		r.kind = f.kind
	}
	if r.name == "" {
		r.name = f.nameOf()
	}
	if r.callID == "" {
		r.callID = rawjson.TextOf(f.callID)
	}
	if !rawjson.IsNull(f.phase) {
		r.phase = string(f.phase)
	}
	t.readKind(it, f, isNew, to)
}

// readKind reports the parts of an item that depend on its kind.
func (t *turn) readKind(it *item, f *fields, isNew bool, to adapter.TurnReader) {
	r := &t.read
	switch f.kind {
	case message:
		r.list(it)
		it.readContent(f.content, to)
	case functionCall:
		r.calls = true
		r.pauses = r.pauses || r.tools.isPause(it.read.name)
		it.readCall(nil, it.unread(f.arguments), to)
	case otherCall:
		r.calls = true
		to.OtherCall()
	case shellCall:
		r.shells += count(isNew)
		if !t.first && r.tools.shell {
			to.OtherCall()
		}
		to.Content()
	case shellOutput:
		r.shells -= count(isNew)
		to.Content()
	case compaction:
		to.Unknown()
	case unknown:
		to.Unknown()
		if !t.first {
			to.OtherCall() // a part of it may be a part of a call
		}
	case hosted:
		to.Content()
	case reasoning:
		t.readReasoning(to)
	}
}

// readReasoning reports an item of reasoning. It goes with the message before it, which is
// shown even if it says the same again.
func (t *turn) readReasoning(to adapter.TurnReader) {
	if !t.first && len(t.read.messages) > 0 {
		to.Content()
	}
}

func count(isNew bool) int {
	if isNew {
		return 1
	}
	return 0
}

// phases returns the messages of the turn.
func (r *turnRead) phases() []phase {
	all := make([]phase, 0, len(r.messages))
	for _, it := range r.messages {
		all = append(all, phase{it.read.texts.sum(), it.read.phase})
	}
	return all
}

// turnEnd says how a response has ended.
type turnEnd struct {
	status, details, failure []byte
	goesOn                   bool // the client is told to ask again, and does
}

// readEnd reports how a response ended, and what it used. It returns the usage, or nil.
func (t *turn) readEnd(response []byte, to adapter.TurnReader) (usage []byte) {
	var end turnEnd
	s := rawjson.Over(response)
	for name := range s.Members() {
		switch name {
		case "id":
			t.read.id = bytes.Clone(s.Raw())
			to.Response(rawjson.TextView(t.read.id), "")
		case "model":
			to.Response("", rawjson.TextView(s.Raw()))
		case "status":
			end.status = s.Raw()
		case "incomplete_details":
			end.details = s.Raw()
		case "error":
			end.failure = s.Raw()
		case "end_turn":
			end.goesOn = string(s.Raw()) == "false"
		case "output":
			t.readOutput(s.Raw(), to)
		case "usage":
			if raw := s.Raw(); len(raw) > 0 && raw[0] == '{' {
				usage = raw
				to.Usage(usageOf(raw))
			}
		}
	}
	t.read.finish(&end, to)
	return usage
}

// finish reports the finish reason. The protocol has none, so finish derives it from
// the status and the items.
func (r *turnRead) finish(e *turnEnd, to adapter.TurnReader) {
	switch word := rawjson.TextView(e.status); {
	case word == "failed" || word == "completed" && !rawjson.IsNull(e.failure):
		to.Fail(wire.Reported(e.failure))
	case word == "incomplete":
		to.Finish(incompleteBy(e.details))
	case word != "completed":
		to.Finish("status_" + word)
	case r.calls || r.shells > 0:
		to.Finish("tool_calls")
	case e.goesOn:
		to.Finish("end_turn_false")
	default:
		to.Finish("stop")
	}
}

// readOutput reads items that were not streamed.
func (t *turn) readOutput(output []byte, to adapter.TurnReader) {
	r := &t.read
	listed, streamed, streamsCalls := 0, r.opened, r.calls
	s := rawjson.Over(output)
	for i := range s.Elements() {
		listed++
		switch f := readItem(&s); {
		case f.kind == unknown || f.kind == compaction:
			to.Unknown()
		case f.kind == functionCall && !streamsCalls:
			t.readItem(t.open(&event{kind: itemDone, output: i, fields: f}, to), &f, to)
		case f.kind == otherCall && !streamsCalls:
			r.calls = true
			to.OtherCall()
		}
	}
	if listed > 0 && streamed == 0 {
		to.Unknown() // nothing of it was shown
	}
	if r.shells > 0 {
		to.OtherCall()
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
