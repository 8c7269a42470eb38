package reading

import (
	"iter"
	"math"
	"strings"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/pausecall"
	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/pause"
	"github.com/carryon-go/carryon/todo"
)

// Bounds of what is kept of a turn's tool calls, and results of Calls.add.
const (
	maxCalls     = 256      // calls told apart in one turn; more are relayed as they are
	maxArguments = 64 << 10 // bytes kept of one call's arguments
	untracked    = -1       // shown as it is
	dropped      = -2       // not shown
)

// Calls puts the fragments of a turn's tool calls together as far as is necessary
// to tell calls of todo_pause from others. Providers leave out or repeat the index,
// the id and the name, so Calls uses each where it is given and relies on none.
type Calls struct {
	calls         []ToolCall
	ProgramCalls  int32           // calls other than todo_pause; beyond maxCalls, every fragment counts as one
	next          int32           // the lowest free index in what the caller sees
	Undecided     int32           // calls whose name is not complete yet
	latest        rawjson.Balance // brackets of the latest call's arguments, if it has neither index nor id
	Unwatched     bool            // every call is an ordinary one
	PauseRemoved  bool            // a call of todo_pause was found, and is not shown
	pauseShown    bool            // a call was shown before its name, which is todo_pause
	KeepArguments bool            // it keeps the arguments of all calls
}

// ToolCall is one tool call of a turn.
type ToolCall struct {
	index     int // adapter.NoIndex if it never had one
	ID        string
	Name      string
	Arguments []byte // kept only while the call is, or may become, todo_pause, unless all are kept
	sum       uint64 // of the arguments
	kind      kind
	shown     bool // a fragment of it was shown
	rewritten bool // it is shown under the index out
	out       int32
}

type kind uint8

const (
	open kind = iota // the name may still become todo_pause
	pauseCall
	other
)

// Fragment is a tool call in a chunk, or a part of one.
type Fragment struct {
	call  int // the index in calls, untracked or dropped
	empty bool
}

// add takes a fragment and returns the index of its call, untracked or dropped.
func (t *Calls) add(index int, id, name, arguments string) int {
	if index != adapter.NoIndex && index < 0 {
		index = 0 // some gateways give a single call the index -1
	}
	at := t.find(index, id, name)
	if at == untracked {
		if len(t.calls) == maxCalls {
			return t.overflow(name)
		}
		at = len(t.calls)
		t.calls = append(t.calls, ToolCall{index: index})
		t.latest = rawjson.Balance{}
		t.Undecided++
		if t.Unwatched {
			t.decide(&t.calls[at], other)
		}
	}
	c := &t.calls[at]
	if c.ID == "" {
		c.ID = strings.Clone(id)
	}
	if c.index == adapter.NoIndex {
		c.index = index
	}
	t.rename(c, name)
	if c.index == adapter.NoIndex && c.ID == "" {
		t.latest.Add([]byte(arguments)) // only the latest call can get a fragment without index and id
	}
	c.sum = addSum(c.sum, arguments)
	if c.kind != other || t.KeepArguments {
		room := maxArguments + 1 - len(c.Arguments) // one byte more, so that overlong arguments show
		c.Arguments = append(c.Arguments, arguments[:min(len(arguments), max(room, 0))]...)
	}
	return at
}

// identity returns a number that identifies the turn's calls other than todo_pause, by
// names and arguments; 0 if it cannot tell them from others.
func (t *Calls) identity() uint64 {
	if len(t.calls) == 0 || len(t.calls) == maxCalls {
		return 0
	}
	var sum uint64
	for i := range t.calls {
		c := &t.calls[i]
		if c.Name == "" {
			return 0
		}
		if c.kind != pauseCall {
			sum = addSum(addSum(sum, c.Name), "\x00")*31 + c.sum
		}
	}
	return sum | 1
}

// addSum adds a text to an FNV-1a hash. Replicas share such hashes, so they must be the
// same in every process.
func addSum(sum uint64, text string) uint64 {
	const prime = 0x100000001b3
	for i := range len(text) {
		sum = (sum ^ uint64(text[i])) * prime
	}
	return sum
}

// overflow takes a fragment of a call beyond maxCalls.
func (t *Calls) overflow(name string) int {
	if !t.Unwatched && pause.Is(name) {
		t.PauseRemoved = true
		return dropped
	}
	t.ProgramCalls++
	return untracked
}

// find returns the index of the call that a fragment belongs to, if it has one yet: by its
// id, else by its index, else the latest.
func (t *Calls) find(index int, id, name string) int {
	for at := len(t.calls) - 1; at >= 0; at-- {
		if t.calls[at].matches(index, id) {
			return at
		}
	}
	if id == "" && t.continuesLatest(index, name) {
		return len(t.calls) - 1
	}
	return untracked
}

