package middleware

// ending is what is held back at the end of a turn: all that would tell the
// caller that the answer is over.
type ending[C any] struct {
	asIs   []C    // of turn 1: as it came, if nothing in the turn was changed
	finish *C     // the chunk with the finish reason, its text and calls shown
	reason string // the finish reason to show
	usage  *C     // the last chunk with usage; the same as finish if it has it
	number int    // of the turn
}

// endingOf returns the ending of the turn that the sink has just read to its
// finish, which is in c. The text and calls in c have been shown. Early is a
// chunk before it that had usage.
func endingOf[C any](call *Call, c C, early *C) *ending[C] {
	e := &ending[C]{finish: &c, reason: call.finishReason(), number: call.sink.number, usage: early}
	if call.sink.chunk.usage {
		e.usage = &c
	}
	return e
}

// show emits the ending: the finish, then the usage of all turns, once. Spare
// is a chunk of an earlier turn that had usage, for a last turn without.
func (e *ending[C]) show(d Dialect[C], usage UsageEdit, spare *C, emit func(C)) {
	for _, c := range e.asIs {
		emit(c)
	}
	if e.asIs != nil {
		return
	}
	last := e.usage
	if last == nil {
		last = spare
	}
	if e.finish != nil {
		finish := Edit{Finish: e.reason, Rest: true, Later: e.number > 1}
		if last == e.finish {
			finish.Usage, last = usage, nil
		}
		e.write(d, e.finish, finish, emit)
	}
	if last != nil {
		e.write(d, last, Edit{Usage: usage, Rest: true, Bare: true, Later: e.number > 1}, emit)
	}
}

// write emits what an edit leaves of a chunk.
func (e *ending[C]) write(d Dialect[C], c *C, edit Edit, emit func(C)) {
	clone := d.Clone(c)
	if d.Write(&clone, &edit) {
		emit(clone)
	}
}

// say emits a text that the model did not send a chunk for.
func (e *ending[C]) say(d Dialect[C], text string, emit func(C)) {
	if text == "" {
		return
	}
	var c C
	switch {
	case e.finish != nil:
		c = d.Clone(e.finish)
	case len(e.asIs) > 0:
		c = d.Clone(&e.asIs[0])
	}
	if d.Write(&c, &Edit{Text: text, Rest: true, Later: e.number > 1}) {
		emit(c)
	}
}
