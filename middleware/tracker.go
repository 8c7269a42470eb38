package middleware

import (
	"strings"

	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/pause"
)

// Bounds of what a turn's tool calls may hold back.
const (
	maxSlots     = 256      // calls told apart in one turn; more are relayed as they are
	maxArguments = 64 << 10 // bytes kept of one call's arguments
	untracked    = -1       // shown as it is
	dropped      = -2       // not shown
)

// tracker puts the fragments of a turn's tool calls together as far as is
// needed to tell calls of todo_pause from the rest. Providers leave out or
// repeat the index, the id and the name, so that each is used where it is
// given and none is relied on.
type tracker struct {
	slots     []slot
	others    int             // calls that are not todo_pause; those not told apart count per fragment
	next      int             // the lowest index that is free in what the caller sees
	undecided int32           // slots that may still become either
	latest    rawjson.Balance // of the latest call's arguments, as long as only they tell it from the next
	unwatched bool            // no call is taken for todo_pause
	stripped  bool            // a call of todo_pause was found
}

type slot struct {
	index     int // NoIndex if it never had one
	id        string
	name      string
	arguments []byte // of a pause, and of what may become one
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
			return t.surplus(name)
		}
		at = len(t.slots)
		t.slots = append(t.slots, slot{index: index})
		t.latest = rawjson.Balance{}
		t.undecided++
		if t.unwatched {
			t.decide(&t.slots[at], other)
		}
	}
	s := &t.slots[at]
	if s.id == "" {
		s.id = strings.Clone(id)
	}
	if s.index == NoIndex {
		s.index = index
	}
	t.rename(s, name)
	if s.index == NoIndex && s.id == "" {
		t.latest.Add([]byte(arguments)) // no other call has neither
	}
	if s.kind != other {
		room := maxArguments + 1 - len(s.arguments) // one more, so that an overlong one shows
		s.arguments = append(s.arguments, arguments[:min(len(arguments), max(room, 0))]...)
	}
	return at
}

// surplus takes a fragment of one call more than are told apart.
func (t *tracker) surplus(name string) int {
	if !t.unwatched && pause.Is(name) {
		t.stripped = true
		return dropped
	}
	t.others++
	return untracked
}

// find returns the slot that a fragment belongs to, if it has one yet: by its
// id, else by its index, else the latest.
func (t *tracker) find(index int, id, name string) int {
	for at := len(t.slots) - 1; at >= 0; at-- {
		if t.slots[at].matches(index, id) {
			return at
		}
	}
	if id == "" && t.continuesLatest(index, name) {
		return len(t.slots) - 1
	}
	return untracked
}

// matches reports whether the slot is that of a fragment with the index and
// the id. Another id at a taken index is another call.
func (s *slot) matches(index int, id string) bool {
	sameIndex := s.index == index
	if id != "" && s.id == id {
		return sameIndex || s.index == NoIndex || index == NoIndex
	}
	return sameIndex && index != NoIndex && (id == "" || s.id == "")
}

// continuesLatest reports whether a fragment that matches no slot is one more
// of the latest call.
func (t *tracker) continuesLatest(index int, name string) bool {
	if len(t.slots) == 0 {
		return false
	}
	latest := &t.slots[len(t.slots)-1]
	switch {
	case index != NoIndex:
		return latest.index == NoIndex && name == "" // its index comes late
	case name == "":
		return true
	case latest.kind == paused:
		return strings.EqualFold(name, latest.name) // that name is complete
	}
	return !t.latest.Closed()
}

// rename adds to the name of a call and decides what it is. Some providers
// split names over fragments, and some repeat them.
func (t *tracker) rename(s *slot, name string) {
	if s.kind != open || name == "" || name == s.name {
		return
	}
	if s.name += name; pause.Is(name) {
		s.name = name // some give the whole name after a part of it
	}
	s.name = strings.Clone(s.name)
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
	switch e.slot {
	case untracked:
		return CallEdit{}
	case dropped:
		return CallEdit{Drop: true}
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