// matches reports whether a fragment with the index and the id belongs to the
// call. Another id at a taken index is another call.
func (c *ToolCall) matches(index int, id string) bool {
	sameIndex := c.index == index
	if id != "" && c.ID == id {
		return sameIndex || c.index == adapter.NoIndex || index == adapter.NoIndex
	}
	return sameIndex && index != adapter.NoIndex && (id == "" || c.ID == "")
}

// continuesLatest reports whether a fragment that matches no call belongs to the
// latest one.
func (t *Calls) continuesLatest(index int, name string) bool {
	if len(t.calls) == 0 {
		return false
	}
	latest := &t.calls[len(t.calls)-1]
	switch {
	case index != adapter.NoIndex:
		return latest.index == adapter.NoIndex && name == "" // its index comes late
	case name == "":
		return true
	case latest.kind == pauseCall:
		return strings.EqualFold(name, latest.Name) // the name of a pause is complete: only a repetition can follow
	}
	return !t.latest.Closed()
}

// rename adds to the name of a call and decides what it is. Some providers
// split names over fragments, and some repeat them.
func (t *Calls) rename(c *ToolCall, name string) {
	t.pauseShown = t.pauseShown || c.kind == other && c.Name == "" && !t.Unwatched && pause.Is(name)
	if c.kind != open || name == "" || name == c.Name {
		return
	}
	c.Name += name
	if pause.Is(name) {
		c.Name = name // some give the whole name after a part of it
	}
	c.Name = strings.Clone(c.Name)
	switch {
	case pause.Is(c.Name):
		t.decide(c, pauseCall)
	case !pausecall.IsPrefix(c.Name):
		t.decide(c, other)
	}
}

func (t *Calls) decide(c *ToolCall, k kind) {
	c.kind = k
	t.Undecided--
	if k == pauseCall {
		t.PauseRemoved = true
	} else {
		t.ProgramCalls++
	}
}

// DecideOpen decides the calls whose name is still open: they did not become todo_pause.
func (t *Calls) DecideOpen() {
	for i := range t.calls {
		if c := &t.calls[i]; c.kind == open {
			t.decide(c, other)
		}
	}
}

// Pause returns the first call of todo_pause.
func (t *Calls) Pause() *ToolCall {
	for i := range t.calls {
		if t.calls[i].kind == pauseCall {
			return &t.calls[i]
		}
	}
	return nil
}

// MarkShown notes that fragments are shown as they came.
func (t *Calls) MarkShown(fragments []Fragment) {
	for _, f := range fragments {
		t.place(f)
	}
}

// MustBeRead reports whether, because of the calls so far, every later chunk of the turn
// must be read.
func (t *Calls) MustBeRead() bool { return len(t.calls) > 0 && (!t.Unwatched || t.KeepArguments) }

// Arguments yields the arguments of the calls other than todo_pause, as far as they are
// kept.
func (t *Calls) Arguments() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for i := range t.calls {
			if c := &t.calls[i]; c.kind == other && !yield(c.Arguments) {
				return
			}
		}
	}
}

// place returns how a fragment is shown. Until a call is left out, every fragment is
// shown as it came.
func (t *Calls) place(f Fragment) adapter.CallEdit {
	switch f.call {
	case untracked:
		return adapter.CallEdit{}
	case dropped:
		return adapter.CallEdit{Drop: true}
	}
	c := &t.calls[f.call]
	if c.kind == pauseCall {
		return adapter.CallEdit{Drop: true}
	}
	first := !c.shown
	if first {
		c.shown = true
		t.setIndex(c)
	}
	if !c.rewritten {
		return adapter.CallEdit{}
	}
	return adapter.CallEdit{Drop: f.empty, Rewrite: true, Index: int(c.out), First: first}
}

// Edits appends to dst how the fragments of a chunk are shown.
func (t *Calls) Edits(dst []adapter.CallEdit, fragments []Fragment) []adapter.CallEdit {
	for _, f := range fragments {
		dst = append(dst, t.place(f))
	}
	return dst
}

// setIndex gives a call its index in what the caller sees.
func (t *Calls) setIndex(c *ToolCall) {
	c.out = t.next
	if t.PauseRemoved {
		c.rewritten = true
	} else if c.index != adapter.NoIndex {
		c.out = int32(min(c.index, math.MaxInt32-1)) //nolint:gosec // bounded
	}
	t.next = max(t.next, c.out) + 1
}

// CallsOf returns the tool calls of a history, or nil if the history is nil.
func CallsOf(history iter.Seq[adapter.Entry]) iter.Seq[todo.Call] {
	if history == nil {
		return nil
	}
	return func(yield func(todo.Call) bool) {
		for e := range history {
			if e.IsCall() && !yield(e.Call) {
				return
			}
		}
	}
}
