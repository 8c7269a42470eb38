package join

import (
	"strings"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/reading"
)

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
	added reading.Chunk
}

// write shows the chunk that was just read, without its finish and its usage,
// which are shown at the end of the answer.
func (w *writer[C]) write(r *reading.Turn, c *C, out *output[C]) {
	if r.Calls.Undecided == 0 && !r.MayBeHidden() {
		w.flush(r, out)
		w.show(r, c, &r.Chunk, out)
		return
	}
	w.hold(c, &r.Chunk)
	most := maxHeld
	if r.MayBeHidden() {
		most = maxHeldTurn
	}
	if len(w.held.list) >= most || w.held.size > maxHeldSize {
		r.Calls.DecideOpen()
		r.StopHolding()
		w.flush(r, out)
	}
}

// hold holds a chunk back.
func (w *writer[C]) hold(c *C, a *reading.Chunk) {
	if w.held == nil {
		w.held = new(heldChunks[C])
	}
	w.held.list = append(w.held.list, heldChunk[C]{w.dialect.Clone(c), a.Clone()})
	w.held.size += a.Size
}

// flush shows what was held back.
func (w *writer[C]) flush(r *reading.Turn, out *output[C]) {
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
			text.WriteString(w.held.list[i].added.Text)
		}
	}
	w.held = nil
	return text.String()
}

// show shows a chunk: unchanged, as long as nothing was left out of turn 1.
func (w *writer[C]) show(r *reading.Turn, c *C, a *reading.Chunk, out *output[C]) {
	if r.IsAsItCame() {
		r.Calls.MarkShown(a.Calls)
		out.add(*c)
		return
	}
	e := adapter.Edit{Text: a.Text, ReasoningSeparator: a.Before.Separator(), Continuation: !r.First}
	if !r.First {
		e.Totals = r.Shown.Totals
	}
	if a.Text != "" && !a.OwnText {
		// A call has released held-back text. It is shown in a chunk of its own,
		// because some clients read only the call from a chunk that has both.
		text := e
		text.Part, e.Text = adapter.Synthetic, ""
		clone := w.dialect.Clone(c)
		out.chunks = w.dialect.AppendShown(out.chunks, &clone, &text)
	}
	out.calls = r.Calls.Edits(out.calls[:0], a.Calls)
	e.Calls = out.calls
	before := len(out.chunks)
	out.chunks = w.dialect.AppendShown(out.chunks, c, &e)
	out.adds = out.adds || len(out.chunks) > before && a.Adds()
}
