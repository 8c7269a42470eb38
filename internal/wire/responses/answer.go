package responses

import (
	"encoding/json"
	"slices"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/logprobs"
	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/wire"
	"github.com/carryon-go/carryon/internal/wire/sse"
)

// answer is the joined answer: its turns in order, shown as one response.
//
// Turn 1 is shown unchanged. From the first event that carryon changes on, all events
// get new numbers.
type answer struct {
	output  output
	texts   hiddenTexts
	end     responseEnd
	pauses  bool // turn 1 may pause, so that its reasoning waits too
	hasDone bool // a turn has ended with [DONE]
}

func newAnswer(pauses bool) answer {
	return answer{output: output{writer: eventWriter{sequence: none}}, pauses: pauses}
}

// itemShown is how an item is shown.
type itemShown struct {
	index      int
	id         string
	visibility visibility
	begun      bool // its first event was shown
	ended      bool // its last event came, or was written
	endShown   bool // its last event was shown
	leftOpen   bool // the turn has not ended it, but carryon has
	texts      []*text
	byContent  map[int]*text // the texts by their index, once there are several
	pending    int           // how many texts the engine has not shown all of
	waiting    int           // how many events in the queue would show that the item is there
	added      []byte        // as its first event has it
	done       []byte        // as its last event has it
	arguments  []byte        // of a call in a later turn, as it came
}

// visibility says whether an item is shown.
type visibility uint8

const (
	undecided visibility = iota
	visible
	dropped
)

// text is the text of a part of a message, or a refusal.
type text struct {
	item      *item
	content   int    // its index
	hidden    string // what the engine has not shown yet
	length    int    // of what is shown
	shown     []byte // that, in later turns
	streams   bool   // it comes in deltas
	cut       bool   // not all of it is shown
	notice    string // what was added to it
	late      string // what is still to be shown before the events in the queue that repeat it
	repeated  int    // how many of these there are
	textDone  bool   // the event with the whole text came
	partDone  bool   // the event that ends the part came
	isRefusal bool

	annotations [][]byte
	tokens      logprobs.Queue[json.RawMessage] // the log probabilities of what is hidden
}

// text returns the text of a part of a message.
func (it *item) text(content int) *text {
	s := &it.shown
	if x := s.textAt(content); x != nil {
		return x
	}
	x := &text{item: it, content: content}
	s.texts = append(s.texts, x)
	if len(s.texts) == 2 {
		s.byContent = map[int]*text{s.texts[0].content: s.texts[0]}
	}
	if s.byContent != nil {
		s.byContent[content] = x
	}
	return x
}

// textAt returns the text of a part, or nil if it has none.
func (s *itemShown) textAt(content int) *text {
	if len(s.texts) == 1 && s.texts[0].content == content {
		return s.texts[0]
	}
	return s.byContent[content]
}

// hold keeps the log probabilities of a delta until its text is shown.
func (x *text) hold(delta string, raw []byte) {
	all := rawjson.Elements(raw)
	if len(all) == 0 && x.tokens.IsEmpty() {
		return
	}
	tokens := make([]json.RawMessage, 0, len(all))
	for _, token := range all {
		tokens = append(tokens, slices.Clone(token))
	}
	x.tokens.Add(delta, tokens, func(t *json.RawMessage) int { return len(rawjson.TextOf(rawjson.Member(*t, "token"))) })
}

// take returns the log probabilities of a text that is shown.
func (x *text) take(shown string) []json.RawMessage {
	if tokens := x.tokens.Take(shown); tokens != nil {
		return tokens
	}
	return []json.RawMessage{}
}

// changed reports whether the shown text differs from the model's.
func (x *text) changed() bool { return x.cut || x.notice != "" }

// final returns the shown text for the whole text of the model.
func (x *text) final(own string) string {
	if x.cut {
		own = own[:min(x.length, len(own))]
	}
	return own + x.notice
}

// hiddenTexts are the texts that the engine has not shown all of, in their order.
type hiddenTexts []*text

