package responses

import (
	"bytes"

	"github.com/carryon-go/carryon/internal/wire/sse"
)

// queue has the events that wait to be shown, in order.
type queue struct {
	entries []entry
	head    int // the first that was not taken
	size    int // in bytes
	firm    int // how many are certain to be shown
	owning  int // how many own their bytes
}

// entry is an event in the queue.
type entry struct {
	event sse.Event
	item  *item // that it is about, or nil
	text  *text // that it repeats, or nil

	wireSequence int // its number as it came, or none
	role         role
	asItCame     bool // its blank line is an event behind it
}

// role is the role of an event in its item.
type role uint8

const (
	between role = iota // it is about no item
	opening             // it says nothing that could be seen
	content
	closing // it repeats what was shown
)

// Limits of the queue.
const (
	maxQueued     = 1024
	maxQueuedSize = 1 << 20
)

func (q *queue) isEmpty() bool { return q.head == len(q.entries) }

// push puts an event into the queue.
func (q *queue) push(e entry) {
	if n := len(q.entries); n == cap(q.entries) && q.head > n/2 {
		rest := copy(q.entries, q.entries[q.head:])
		clear(q.entries[rest:])
		q.entries, q.owning, q.head = q.entries[:rest], q.owning-q.head, 0
	}
	q.entries = append(q.entries, e)
	q.count(&q.entries[len(q.entries)-1], 1)
}

// pop takes the first event out of the queue.
func (q *queue) pop() entry {
	e := q.entries[q.head]
	q.count(&e, -1)
	q.entries[q.head] = entry{}
	if q.head++; q.isEmpty() {
		q.entries, q.head = q.entries[:0], 0
	}
	return e
}

// count counts an event that comes (1) or goes (-1).
func (q *queue) count(e *entry, n int) {
	q.size += n * len(e.event.Raw)
	if e.isFirm() {
		q.firm += n
	}
	if e.mayBeFirm() {
		e.item.firm += n
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
	return len(q.entries)-q.head > maxQueued || q.size > maxQueuedSize
}

// mayBeFirm reports whether the event would show that its item is there.
func (e *entry) mayBeFirm() bool { return e.item != nil && (e.role == content || e.role == opening) }

// isFirm reports whether the event is certain to be shown, so that no event
// before it need wait.
func (e *entry) isFirm() bool { return e.mayBeFirm() && e.item.fate == shown }

// verdict says whether an event in the queue waits, is shown, or is dropped.
type verdict uint8

const (
	wait verdict = iota
	pass
	drop
)

// judge returns the verdict on the first event of the queue.
func (q *queue) judge() verdict {
	e := &q.entries[q.head]
	followed := q.firm > 1 || q.firm == 1 && !e.isFirm()
	it := e.item
	switch {
	case it == nil:
		return pass
	case it.fate == dropped:
		return drop
	case it.kind == message && it.pending > 0 && e.role != content:
		return wait
	case it.fate == open && !followed:
		return wait
	case it.kind == message && e.role == closing && !followed:
		return wait
	}
	return pass
}

// flush shows the events that need not wait, or, if all is true, every event
// that is not dropped.
func (a *answer) flush(all bool) {
	q := &a.queue
	all = all || q.isFull()
	for !q.isEmpty() {
		v := q.judge()
		if v == wait && !all {
			break
		}
		if it := q.entries[q.head].item; v != drop && it != nil {
			a.decide(it, shown)
		}
		if e := q.pop(); v != drop {
			a.emit(&e)
		}
	}
	q.own()
}

// emit shows an event.
func (a *answer) emit(e *entry) {
	it := e.item
	if it == nil && a.spare && isBlank(&e.event) {
		return // an event that carryon writes ends with a blank line of its own
	}
	if it != nil {
		a.announce(it)
		a.emitLate(e)
		if e.role == closing && e.text == nil {
			it.closed = true
		}
	}
	if e.event.Kind == sse.Object {
		a.render(e)
	}
	a.spare = e.event.Written
	a.out = append(a.out, e.event)
}

// announce gives an item its index, before its first event is shown.
func (a *answer) announce(it *item) {
	a.grown = a.grown || !it.turn.first
	if it.announced {
		return
	}
	it.announced = true
	if it.index = a.count; !a.rewriting {
		it.index = it.wireIndex
	}
	a.count = max(a.count, it.index+1)
	a.last = it
}

// emitLate shows what came late of the texts that the event repeats.
func (a *answer) emitLate(e *entry) {
	texts := e.item.texts
	switch {
	case e.role != closing:
		return
	case e.text != nil:
		texts = []*text{e.text}
	}
	for _, x := range texts {
		if x.late != "" {
			late := a.deltaOf(piece{x, x.late})
			x.late = ""
			a.render(&late)
			a.out = append(a.out, late.event)
		}
	}
}

func isBlank(e *sse.Event) bool {
	return e.Kind == sse.NonData && len(bytes.Trim(e.Raw, "\r\n")) == 0
}
