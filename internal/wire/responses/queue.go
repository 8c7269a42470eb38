package responses

import (
	"slices"

	"github.com/carryon-go/carryon/internal/wire/sse"
)

// output has the events of the answer on their way to the caller. An event waits in
// the queue until its form is certain: the end of a message, to which more text may
// be added; a message from which all text may be removed; and reasoning, which is
// shown only with the item after it.
type output struct {
	queue  queue
	writer eventWriter
	items  itemNumbers
	ready  []sse.Event // to be shown
	next   int         // the first of them that was not taken
	blank  bool        // the last of them was written, and needs no blank line
}

// queue has the events that wait to be shown, in order.
type queue struct {
	entries []entry
	head    int // the first that was not taken
	size    int // in bytes
	certain int // how many are certain to be shown
	owning  int // how many own their bytes
}

// entry is an event in the queue.
type entry struct {
	event sse.Event
	item  *item // that it is about, or nil
	text  *text // that it repeats, or nil

	sequence int // its number as it came, or none
	role     role
	asItCame bool // its blank line is an event behind it
}

// role is the role of an event in its item.
type role uint8

const (
	noItem  role = iota
	opening      // it has nothing that could be seen
	content
	closing // it repeats what was shown
)

// Limits of the queue.
const (
	maxQueued     = 1024
	maxQueuedSize = 1 << 20
)

func (q *queue) isEmpty() bool { return q.head == len(q.entries) }

// waiting returns the events that wait.
func (q *queue) waiting() []entry { return q.entries[q.head:] }

// push puts an event into the queue.
func (q *queue) push(e entry) {
	if n := len(q.entries); n == cap(q.entries) && q.head > n/2 {
		left := copy(q.entries, q.entries[q.head:])
		clear(q.entries[left:])
		q.entries, q.owning, q.head = q.entries[:left], q.owning-q.head, 0
	}
	q.entries = append(q.entries, e)
	q.count(&q.entries[len(q.entries)-1], 1)
}

// pop takes the first event out of the queue.
func (q *queue) pop() entry {
	e := q.entries[q.head]
	q.count(&e, -1)
	q.entries[q.head] = entry{}
	q.head++
	if q.isEmpty() {
		q.entries, q.head = q.entries[:0], 0
	}
	return e
}

// count counts an event that comes (1) or goes (-1).
func (q *queue) count(e *entry, n int) {
	q.size += n * len(e.event.Raw)
	if e.isCertain() {
		q.certain += n
	}
	if e.showsItem() {
		e.item.shown.waiting += n
	}
	if e.text != nil && e.role == closing {
		e.text.repeated += n
	}
}

// own makes the events that wait own their bytes.
func (q *queue) own() {
	for i := max(q.owning, q.head); i < len(q.entries); i++ {
		if e := &q.entries[i].event; !e.Owned {
			*e = e.Clone()
		}
	}
	q.owning = len(q.entries)
}

// isFull reports whether no more events may wait.
func (q *queue) isFull() bool {
	return len(q.waiting()) > maxQueued || q.size > maxQueuedSize
}

// showsItem reports whether the event would show that its item is there.
func (e *entry) showsItem() bool { return e.item != nil && (e.role == content || e.role == opening) }

// isCertain reports whether the event is certain to be shown, so that no event before
// it need wait.
func (e *entry) isCertain() bool { return e.showsItem() && e.item.shown.visibility == visible }

// step is what is done with an event in the queue.
type step uint8

const (
	hold step = iota
	show
	drop
)

// step returns what is done with the first event of the queue.
func (q *queue) step() step {
	e := &q.entries[q.head]
	followed, it := q.certain > 0, e.item // an event that waits for this is not certain itself
	if it == nil {
		return show
	}
	s := &it.shown
	switch {
	case s.visibility == dropped:
		return drop
	case it.kind == message && s.pending > 0 && e.role != content:
		return hold
	case s.visibility == undecided && !followed:
		return hold
	case it.kind == message && e.role == closing && !followed:
		return hold
	}
	return show
}

// decide decides whether an item is shown.
func (o *output) decide(it *item, v visibility) {
	s := &it.shown
	if s.visibility == visible {
		o.queue.certain -= s.waiting
	}
	s.visibility = v
	if v == visible {
		o.queue.certain += s.waiting
	}
}

// flush shows the events that need not wait, or, if all is true, every event that is
// not dropped.
func (o *output) flush(all bool) {
	q := &o.queue
	all = all || q.isFull()
	for !q.isEmpty() {
		next := q.step()
		if next == hold && !all {
			break
		}
		if it := q.entries[q.head].item; next != drop && it != nil {
			o.decide(it, visible)
		}
		e := q.pop()
		if next != drop {
			o.emit(&e)
		}
	}
	q.own()
}

// emit shows an event.
func (o *output) emit(e *entry) {
	it := e.item
	if it == nil && o.blank && e.event.IsBlank() {
		return // an event that carryon writes ends with a blank line of its own
	}
	if it != nil {
		o.begin(it)
		o.emitLate(e)
		if e.role == closing && e.text == nil {
			it.shown.endShown = true
		}
	}
	if e.event.Kind == sse.Object {
		o.writer.render(e)
	}
	o.blank = e.event.Written
	o.ready = append(o.ready, e.event)
}

// begin gives an item its index, before its first event is shown.
func (o *output) begin(it *item) {
	if !it.turn.first {
		o.writer.renumbers = true
	}
	if !it.shown.begun {
		it.shown.begun = true
		o.items.add(it)
	}
}

// emitLate shows what came late of the texts that the event repeats.
func (o *output) emitLate(e *entry) {
	texts := e.item.shown.texts
	switch {
	case e.role != closing:
		return
	case e.text != nil:
		texts = []*text{e.text}
	}
	for _, x := range texts {
		if x.late != "" {
			late := o.writer.delta(x, x.late)
			x.late = ""
			o.writer.render(&late)
			o.ready = append(o.ready, late.event)
		}
	}
}

// write shows an event that has its form.
func (o *output) write(e sse.Event) { o.ready = append(o.ready, e) }

// take returns the events that are ready to be shown, and gives up their ownership.
func (o *output) take() []sse.Event {
	ready := o.ready
	o.ready = nil
	return ready
}

// takeNext returns the next event to show, if there is one.
func (o *output) takeNext() (e sse.Event, ok bool) {
	if o.next == len(o.ready) {
		o.ready, o.next = o.ready[:0], 0
		return e, false
	}
	e, o.ready[o.next] = o.ready[o.next], sse.Event{} // the caller's now
	o.next++
	return e, true
}

// lastShown returns the last item that is shown, or is about to be.
func (o *output) lastShown() *item {
	for _, e := range slices.Backward(o.queue.waiting()) {
		if e.item != nil && e.item.shown.visibility == visible {
			return e.item
		}
	}
	return o.items.last
}
