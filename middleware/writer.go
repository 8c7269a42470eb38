package middleware

import (
	"strings"

	"github.com/carryon-go/carryon/adapter"
)

// usageChunk holds the last chunk with usage, of the last turn that had any. It may be
// the chunk with the finish.
type usageChunk[C any] struct {
	current  *C // of the current turn
	previous *C // of an earlier turn
}

// set sets the chunk of the current turn. The last one set counts.
func (u *usageChunk[C]) set(d adapter.Dialect[C], c *C) {
	clone := d.Clone(c)
	u.current = &clone
}

// nextTurn begins a turn.
func (u *usageChunk[C]) nextTurn() {
	u.previous, u.current = u.last(), nil
}

// last returns the chunk, or nil if no turn had usage.
func (u *usageChunk[C]) last() *C {
	if u.current != nil {
		return u.current
	}
	return u.previous
}

// Bounds of what is held back while the name of a tool call may still become
// todo_pause, the answer to the closing question may still be that nothing is open, or a
// continuation may still be the answer before it again: the number of chunks, and the
// bytes of what they add.
const (
	maxHeld     = 1024
	maxHeldTurn = 8 * maxHeld // of a turn that may not be shown: its reasoning comes first
	maxHeldSize = 1 << 20
)

// writer shows the chunks of a turn, in order, without the calls of todo_pause. While
// the name of a call is incomplete, or the turn may not be shown at all, it holds
// everything back.
type writer[C any] struct {
	dialect adapter.Dialect[C]
	held    *heldChunks[C] // nil until something is held
}

// heldChunks are chunks that are held back, in order.
type heldChunks[C any] struct {
	list []heldChunk[C]
	size int // of what they add
}

// heldChunk is a chunk and what was read from it.
type heldChunk[C any] struct {
	c     C
	added added
}

// write shows the chunk that was just read, without its finish and its usage,
// which are shown at the end of the answer.
func (w *writer[C]) write(r *turnReader, c *C, out *output[C]) {
	if r.calls.undecided == 0 && !r.mayBeLeftOut() {
		w.flush(r, out)
		w.show(r, c, &r.chunk, out)
		return
	}
	w.hold(c, &r.chunk)
	most := maxHeld
	if r.mayBeLeftOut() {
		most = maxHeldTurn
	}
	if len(w.held.list) >= most || w.held.size > maxHeldSize {
		r.calls.decideOpen()
		r.mustShow()
		w.flush(r, out)
	}
}

// hold holds a chunk back.
func (w *writer[C]) hold(c *C, a *added) {
	if w.held == nil {
		w.held = new(heldChunks[C])
	}
	w.held.list = append(w.held.list, heldChunk[C]{w.dialect.Clone(c), a.clone()})
	w.held.size += a.size
}

// flush shows what was held back.
func (w *writer[C]) flush(r *turnReader, out *output[C]) {
	if w.held == nil {
		return
	}
	for i := range w.held.list {
		w.show(r, &w.held.list[i].c, &w.held.list[i].added, out)
	}
	clear(w.held.list)
	w.held.list, w.held.size = w.held.list[:0], 0
}

// drop forgets the held chunks, and returns their text.
func (w *writer[C]) drop() string {
	var text strings.Builder
	if w.held != nil {
		for i := range w.held.list {
			text.WriteString(w.held.list[i].added.text)
		}
	}
	w.held = nil
	return text.String()
}

// show shows a chunk: unchanged, as long as nothing was left out of turn 1.
func (w *writer[C]) show(r *turnReader, c *C, a *added, out *output[C]) {
	if r.isAsItCame() {
		for _, f := range a.calls {
			r.calls.edit(f) // marks the call as shown
		}
		out.add(*c)
		return
	}
	e := adapter.Edit{Text: a.text, ReasoningSeparator: a.before.Separator(), Continuation: !r.first}
	if !r.first {
		e.Totals = r.totals
	}
	if a.text != "" && !a.ownText {
		// A call has released held-back text. It is shown in a chunk of its own,
		// because some clients read only the call from a chunk that has both.
		text := e
		text.Part, e.Text = adapter.Synthetic, ""
		clone := w.dialect.Clone(c)
		out.chunks = w.dialect.AppendShown(out.chunks, &clone, &text)
	}
	out.calls = r.calls.edits(out.calls[:0], a.calls)
	e.Calls = out.calls
	before := len(out.chunks)
	out.chunks = w.dialect.AppendShown(out.chunks, c, &e)
	out.adds = out.adds || len(out.chunks) > before && a.adds()
}