// add adds to a text what was reported to the engine.
func (h *hiddenTexts) add(x *text, added string) {
	if added == "" {
		return
	}
	if x.hidden == "" {
		*h = append(*h, x)
		x.item.shown.pending++
	}
	x.hidden += added
}

// segment is a piece of a text.
type segment struct {
	text *text
	part string
}

// take assigns text that the engine shows to the texts that were reported to it. It
// returns the segments, and what belongs to no text.
func (h *hiddenTexts) take(shown string) (segments []segment, other string) {
	for shown != "" && len(*h) > 0 {
		x := (*h)[0]
		n := min(len(x.hidden), len(shown))
		segments = append(segments, segment{x, shown[:n]})
		shown, x.hidden = shown[n:], x.hidden[n:]
		if x.hidden == "" {
			*h = (*h)[1:]
			x.item.shown.pending--
		}
	}
	return segments, shown
}

// cut leaves out the text that the engine has not shown. It reports whether there was
// any.
func (h *hiddenTexts) cut() bool {
	for _, x := range *h {
		x.hidden, x.cut = "", true
		x.item.shown.pending = 0
	}
	wasCut := len(*h) > 0
	*h = nil
	return wasCut
}

// enter shows an item from the event on that begins it.
func (a *answer) enter(t *turn, ev *event) *item {
	it, numbers := t.enter(ev), &a.output.items
	s := &it.shown
	s.id, s.visibility = it.id, visible
	if !t.first {
		s.id, s.added = numbers.unused(it.id), slices.Clone(ev.item)
	}
	numbers.reserve(s.id)
	switch {
	case it.kind == reasoning && (a.pauses || !t.first), it.kind == message && !t.first:
		s.visibility = undecided
	case it.kind == compaction && !t.first:
		s.visibility = dropped // it knows of the prompt
	}
	t.shown.items = append(t.shown.items, it)
	t.shown.index.add(it)
	return it
}

// hold puts an event of turn 1 into the queue as it came.
func (a *answer) hold(t *turn, e sse.Event, ev *event) {
	a.end.begin(t)
	it := t.shown.index.find(ev)
	if ev.kind == itemAdded || it == nil && ev.kind == itemDone {
		it = a.enter(t, ev)
	}
	en := entry{event: e, item: it, sequence: ev.sequence, asItCame: true}
	if it != nil {
		en.role, en.text = it.note(&e, ev)
	}
	a.output.queue.push(en)
	a.output.flush(false)
}

// add shows an event of a turn whose events are edited.
func (a *answer) add(t *turn, e sse.Event, ev *event, edit *adapter.Edit) {
	a.end.begin(t)
	switch {
	case stageOf(ev.kind) == last:
		t.response = e.Keep(ev.response)
		if t.first {
			a.end.base = t.response
		}
		a.say(edit.Text)
		a.settle(t, ev.kind != completed)
	case stageOf(ev.kind) == beginning, ev.kind == failed:
	default:
		a.addItem(t, e, ev, edit)
	}
}

// addItem shows an event about an item.
func (a *answer) addItem(t *turn, e sse.Event, ev *event, edit *adapter.Edit) {
	if (ev.kind == itemAdded || ev.kind == itemDone) && rawjson.ObjectEnd(ev.item) < 0 {
		return // there is no item in it
	}
	it := a.itemOf(t, ev)
	if it == nil {
		if t.first { // of a continuation, it says nothing about the answer
			a.output.queue.push(entry{event: e, sequence: ev.sequence})
		}
		return
	}
	if len(edit.Calls) > 0 && edit.Calls[0].Drop && !edit.Calls[0].Rewrite {
		a.leaveOut(it, ev)
		a.output.writer.renumbers = true // what follows is shown under other numbers
	}
	if it.shown.visibility != dropped {
		a.addEvent(e, it, ev, edit.Text)
	}
}

