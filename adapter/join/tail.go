package join

import (
	"errors"
	"io"
	"sync/atomic"
	"time"

	"github.com/carryon-go/carryon/middleware"
)

// Bounds of what is read after a turn's finish, where only usage is expected. After
// the provider has said that it is done, reading on serves the connection, which can
// be reused only if the answer was read to its end.
const (
	maxTail     = 256
	maxTailSize = 1 << 20
	maxTailTime = 2 * time.Second
	maxDoneTime = 50 * time.Millisecond
)

// readTail reads what follows the finish of a turn. It may hold usage; in turn 1 anything else means that the
// finish was not the end.
func (j *joiner[C]) readTail() {
	source := j.source.get()
	if source == nil {
		j.breakOffTail(middleware.ErrClosed, nil)
		return
	}
	reader := j.reader()
	var late atomic.Bool
	timer := j.call.engine().Clock().AfterFunc(tailTime(reader.SaidDone), func() {
		late.Store(true)
		_ = source.Close() // its only purpose is to end the read
	})
	defer timer.Stop()
	for n, size := 0, 0; n < maxTail && size <= maxTailSize; n++ {
		done := reader.SaidDone
		c, err := j.recv()
		switch {
		case err != nil && !late.Load() && !done && (j.call.answer().SaysDone || !errors.Is(err, io.EOF)):
			j.breakOffTail(err, nil)
			return
		case err != nil:
			j.turnEnded(nil)
			return
		case !j.addTail(&c, done):
			return
		}
		size += reader.Chunk.Size
		if reader.SaidDone != done {
			timer.Reset(tailTime(reader.SaidDone))
		}
	}
	j.turnEnded(nil)
}

// addTail adds a chunk to the ending, and reports whether only the rest of the ending is
// still expected. A chunk after the provider has said that the turn is done is not
// part of the answer; it is shown only if the turn is shown as it came.
func (j *joiner[C]) addTail(c *C, done bool) bool {
	if !done {
		j.reader().NextChunk()
		j.writer.dialect.Read(c, j.reader())
	}
	switch e := j.ending.(type) {
	case *originalEnding[C]:
		clone := j.writer.dialect.Clone(c)
		e.chunks = append(e.chunks, clone)
		return done || j.addOriginal(&clone)
	case *rewrittenEnding[C]:
		return done || j.addRewritten(e, c)
	case hiddenEnding[C]:
		return done || j.addHidden(e, c)
	}
	return done
}

// addHidden shows the turn after all if the chunk makes it more than what is hidden.
func (j *joiner[C]) addHidden(e hiddenEnding[C], c *C) bool {
	reader := j.reader()
	if !reader.IsHidden() {
		j.ending = e.ifShown
		j.writer.flush(reader, j.output())
		return j.addRewritten(e.ifShown, c)
	}
	reader.FinishReason = e.ifShown.finishReason // as in addRewritten
	if reader.Chunk.HasUsage {
		j.usage.set(j.writer.dialect, c) // in case that more comes
	}
	if reader.Err != nil {
		j.breakOffTail(reader.Err, c)
	}
	return reader.Err == nil
}

// addOriginal looks at a chunk that was added. If the turn goes on after its finish,
// everything is shown as it came.
func (j *joiner[C]) addOriginal(c *C) bool {
	reader := j.reader()
	if reader.Chunk.HasUsage {
		j.usage.current = c
	}
	if reader.Err == nil && !reader.Chunk.Adds() {
		return true
	}
	reader.FinishWasEarly = true
	j.call.engine().DecideFirstTurn(nil)
	j.passTail()
	return false
}

// addRewritten keeps usage, and shows what else the chunk adds: the finish was not
// the end.
func (j *joiner[C]) addRewritten(e *rewrittenEnding[C], c *C) bool {
	reader := j.reader()
	adds := reader.Chunk.Adds()
	e.moreCame = e.moreCame || adds
	reader.FinishReason = e.finishReason // a finish in this chunk repeats it or means less
	if reader.Err != nil {
		j.breakOffTail(reader.Err, c)
		return false
	}
	reader.Calls.DecideOpen()
	if reader.Chunk.HasUsage {
		j.usage.set(j.writer.dialect, c)
	}
	if !e.moreCame {
		return true
	}
	j.writer.show(reader, c, &reader.Chunk, j.output())
	e.reason = j.call.shownFinish()
	return !adds // after content, the next read starts with the full time limit
}

// breakOffTail ends a turn that broke off after its finish. A turn whose ending is
// rewritten counts as ended, but is not continued. If it had gone on with a call, the
// call may be cut in half, and the turn has failed. From is the chunk that the
// failure was read from, or nil.
func (j *joiner[C]) breakOffTail(err error, from *C) {
	fault := err
	if errors.Is(err, io.EOF) {
		fault = io.ErrUnexpectedEOF
	}
	switch e := j.ending.(type) {
	case *originalEnding[C]:
		j.call.engine().DecideFirstTurn(fault)
		j.passTail()
		j.sourceEnded(err)
	case hiddenEnding[C]:
		j.turnEnded(fault)
	case *rewrittenEnding[C]:
		halfCall := e.moreCame && j.reader().ShowedCall()
		switch {
		case e.continuation && (halfCall || j.call.engine().Interruption() != nil):
			j.continuationFailed(fault, from)
		case halfCall:
			j.call.engine().DecideFirstTurn(fault)
			j.call.engine().EndTurn(fault)
			j.closeSource()
			j.stop(fault)
		default:
			j.turnEnded(fault)
		}
	}
}

// passTail shows the ending, because it was not the end, and passes the rest through.
func (j *joiner[C]) passTail() {
	j.showEnding()
	j.phase.enter(passthrough)
}

func tailTime(done bool) time.Duration {
	if done {
		return maxDoneTime
	}
	return maxTailTime
}
