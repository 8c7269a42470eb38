package middleware

// maxHeld is how many chunks are held back while the name of a tool call may
// still become todo_pause.
const maxHeld = 1024

// writer shows the chunks of a turn, in order, with the calls of todo_pause
// left out. While the name of a call is open it holds everything back.
type writer[C any] struct {
	sink    *Sink
	dialect Dialect[C]
	emit    func(C)
	held    []piece[C]
}

// piece is a chunk and what was read from it.
type piece[C any] struct {
	c     C
	chunk chunk
}

// write shows the chunk that the sink has just read, without its finish and
// its usage, which are shown at the end of the answer.
func (w *writer[C]) write(c C) {
	if w.sink.calls.undecided == 0 {
		w.flush()
		w.put(piece[C]{c, w.sink.chunk})
		return
	}
	w.held = append(w.held, piece[C]{w.dialect.Clone(&c), w.sink.chunk.clone()})
	if len(w.held) == maxHeld {
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
	w.held = w.held[:0]
}

func (w *writer[C]) put(p piece[C]) {
	if w.sink.number == 1 && !w.sink.calls.stripped {
		// Of a chunk that is shown as it is, the calls are noted all the same.
		for _, e := range p.chunk.entries {
			w.sink.calls.edit(e)
		}
		w.emit(p.c)
		return
	}
	e := w.edit(p.chunk)
	if w.dialect.Write(&p.c, &e) {
		w.emit(p.c)
	}
}

func (w *writer[C]) edit(c chunk) Edit {
	return Edit{Text: c.text, Later: w.sink.number > 1, calls: &w.sink.calls, entries: c.entries}
}