// itemOf returns the item that an event is about, and opens it if the event begins it.
// It returns nil if there is no item, or if it has ended.
func (a *answer) itemOf(t *turn, ev *event) *item {
	it := t.shown.index.find(ev)
	switch {
	case ev.kind == itemAdded:
		if it != nil && !it.shown.ended && it.shown.visibility == visible && !t.first && !it.kind.isCall() {
			a.close(it) // its index is used again
		}
		return a.enter(t, ev)
	case it != nil && !it.shown.ended:
		return it
	case t.first, it != nil && it.id == rawjson.TextOf(ev.idOf()):
		return nil
	}
	return a.enterLate(t, ev)
}

// enterLate shows an item that began without its own event. It returns nil if the event
// does not tell the kind of the item.
func (a *answer) enterLate(t *turn, ev *event) *item {
	switch ev.kind {
	case textDelta:
		begun := *ev
		begun.setItem(rawjson.Object("id", rawjson.TextOf(ev.itemID), "type", "message"))
		it := a.enter(t, &begun)
		a.beginMessage(it, nil)
		return it
	case itemDone:
		it := a.enter(t, ev)
		if it.kind == message {
			a.beginMessage(it, ev.fields.phase)
			a.repeat(it, ev.fields.content)
		} else {
			a.push(a.output.writer.about(it, nil, opening, itemAdded, "item", json.RawMessage(ev.item)))
		}
		return it
	}
	return nil
}

func (a *answer) push(e entry) { a.output.queue.push(e) }

// beginMessage begins a message that began without its own event.
func (a *answer) beginMessage(it *item, phase []byte) {
	members := []any{"id", it.id, "type", "message", "status", "in_progress", "role", "assistant", "content", []string{}}
	if len(phase) > 0 {
		members = append(members, "phase", json.RawMessage(phase))
	}
	it.shown.added = rawjson.Object(members...)
	w := &a.output.writer
	a.push(w.about(it, nil, opening, itemAdded, "item", json.RawMessage(it.shown.added)))
	a.push(w.partAdded(it.text(0)))
}

// repeat adds the events that end the texts of a message that came in one piece, with
// this content.
func (a *answer) repeat(it *item, content []byte) {
	w := &a.output.writer
	for i, p := range partsOf(content) {
		if p.text == nil {
			continue
		}
		x := it.text(i)
		x.streams = true
		if i > 0 {
			a.push(w.partAdded(x))
		}
		whole := rawjson.TextOf(p.text)
		a.push(w.textDone(x, whole))
		a.push(w.partDone(x, whole))
	}
}

// leaveOut drops a call.
func (a *answer) leaveOut(it *item, ev *event) {
	a.output.decide(it, dropped)
	s := &it.turn.shown
	if id := rawjson.TextOf(ev.fields.callID); id != "" {
		if s.dropped == nil {
			s.dropped = make(map[string]bool)
		}
		s.dropped[id] = true
	}
	if ev.kind == itemDone {
		it.shown.ended = true
	}
}

// addEvent puts an event of an item into the queue, with the text that the engine shows
// instead of its own.
func (a *answer) addEvent(e sse.Event, it *item, ev *event, shown string) {
	en := entry{event: e, item: it, sequence: ev.sequence}
	en.role, en.text = it.note(&e, ev)
	if it.turn.first { // the engine changes no text in it
		a.push(en)
		return
	}
	if it.kind == message {
		a.hideTexts(it, ev)
	}
	segments, other := a.show(shown)
	isOwn := ev.kind == textDelta && len(segments) == 1 && segments[0].text.item == it && segments[0].part == rawjson.TextOf(ev.delta)
	if isOwn {
		segments[0].text.tokens.Take(segments[0].part) // they are in the event
		a.push(en)
		return
	}
	a.addSegments(segments)
	a.addNotice(other)
	if ev.kind != textDelta {
		a.noteContent(it, &e, ev)
		a.push(en)
	}
}

// note records what an event says about its item. It returns the event's role in the
// item, and the text that it repeats.
func (it *item) note(e *sse.Event, ev *event) (role, *text) {
	isMessage := it.kind == message
	switch {
	case ev.kind == itemAdded:
		return opening, nil
	case ev.kind == itemDone:
		it.shown.ended, it.shown.done = true, e.Keep(ev.item)
		if isMessage {
			return closing, nil
		}
	case isMessage:
		return it.notePart(ev)
	}
	return content, nil
}