// output holds the chunks that are ready for the consumer. It reuses its memory.
// A nil one is empty.
type output[C any] struct {
	chunks  []C
	next    int
	adds    bool               // a chunk of a later turn was among them that a reader would miss
	current C                  // the chunk being handled; the address of a local variable would allocate it
	calls   []adapter.CallEdit // room for the calls of an edit
	room    [1]C               // for the first chunk that is ready
}

// add adds a chunk.
func (o *output[C]) add(c C) {
	o.chunks = append(o.chunks, c)
}

// take returns the next chunk, if there is one.
func (o *output[C]) take() (C, bool) {
	var none C
	if o.isEmpty() {
		return none, false
	}
	c := o.chunks[o.next]
	o.chunks[o.next] = none // the consumer's now
	o.next++
	if o.next == len(o.chunks) {
		o.chunks, o.next = o.chunks[:0], 0
	}
	return c, true
}

func (o *output[C]) isEmpty() bool { return o == nil || o.next == len(o.chunks) }

// ending is the end of a turn, which is held back because it would tell the caller
// that the answer is over. It is the end of turn 1 as it came, one that the
// dialect rewrites, or that of the turn before one that is not shown.
type ending[C any] interface {
	// model returns the chunk to copy for a text that the model did not send a chunk
	// for, nil for none, and whether it is a continuation's.
	model() (c *C, continuation bool)
	// appendTo appends the ending, as it is shown, to dst. The usage of the answer
	// may come in a chunk of its own.
	appendTo(dst []C, d adapter.Dialect[C], usage *C, shown adapter.UsageShown) []C
}

// originalEnding is the end of turn 1, unchanged.
type originalEnding[C any] struct {
	chunks []C

	adds         bool   // the first chunk, which has the finish, has content too
	text, finish string // of that chunk
	content      []C    // that chunk without its finish
	isSplit      bool   // the content was shown: only the finish is left of the chunk
}

func (e *originalEnding[C]) model() (c *C, continuation bool) {
	if len(e.chunks) == 0 {
		return nil, false
	}
	return &e.chunks[0], false
}

func (e *originalEnding[C]) appendTo(dst []C, d adapter.Dialect[C], _ *C, _ adapter.UsageShown) []C {
	if !e.isSplit {
		return append(dst, e.chunks...)
	}
	dst = appendClone(dst, d, &e.chunks[0], &adapter.Edit{Part: adapter.Synthetic, Finish: e.finish, Usage: adapter.UsageOwn})
	return append(dst, e.chunks[1:]...)
}

// shownFinish is a finish reason as it is shown.
type shownFinish struct {
	reason    string
	plainStop bool // show the protocol's own word for a plain stop; reason is ""
}

// rewrittenEnding is the end of a turn as the dialect shows it: the finish, and
// the usage of all turns, once.
type rewrittenEnding[C any] struct {
	finish       *C // the chunk with the finish reason, its text and calls shown; nil if there is none
	reason       shownFinish
	own          string // the finish reason of the turn
	continuation bool
	goesOn       bool // content came after the finish
}

func (e *rewrittenEnding[C]) model() (c *C, continuation bool) { return e.finish, e.continuation }

func (e *rewrittenEnding[C]) appendTo(dst []C, d adapter.Dialect[C], usage *C, shown adapter.UsageShown) []C {
	if e.finish != nil {
		edit := adapter.Edit{
			Part: adapter.Synthetic, Finish: e.reason.reason, PlainStop: e.reason.plainStop, Totals: shown,
			Continuation: e.continuation,
		}
		if usage == e.finish {
			edit.Usage, usage = shown, nil
		}
		dst = appendClone(dst, d, e.finish, &edit)
	}
	if usage != nil {
		dst = appendClone(dst, d, usage, &adapter.Edit{Part: adapter.UsageOnly, Usage: shown, Continuation: e.continuation})
	}
	if e.finish != nil {
		dst = d.AppendShown(dst, new(C), &adapter.Edit{Part: adapter.AnswerEnd})
	}
	return dst
}

// unshownEnding is the end of a turn of which nothing is shown: that of the turn before.
type unshownEnding[C any] struct {
	ending[C]
	own *rewrittenEnding[C] // the turn's own, in case that more comes
}

// appendClone appends to dst what the edit makes of a chunk, and does not change the
// chunk.
func appendClone[C any](dst []C, d adapter.Dialect[C], c *C, e *adapter.Edit) []C {
	clone := d.Clone(c)
	return d.AppendShown(dst, &clone, e)
}
