package middleware

import (
	"encoding/json"

	"github.com/carryon-go/carryon/pause"
)

// Bounds of what a turn's tool calls may hold back.
const (
	maxSlots     = 256      // calls told apart in one turn; more are relayed as they are
	maxArguments = 64 << 10 // bytes kept of one call's arguments
	untracked    = -1
)

// tracker puts the fragments of a turn's tool calls together as far as is
// needed to tell calls of todo_pause from the rest. Providers leave out or
// repeat the index, the id and the name, so that each is used where it is
// given and none is relied on.
type tracker struct {
	slots     []slot
	undecided int  // slots that may still become either
	others    int  // calls that are not todo_pause; untracked ones count per fragment
	stripped  bool // a call of todo_pause was found
	next      int  // the lowest index that is free in what the caller sees
}

type slot struct {
	index     int // NoIndex if it never had one
	id        string
	name      string
	arguments []byte // of a pause, and where only they tell calls apart
	kind      kind
	shown     bool // a fragment of it was shown
	rewritten bool // it is shown under the index out
	out       int
}

type kind uint8

const (
	open kind = iota // the name may still become todo_pause
	paused
	other
)

// entry is a call or a fragment as it stands in a chunk.
type entry struct {
	slot  int
	empty bool
}

// add takes a fragment and returns the slot of its call.
func (t *tracker) add(index int, id, name, arguments string) int {
	if index != NoIndex && index < 0 {
		index = 0 // some gateways number a single call -1
	}
	at := t.find(index, id, name)
	if at == untracked {
		if len(t.slots) == maxSlots {
			t.others++
			return untracked
		}
		at = len(t.slots)
		t.slots = append(t.slots, slot{index: index})
		t.undecided++
	}
	s := &t.slots[at]
	if s.id == "" {
		s.id = id
	}
	t.rename(s, name)
	if s.kind != other || s.index == NoIndex && s.id == "" {
		room := maxArguments + 1 - len(s.arguments) // one more, so that an overlong one shows
		s.arguments = append(s.arguments, arguments[:min(len(arguments), max(room, 0))]...)
	}
	return at
}

// find returns the slot that a fragment belongs to, if it has one yet.
func (t *tracker) find(index int, id, name string) int {
	last := len(t.slots) - 1
	for at := last; at >= 0; at-- {
		s := &t.slots[at]
		switch {
		case index != NoIndex && s.index == index:
			if id != "" && s.id != "" && s.id != id {
				return untracked // another id at a taken index is another call
			}
			return at
		case index == NoIndex && id != "" && s.id == id:
			return at
		}
	}
	if index != NoIndex || id != "" || last < 0 {
		return untracked
	}
	if latest := &t.slots[last]; name != "" && json.Valid(latest.arguments) {
		return untracked // the latest call is complete
	}
	return last
}

// rename adds to the name of a call and decides what it is. Some providers
// split names over fragments, and some repeat them.
func (t *tracker) rename(s *slot, name string) {
	if s.kind != open || name == "" || name == s.name {
		return
	}
	s.name += name
	switch {
	case pause.Is(s.name):
		t.decide(s, paused)
	case !pause.IsPrefix(s.name):
		t.decide(s, other)
	}
}

func (t *tracker) decide(s *slot, k kind) {
	s.kind = k
	t.undecided--
	if k == paused {
		t.stripped = true
	} else {
		t.others++
	}
}

// settle decides what is still open: it did not become todo_pause.
func (t *tracker) settle() {
	for i := range t.slots {
		if s := &t.slots[i]; s.kind == open {
			t.decide(s, other)
		}
	}
}

// pause returns the first call of todo_pause.
func (t *tracker) pause() *slot {
	for i := range t.slots {
		if t.slots[i].kind == paused {
			return &t.slots[i]
		}
	}
	return nil
}

// edit says how a fragment is to be shown. As long as no call was stripped,
// all of them are shown as they came.
func (t *tracker) edit(e entry) CallEdit {
	if e.slot == untracked {
		return CallEdit{}
	}
	s := &t.slots[e.slot]
	if s.kind == paused {
		return CallEdit{Drop: true}
	}
	first := !s.shown
	if first {
		s.shown = true
		t.place(s)
	}
	if !s.rewritten {
		return CallEdit{}
	}
	return CallEdit{Drop: e.empty, Rewrite: true, Index: s.out, First: first}
}

// place gives a call its index in what the caller sees.
func (t *tracker) place(s *slot) {
	s.out = t.next
	if t.stripped {
		s.rewritten = true
	} else if s.index != NoIndex {
		s.out = s.index
	}
	t.next = max(t.next, s.out) + 1
}