// notePart is note for an event about a part of a message.
func (it *item) notePart(ev *event) (role, *text) {
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
		if x := it.shown.textAt(ev.content); x != nil {
			x.textDone, x.partDone = true, x.partDone || ev.kind == partDone
			return closing, x
		}
	}
	return content, nil
}

// noteContent records what an event adds to an item of a later turn, beside text.
func (a *answer) noteContent(it *item, e *sse.Event, ev *event) {
	switch ev.kind {
	case refusalDelta:
		a.output.decide(it, visible)
		x := it.text(ev.content)
		x.isRefusal, x.shown = true, append(x.shown, rawjson.TextView(ev.delta)...)
	case annotation:
		a.output.decide(it, visible)
		x := it.text(ev.content)
		x.annotations = append(x.annotations, e.Keep(ev.annotation))
	case argumentsDelta:
		it.shown.arguments = append(it.shown.arguments, wire.TextOrJSON(ev.delta)...)
	case argumentsDone:
		it.shown.arguments = []byte(wire.TextOrJSON(ev.arguments))
	}
}

// hideTexts records the text of an event that was reported to the engine, which the
// engine has still to show.
func (a *answer) hideTexts(it *item, ev *event) {
	once := func(content int, raw []byte) {
		if x := it.text(content); x.length == 0 && x.hidden == "" && raw != nil {
			a.texts.add(x, rawjson.TextOf(raw))
		}
	}
	switch ev.kind {
	case textDelta:
		x, added := it.text(ev.content), rawjson.TextOf(ev.delta)
		x.streams = true
		x.hold(added, ev.logprobs)
		a.texts.add(x, added)
	case textDone:
		once(ev.content, ev.text)
	case partDone:
		s := rawjson.Over(ev.part)
		if p := readPart(&s); p.text != nil {
			once(ev.content, p.text)
		}
	case itemAdded, itemDone:
		for i, p := range partsOf(ev.fields.content) {
			if p.text != nil {
				once(i, p.text)
			} else if string(p.kind) == refusalPart {
				a.output.decide(it, visible)
			}
		}
	}
}

// show assigns text that the engine shows to the texts of messages, which are shown
// from now on. It returns the segments, and what belongs to no message.
func (a *answer) show(shown string) (segments []segment, other string) {
	segments, other = a.texts.take(shown)
	for _, s := range segments {
		x := s.text
		a.output.decide(x.item, visible)
		x.length += len(s.part)
		if !x.item.turn.first {
			x.shown = append(x.shown, s.part...)
		}
	}
	return segments, other
}

// say shows a text that has no event of its own.
func (a *answer) say(shown string) {
	segments, other := a.show(shown)
	a.addSegments(segments)
	a.addNotice(other)
}

func (a *answer) addSegments(segments []segment) {
	for _, s := range segments {
		if s.text.streams {
			a.addSegment(s.text, s.part)
		}
	}
}

// addSegment shows an addition to a text, before the events that repeat the text.
func (a *answer) addSegment(x *text, part string) {
	if s := &x.item.shown; x.repeated > 0 || s.ended && !s.endShown {
		x.late += part
		return
	}
	a.push(a.output.writer.delta(x, part))
}

// addNotice adds a text to the last message, if nothing was shown after it. carryon does
// not add an item of its own, because the server would not know its id.
func (a *answer) addNotice(notice string) {
	if notice == "" {
		return
	}
	if x := a.openText(); x != nil {
		x.notice += notice
		a.output.writer.renumbers = true
		a.addSegment(x, notice)
	}
}

