package responses

import (
	"bytes"
	"slices"

	"github.com/carryon-go/carryon/internal/wire/sse"
)

// entry is an event in the queue.
type entry struct {
	event sse.Event
	item  *item // that it is about, or nil
	text  *text // that it repeats, or nil

	wireSequence int // its number as it came, or none
	role         role
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
	usuallyQueued = 6 // what ends a message of one text
	maxQueued     = 1024
	maxQueuedSize = 1 << 20
)

// push puts an event into the queue.
func (a *answer) push(e entry) {
	if n := len(a.queue); n > 0 && n == cap(a.queue) {
		a.queue = slices.Grow(a.queue, max(n, usuallyQueued))
	}
	a.queue = append(a.queue, e)
	a.size += len(e.event.Raw)
}

// isFirm reports whether the event is certain to be shown, so that no event
// before it need wait.
func (e *entry) isFirm() bool {
	if e.item == nil || e.item.fate != shown || e.role == between {
		return false
	}
	return e.role == content || e.role == opening
}

// verdict says whether an event in the queue waits, is shown, or is dropped.
type verdict uint8

const (
	wait verdict = iota
	pass
	drop
)

// judge returns the verdict on the first event of the queue. followed is true
// if a firm event comes after it.
func (e *entry) judge(followed bool) verdict {
	it := e.item
	switch {
	case it == nil:
		return pass
	case it.fate == dropped:
		return drop
	case it.kind == message && it.isPending() && e.role != content:
		return wait
	case it.fate == open && !followed:
		return wait
	case it.kind == message && e.role == closing && !followed:
		return wait
	}
	it.fate = shown
	return pass
}

// flush shows the events that need not wait, or, if all is true, every event
// that is not dropped.
func (a *answer) flush(all bool) {
	last := -1
	for i := range a.queue {
		if a.queue[i].isFirm() {
			last = i
		}
	}
	all = all || len(a.queue) > maxQueued || a.size > maxQueuedSize
	if all {
		last = len(a.queue)
	}
	a.out = slices.Grow(a.out, min(last+1, len(a.queue)))
	n := 0
	for ; n < len(a.queue); n++ {
		e := &a.queue[n]
		v := e.judge(n < last)
		if v == wait && all {
			v = pass
		}
		if v == wait {
			break
		}
		if a.size -= len(e.event.Raw); v == pass {
			a.emit(e)
		}
	}
	a.queue = slices.Delete(a.queue, 0, n)
	for i := range a.queue {
		if e := &a.queue[i].event; !e.Owned {
			*e = e.Clone()
		}
	}
}

// emit shows an event.
func (a *answer) emit(e *entry) {
	it := e.item
	if it == nil && a.spare && isBlank(&e.event) {
		return // an event that carryon writes ends with a blank line of its own
	}
	if it != nil && !it.announced {
		it.announced = true
		if it.index = a.count; !a.rewriting {
			it.index = it.wireIndex
		}
		a.count = max(a.count, it.index+1)
		a.items = append(a.items, it)
	}
	if it != nil && e.role == closing && e.text == nil {
		it.closed = true
	}
	if it != nil && !it.turn.first {
		a.grown = true
	}
	if e.event.Kind == sse.Object {
		a.render(e)
	}
	a.spare = e.event.Written
	a.out = append(a.out, e.event)
}

func isBlank(e *sse.Event) bool {
	return e.Kind == sse.NonData && len(bytes.Trim(e.Raw, "\r\n")) == 0
}
