package middleware

import (
	"strings"

	"github.com/carryon-go/carryon/adapter"
)

// Bounds of what is held back while the name of a tool call may still become
// todo_pause: the number of chunks, and the bytes of what they add.
const (
	maxHeld     = 1024
	maxHeldSize = 1 << 20
)

// writer shows the chunks of a turn, in order, without the calls of todo_pause. While
// the name of a call is incomplete, it holds everything back.
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
	if r.calls.undecided == 0 {
		w.flush(r, out)
		w.show(r, c, &r.chunk, out)
		return
	}
	if w.held == nil {
		w.held = new(heldChunks[C])
	}
	w.held.list = append(w.held.list, heldChunk[C]{w.dialect.Clone(c), r.chunk.clone()})
	if w.held.size += r.chunk.size; len(w.held.list) == maxHeld || w.held.size > maxHeldSize {
		r.calls.decideOpen()
		w.flush(r, out)
	}
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
	out.chunks = w.dialect.AppendShown(out.chunks, c, &e)
}

// output holds the chunks that are ready for the consumer. It reuses its memory.
// A nil one is empty.
type output[C any] struct {
	chunks  []C
	next    int
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
	if o.next++; o.next == len(o.chunks) {
		o.chunks, o.next = o.chunks[:0], 0
	}
	return c, true
}

func (o *output[C]) isEmpty() bool { return o == nil || o.next == len(o.chunks) }
