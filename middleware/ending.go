package middleware

import (
	"errors"
	"io"
	"sync/atomic"
	"time"

	"github.com/carryon-go/carryon/adapter"
)

// ending is the end of a turn, which is held back because it would tell the caller
// that the answer is over. It is the end of turn 1 as it came, or one that the
// dialect rewrites.
type ending[C any] interface {
	// model returns the chunk to copy for a text that the model did not send a chunk
	// for, nil for none, and whether it is a continuation's.
	model() (c *C, continuation bool)
	// appendTo appends the ending, as it is shown, to dst. The usage of the answer
	// may come in a chunk of its own.
	appendTo(dst []C, d adapter.Dialect[C], usage *C, shown adapter.UsageShown) []C
}

// originalEnding is the end of turn 1, unchanged.
type originalEnding[C any] struct{ chunks []C }

func (e *originalEnding[C]) model() (c *C, continuation bool) {
	if len(e.chunks) == 0 {
		return nil, false
	}
	return &e.chunks[0], false
}

func (e *originalEnding[C]) appendTo(dst []C, _ adapter.Dialect[C], _ *C, _ adapter.UsageShown) []C {
	return append(dst, e.chunks...)
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

// appendClone appends to dst what the edit makes of a chunk, and does not change the
// chunk.
func appendClone[C any](dst []C, d adapter.Dialect[C], c *C, e *adapter.Edit) []C {
	clone := d.Clone(c)
	return d.AppendShown(dst, &clone, e)
}

// Bounds of what is read after a turn's finish, where only usage is expected. After
// the provider has said that it is done, reading on serves the connection, which can
// be reused only if the answer was read to its end.
const (
	maxTail     = 256
	maxTailSize = 1 << 20
	maxTailTime = 2 * time.Second
	maxDoneTime = 50 * time.Millisecond
)

// tail is what follows the finish of a turn.
type tail[C any] struct{ *joiner[C] }

// read reads the tail. It may hold usage; in turn 1 anything else means that the
// finish was not the end.
func (t tail[C]) read() {
	source := t.source.get()
	if source == nil {
		t.breakOff(ErrClosed, nil)
		return
	}
	reader := t.reader()
	var late atomic.Bool
	timer := t.call.mw.options.clock.AfterFunc(tailTime(reader.done), func() {
		late.Store(true)
		_ = source.Close() // its only purpose is to end the read
	})
	defer timer.Stop()
	for n, size := 0, 0; n < maxTail && size <= maxTailSize; n++ {
		done := reader.done
		c, err := t.recv()
		switch {
		case err != nil && !late.Load() && !done && (t.call.request.saysDone || !errors.Is(err, io.EOF)):
			t.breakOff(err, nil)
			return
		case err != nil:
			t.turnEnded(nil)
			return
		case !t.add(&c, done):
			return
		}
		size += reader.chunk.size
		if reader.done != done {
			timer.Reset(tailTime(reader.done))
		}
	}
	t.turnEnded(nil)
}

// add adds a chunk to the ending, and reports whether only the rest of the ending is
// still expected. A chunk after the provider has said that the turn is done is not
// part of the answer, and is shown only where everything is.
func (t tail[C]) add(c *C, done bool) bool {
	if !done {
		t.reader().nextChunk()
		t.writer.dialect.Read(c, t.reader())
	}
	switch e := t.ending.(type) {
	case *originalEnding[C]:
		clone := t.writer.dialect.Clone(c)
		e.chunks = append(e.chunks, clone)
		return done || t.addOriginal(&clone)
	case *rewrittenEnding[C]:
		return done || t.addRewritten(e, c)
	}
	return done
}

// addOriginal looks at a chunk that was added. If the turn goes on after its finish,
// everything is shown as it came.
func (t tail[C]) addOriginal(c *C) bool {
	reader := t.reader()
	if reader.chunk.usage {
		t.usage.current = c
	}
	if reader.err == nil && !reader.chunk.adds() {
		return true
	}
	reader.late = true
	t.call.decider.decide()
	t.pass()
	return false
}

// addRewritten keeps usage, and shows what else the chunk adds: the finish was not
// the end.
func (t tail[C]) addRewritten(e *rewrittenEnding[C], c *C) bool {
	reader := t.reader()
	adds := reader.chunk.adds()
	e.goesOn = e.goesOn || adds
	reader.finish = e.own // a finish in this chunk repeats it or means less
	if reader.err != nil {
		t.breakOff(reader.err, c)
		return false
	}
	reader.calls.decideOpen()
	if reader.chunk.usage {
		t.usage.set(t.writer.dialect, c)
	}
	if !e.goesOn {
		return true
	}
	t.writer.show(reader, c, &reader.chunk, t.output())
	e.reason = t.call.pauses.shownFinish()
	return !adds // after content, the next read starts with the full time limit
}

// breakOff ends a turn that broke off after its finish. A turn whose ending is
// rewritten counts as ended, but is not continued. If it had gone on with a call, the
// call may be cut in half, and the turn has failed. Report is the chunk that the
// failure was read from, or nil.
func (t tail[C]) breakOff(err error, report *C) {
	fault := err
	if errors.Is(err, io.EOF) {
		fault = io.ErrUnexpectedEOF
	}
	switch e := t.ending.(type) {
	case *originalEnding[C]:
		t.call.breakOff(fault)
		t.pass()
		t.sourceEnded(err)
	case *rewrittenEnding[C]:
		halfCall := e.goesOn && t.reader().showedCall()
		switch {
		case e.continuation && (halfCall || t.call.interruption() != nil):
			t.continuationFailed(fault, report)
		case halfCall:
			t.call.breakOff(fault)
			t.endSingleTurn(fault)
			t.closeSource()
			t.stop(fault)
		default:
			t.turnEnded(fault)
		}
	}
}

// pass shows the ending, because it was not the end, and passes the rest through.
func (t tail[C]) pass() {
	t.showEnding()
	t.phase.enter(passthrough)
}

func tailTime(done bool) time.Duration {
	if done {
		return maxDoneTime
	}
	return maxTailTime
}
