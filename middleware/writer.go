package middleware

import "strings"

// Bounds of what is held back while the name of a tool call may still become
// todo_pause: the number of chunks, and the bytes of what they add.
const (
	maxHeld     = 1024
	maxHeldSize = 1 << 20
)

// writer shows the chunks of a turn, in order, with the calls of todo_pause
// left out. While the name of a call is open it holds everything back.
type writer[C any] struct {
	sink    *Sink
	dialect Dialect[C]
	emit    func(C)
	held    []piece[C]
	size    int // of what is held
}

// piece is a chunk and what was read from it.
type piece[C any] struct {
	c     C
	chunk chunk
}

// write shows the chunk that the sink has just read, without its finish and
// its usage, which are shown at the end of the answer.
func (w *writer[C]) write(c *C) {
	if w.sink.calls.undecided == 0 {
		w.flush()
		if w.asIs(w.sink.chunk.entries) {
			w.emit(*c)
			return
		}
		w.put(piece[C]{*c, w.sink.chunk})
		return
	}
	w.held = append(w.held, piece[C]{w.dialect.Clone(c), w.sink.chunk.clone()})
	if w.size += w.sink.chunk.size; len(w.held) == maxHeld || w.size > maxHeldSize {
		w.sink.calls.settle()
		w.flush()
	}
}

// flush shows what was held back.
func (w *writer[C]) flush() {
	for i := range w.held {
		w.put(w.held[i])
	}
	clear(w.held)
	w.held, w.size = w.held[:0], 0
}

// drop forgets what is held back, and returns the text in it.
func (w *writer[C]) drop() string {
	var text strings.Builder
	for i := range w.held {
		text.WriteString(w.held[i].chunk.text)
	}
	w.held, w.size = nil, 0
	return text.String()
}

// asIs reports whether chunks of the turn are shown as they are. The calls in
// the one at hand are noted all the same.
func (w *writer[C]) asIs(entries []entry) bool {
	if w.sink.number > 1 || w.sink.calls.stripped {
		return false
	}
	for _, e := range entries {
		w.sink.calls.edit(e)
	}
	return true
}

func (w *writer[C]) put(p piece[C]) {
	if w.asIs(p.chunk.entries) {
		w.emit(p.c)
		return
	}
	if p.chunk.text != "" && !p.chunk.texted {
		// A call has set free what was held back. Where a chunk is either text
		// or a call, it can't show both.
		c := w.dialect.Clone(&p.c)
		if w.dialect.Write(&c, &Edit{Text: p.chunk.text, Rest: true, Later: w.sink.number > 1}) {
			w.emit(c)
		}
		p.chunk.text = ""
	}
	e := Edit{Text: p.chunk.text, Later: w.sink.number > 1, calls: &w.sink.calls, entries: p.chunk.entries}
	if w.dialect.Write(&p.c, &e) {
		w.emit(p.c)
	}
}