// openText returns the text to which more can be added: the last text of the last item
// that is shown, if that is a message whose end has not been shown. It returns nil if
// there is none.
func (a *answer) openText() *text {
	last := a.output.lastShown()
	if last == nil || last.kind != message || last.shown.endShown || len(last.shown.texts) == 0 {
		return nil
	}
	x := last.shown.texts[len(last.shown.texts)-1]
	if x.isRefusal || last.shown.ended && x.repeated == 0 {
		return nil
	}
	return x
}

// heartbeat shows an empty text, which models send too, while a message is open.
func (a *answer) heartbeat() {
	if x := a.openText(); x != nil {
		e := a.output.writer.delta(x, "")
		a.output.writer.renumbers = true
		a.output.emit(&e)
	}
}

// settle ends a turn. It leaves out text that the engine has not shown, and items of
// which nothing is left. If the turn was cut off, its open calls stay open: half a call
// must not look whole.
func (a *answer) settle(t *turn, isCut bool) {
	a.texts.cut()
	a.keepEmpty(t)
	a.output.flush(false)
	for _, it := range t.shown.items {
		switch s := &it.shown; {
		case s.visibility == undecided && it.kind == reasoning && !isCut && t.shown.endsIn(it):
			a.output.decide(it, visible)
		case s.visibility == undecided:
			a.output.decide(it, dropped)
		case s.visibility != visible || s.ended || t.first:
		case !it.kind.isCall(), it.kind == shellCall && isCut && !t.read.tools.shell: // one that the server runs fails
			a.close(it)
		case !isCut:
			a.closeCall(it)
		}
	}
}

// cutTurn settles a turn that has failed, and frees the ids of its items that were not
// shown, for when the turn is sent again.
func (a *answer) cutTurn(t *turn) {
	a.settle(t, true)
	t.shown.items = slices.DeleteFunc(t.shown.items, func(it *item) bool {
		if !it.shown.begun {
			a.output.items.release(it.shown.id)
		}
		return !it.shown.begun
	})
}

// keepEmpty shows the messages that came without text, but not those whose text was
// removed.
func (a *answer) keepEmpty(t *turn) {
	for _, it := range t.shown.items {
		s := &it.shown
		isCut := slices.ContainsFunc(s.texts, func(x *text) bool { return x.cut })
		if it.kind == message && s.visibility == undecided && s.ended && !isCut {
			a.output.decide(it, visible)
		}
	}
}

// close ends an item that its turn has left open, and the parts of it that are open.
func (a *answer) close(it *item) {
	status, with := "incomplete", []rawjson.Change(nil)
	switch it.kind {
	case message:
		parts := make([]json.RawMessage, 0, len(it.shown.texts))
		for _, x := range it.shown.texts {
			parts = append(parts, x.part(string(x.shown)))
			a.closePart(x)
		}
		all, _ := json.Marshal(parts) //nolint:errchkjson // it is JSON already
		status, with = "completed", append(with, rawjson.Set("content", all))
	case hosted:
		status = "failed"
	}
	a.finish(it, status, with...)
}

// closePart ends a part, as far as its turn has not.
func (a *answer) closePart(x *text) {
	w := &a.output.writer
	if !x.textDone {
		a.push(w.textDone(x, string(x.shown)))
	}
	if !x.partDone {
		a.push(w.partDone(x, string(x.shown)))
	}
}

// closeCall ends a function call that a turn has left open although it has ended well,
// if its arguments are whole.
func (a *answer) closeCall(it *item) {
	arguments := it.shown.arguments
	if it.kind == functionCall && rawjson.ObjectEnd(arguments) == len(arguments) && json.Valid(arguments) {
		a.finish(it, "completed", rawjson.Set("arguments", rawjson.Quote(string(arguments))))
	}
}

// finish writes the last event of an item that its turn has left open, with a status and
// other values of some members.
func (a *answer) finish(it *item, status string, with ...rawjson.Change) {
	s := &it.shown
	s.ended, s.leftOpen = true, true
	s.done = rawjson.With(s.added, append([]rawjson.Change{rawjson.Set("status", rawjson.Quote(status))}, with...)...)
	a.push(a.output.writer.about(it, nil, closing, itemDone, "item", json.RawMessage(s.done)))
}
