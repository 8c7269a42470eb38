package join

import (
	"cmp"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/engine"
	"github.com/carryon-go/carryon/internal/reading"
	"github.com/carryon-go/carryon/middleware"
)

// joiner joins the turns of a call, chunk by chunk.
type joiner[C any] struct {
	call   *Call
	open   adapter.Open[C]
	phase  currentPhase
	closed atomic.Bool // the stream was closed
	source turnSource[C]
	writer writer[C]

	out       *output[C] // nil while an adapter relays
	usage     usageChunk[C]
	ending    ending[C]  // of the last turn that ended well; nil before that
	deadlines *deadlines // of the last continuation; nil before it
	err       error      // Recv returns it once out is empty
}

// reader returns the reader of the current turn.
func (j *joiner[C]) reader() *reading.Turn { return j.call.answer().Turn }

// recv receives from the current source, within the continuation's deadlines.
func (j *joiner[C]) recv() (c C, err error) {
	source := j.source.get()
	if source == nil {
		return c, middleware.ErrClosed
	}
	if j.deadlines == nil {
		return source.Recv()
	}
	j.deadlines.startIdle()
	c, err = source.Recv()
	j.deadlines.stopIdle()
	if err != nil && !errors.Is(err, io.EOF) {
		err = j.deadlines.explain(err)
	}
	return c, err
}

// tryRecv receives a chunk that the current source already has.
func (j *joiner[C]) tryRecv() (c C, ok bool) {
	source, ok := j.source.get().(interface{ TryRecv() (C, bool) })
	if !ok {
		return c, false
	}
	return source.TryRecv()
}

// isReading reports whether the source is read next.
func (j *joiner[C]) isReading() bool {
	switch j.phase.get() {
	case relaying, streaming, passthrough:
		return !j.closed.Load()
	case finishing, passed, readingTail, continuing, ended:
	}
	return false
}

// handle takes the result of recv.
func (j *joiner[C]) handle(c C, err error) {
	if err != nil {
		j.sourceEnded(err)
		return
	}
	j.call.answer().Times.ReadChunk()
	out, reader := j.output(), j.reader()
	reader.NextChunk()
	out.current = c
	j.writer.dialect.Read(&out.current, reader)
	broke := reader.EndedWithoutFinish(j.call.answer().NoFinish)
	switch {
	case j.phase.is(passthrough):
		out.add(c)
	case broke && reader.First:
		j.writer.flush(reader, out) // the held chunks came first
		j.releaseHeld()
		out.add(c)
		j.brokeOff(reader.Err)
	case broke:
		j.continuationFailed(cmp.Or(reader.Err, middleware.ErrIncomplete), &out.current)
	case reader.Chunk.Finishes:
		j.phase.enter(finishing)
	default:
		j.content(&out.current)
	}
	j.endIfDone()
}

// endIfDone ends the passthrough once the provider is done.
func (j *joiner[C]) endIfDone() {
	if j.phase.is(passthrough) && j.reader().SaidDone {
		j.phase.enter(passed)
	}
}

// handleDeferred does the slow part of handling a chunk: the decision on a turn that has
// finished, and the end of the call. Some callers read no further than the last
// chunk, so the call ends before they receive it.
func (j *joiner[C]) handleDeferred() {
	if j.phase.is(finishing) {
		j.finish(&j.output().current)
		j.endIfDone()
	}
	if j.phase.is(passed) {
		j.endPassthrough(io.EOF)
	}
}

// decidesAtOnce reports whether decide waits for nothing: turn 1 has called a tool, so
// that the decision needs no list and no session, and there is no task to report on.
func (j *joiner[C]) decidesAtOnce() bool {
	reader := j.reader()
	return reader.IsAsItCame() && reader.Calls.ProgramCalls > 0 && !j.call.answer().HasReminders
}

// keepAlive notes whether a chunk of a continuation came from the model itself, and
// whether it showed the consumer anything. If the consumer has been shown nothing for
// a while, it gets a heartbeat.
func (j *joiner[C]) keepAlive() {
	d := j.deadlines
	if d == nil || !j.phase.is(streaming) {
		return
	}
	if !j.out.isEmpty() {
		j.reader().WasShown = true // a continuation is not sent again once the consumer has seen a chunk of it
	}
	if j.reader().Chunk.Speaks() {
		d.wordless = 0
	}
	if err := d.ctx.Err(); err != nil { // the chunks already there may never end
		j.continuationFailed(d.explain(err), nil)
		return
	}
	if j.out.isEmpty() && d.unshown >= d.heartbeat {
		if dialect, ok := j.writer.dialect.(adapter.Heartbeat[C]); ok {
			j.out.chunks = dialect.AppendHeartbeat(j.out.chunks)
		}
	}
	if !j.out.isEmpty() {
		d.unshown = 0
	}
}

// content takes a chunk of a turn that goes on.
func (j *joiner[C]) content(c *C) {
	reader, out := j.reader(), j.output()
	switch added := &reader.Chunk; {
	case added.HasUsage && !reader.First:
		j.usage.set(j.writer.dialect, c)
	case added.HasUsage && j.call.answer().NoFinish && !added.Adds() && reader.Calls.Undecided == 0:
		// Without a finish, a chunk with usage is probably the last one.
		j.releaseHeld()
		j.usage.set(j.writer.dialect, c)
		j.ending = &originalEnding[C]{chunks: []C{*j.usage.current}}
		j.phase.enter(streaming)
		return
	case reader.First:
		j.releaseHeld()
		if added.HasUsage && (reader.Calls.PauseRemoved || reader.Calls.Undecided > 0) {
			j.usage.set(j.writer.dialect, c) // the writer drops its usage, so the ending must show it
		}
	}
	j.writer.write(reader, c, out)
	if reader.Calls.MustBeRead() {
		j.phase.enter(streaming) // no later chunk may overtake a held one, or pass unread
	}
}

// releaseHeld shows the usage of turn 1 that was held back because it looked like the
// turn's end: the turn goes on.
func (j *joiner[C]) releaseHeld() {
	if j.ending != nil && j.reader().First {
		j.showEnding()
		j.ending, j.usage.current = nil, nil
	}
}

// finish takes the chunk with the finish reason of a turn.
func (j *joiner[C]) finish(c *C) {
	reader, dialect, out := j.reader(), j.writer.dialect, j.output()
	j.call.answer().Times.ReadFinish()
	j.call.answer().Timeouts.StartQuiet()
	j.call.endReading()
	if reader.IsHidden() {
		j.hide(c)
		j.phase.enter(readingTail)
		return
	}
	j.writer.flush(reader, out)
	j.releaseHeld()
	if !reader.IsAsItCame() {
		j.ending = j.rewritten(c)
		j.writer.show(reader, c, &reader.Chunk, out)
		j.phase.enter(readingTail)
		return
	}
	if !j.call.engine().MayGoOn() {
		out.add(*c)
		j.phase.enter(passthrough)
		return
	}
	rest := dialect.Clone(c)
	e := &originalEnding[C]{}
	_, isWhole := dialect.(interface{ HoldsFinish() })
	switch adds := reader.Chunk.Adds(); {
	case adds && !isWhole:
		out.chunks = dialect.AppendShown(out.chunks, c, &adapter.Edit{Text: reader.Chunk.Text})
		e.chunks = dialect.AppendShown(nil, &rest, &adapter.Edit{
			Part: adapter.Synthetic, Finish: reader.FinishReason, Usage: adapter.UsageOwn,
		})
	case adds:
		e.adds, e.text, e.finish = true, strings.Clone(reader.Chunk.Text), reader.FinishReason
		fallthrough
	default:
		e.chunks = []C{rest}
	}
	if reader.Chunk.HasUsage {
		j.usage.current = &rest
	}
	j.ending = e
	j.phase.enter(readingTail)
}

// hide ends the current turn, of which nothing is shown unless more comes: the answer
// ends as the turn before did. Finish is as in rewritten.
func (j *joiner[C]) hide(finish *C) {
	if finish != nil {
		j.writer.hold(finish, &j.reader().Chunk)
	}
	j.ending = hiddenEnding[C]{ending: j.ending, ifShown: j.rewritten(finish)}
}

// forget forgets the current turn, of which nothing is shown.
func (j *joiner[C]) forget(e hiddenEnding[C]) {
	j.writer.drop()
	j.reader().Forget()
	j.usage.current, j.ending = nil, e.ending
}

// rewritten returns the ending of the current turn as one that the dialect shows. Finish
// is the chunk with the finish reason, nil if the provider gives none.
func (j *joiner[C]) rewritten(finish *C) *rewrittenEnding[C] {
	e := &rewrittenEnding[C]{finishReason: j.reader().FinishReason, continuation: !j.reader().First}
	if finish != nil {
		clone := j.writer.dialect.Clone(finish)
		e.finish, e.reason = &clone, j.call.shownFinish()
		if j.reader().Chunk.HasUsage {
			j.usage.current = e.finish
		}
	}
	return e
}

// sourceEnded handles the error that ended a turn. An io.EOF means that the turn
// is complete.
func (j *joiner[C]) sourceEnded(err error) {
	switch whole := errors.Is(err, io.EOF); {
	case j.phase.is(passthrough):
		j.endPassthrough(err)
	case whole && j.call.answer().NoFinish:
		j.endWithoutFinish()
	case j.reader().First:
		j.writer.flush(j.reader(), j.output())
		j.releaseHeld()
		j.brokeOff(err)
		j.endPassthrough(err)
	case whole:
		j.continuationFailed(j.deadlines.explain(middleware.ErrIncomplete), nil) // some SDKs end a stream whose ctx has ended
	default:
		j.continuationFailed(err, nil)
	}
}

// endWithoutFinish ends a turn of a provider that never gives a finish reason.
func (j *joiner[C]) endWithoutFinish() {
	reader, out := j.reader(), j.output()
	reader.NextChunk()
	j.call.answer().Timeouts.StartQuiet()
	j.call.endReading()
	if reader.IsHidden() {
		j.hide(nil)
		j.turnEnded(nil)
		return
	}
	j.writer.flush(reader, out)
	if !reader.IsAsItCame() {
		j.ending = j.rewritten(nil)
	} else {
		if !j.call.engine().MayGoOn() {
			j.releaseHeld()
			j.endPassthrough(io.EOF)
			return
		}
		if j.ending == nil {
			j.ending = &originalEnding[C]{}
		}
	}
	j.showText(reader.Chunk.Text)
	j.turnEnded(nil)
}

// endPassthrough ends a call of one turn.
func (j *joiner[C]) endPassthrough(err error) {
	broke := err
	if errors.Is(err, io.EOF) {
		broke = j.reader().Err
	}
	j.call.engine().EndTurn(broke)
	j.stop(err)
}

// brokeOff reports that turn 1 did not end as it should have. The rest passes
// through.
func (j *joiner[C]) brokeOff(err error) {
	if errors.Is(err, io.EOF) {
		err = nil
	}
	j.call.engine().DecideFirstTurn(err)
	j.phase.enter(passthrough)
}

// turnEnded ends a complete turn, and goes on with the next or ends the answer. Fault
// is an error that came after the finish, or nil.
func (j *joiner[C]) turnEnded(fault error) {
	e, unshown := j.ending.(hiddenEnding[C])
	if unshown {
		j.forget(e)
	}
	j.closeSource()
	split := j.splitEnding()
	j.call.engine().EndTurn(nil)
	j.writer.dialect.EndTurn(!unshown)
	if !j.call.engine().DecideNext(fault) {
		j.endAnswer()
		return
	}
	if split != nil {
		out := j.output()
		out.chunks = append(out.chunks, split.content...)
		split.isSplit = true
	}
	j.phase.enter(continuing)
}

// splitEnding returns the ending of turn 1 if the chunk with its finish has content too
// and is held whole, which a dialect with HoldsFinish asks for. The content is shown
// before the answer goes on; if it does not, the chunk is shown as it came.
func (j *joiner[C]) splitEnding() *originalEnding[C] {
	e, ok := j.ending.(*originalEnding[C])
	if !ok || !e.adds || !j.reader().First {
		return nil
	}
	e.content = appendClone(nil, j.writer.dialect, &e.chunks[0], &adapter.Edit{Text: e.text})
	return e
}

// sendNext sends the continuation, after a wait if necessary.
func (j *joiner[C]) sendNext() {
	dialect, hasBeats := j.writer.dialect.(adapter.Heartbeat[C])
	patience := time.Duration(0)
	if hasBeats {
		patience = j.call.answer().Timeouts.Heartbeat()
	}
	k, err := j.call.engine().Next(patience)
	switch {
	case errors.Is(err, engine.ErrCheckRuns):
		j.beat(dialect)
	case err != nil:
		j.stop(err)
	case k == nil:
		j.endAnswer()
	default:
		j.openTurn(k)
	}
}

// beat shows the consumer a sign of life while the program's check runs.
func (j *joiner[C]) beat(dialect adapter.Heartbeat[C]) {
	out := j.output()
	if out.chunks = dialect.AppendHeartbeat(out.chunks); !out.isEmpty() {
		j.call.engine().ShowedLife()
	}
}

// openTurn opens the continuation k.
func (j *joiner[C]) openTurn(k *adapter.Continuation) {
	j.usage.nextTurn()
	ctx, program := j.call.engine().BeginTurn(k)
	j.deadlines = newDeadlines(ctx, program, j.call)
	k.Touch = j.deadlines.touch
	j.phase.enter(streaming)
	source, err := j.open(j.deadlines.ctx, k)
	if err == nil && !j.source.set(source, &j.closed) {
		j.call.engine().Cancel() // Close will cancel too: such a failure gets no second try
		err = middleware.ErrClosed
	}
	if err != nil {
		j.continuationFailed(j.deadlines.explain(err), nil)
	}
}

// continuationFailed sends a failed continuation once more, if the consumer was shown
// nothing of it and another try may succeed. Otherwise it ends the call: the answer
// ends as the last good turn did, or with an error if the caller ended the call or
// saw part of a tool call. From is the chunk that the failure was read from, or nil.
func (j *joiner[C]) continuationFailed(err error, from *C) {
	j.closeSource()
	j.call.engine().EndTurn(err)
	j.writer.dialect.EndTurn(false)
	j.usage.current = nil
	mayBeLeftOut := j.reader().MayBeHidden()
	held := j.writer.drop() + j.reader().UnshownText()
	again, interrupted := j.call.engine().Failed(err, j.reader().ShowedCall())
	if !again && !mayBeLeftOut {
		j.showText(held)
	}
	j.appendShown(new(C), &adapter.Edit{Part: adapter.TurnCut, Continuation: true})
	switch {
	case again:
		j.phase.enter(continuing)
	case interrupted == nil:
		j.endAnswer()
	default:
		if from != nil && j.call.engine().Interruption() == nil {
			j.appendShown(from, &adapter.Edit{Part: adapter.TurnError, Continuation: true})
		}
		j.stop(interrupted)
	}
}

// endAnswer shows the ending that was held back, and ends the call.
func (j *joiner[C]) endAnswer() {
	j.showText(j.call.joinedNotice())
	j.showEnding()
	j.stop(io.EOF)
}

// showEnding shows the ending that was held back.
func (j *joiner[C]) showEnding() {
	out := j.output()
	out.chunks = j.ending.appendTo(out.chunks, j.writer.dialect, j.usage.last(), j.call.answer().Usage)
}

// showText shows a text for which the model sent no chunk.
func (j *joiner[C]) showText(text string) {
	if text == "" {
		return
	}
	var c C
	model, continuation := j.ending.model()
	if model != nil {
		c = j.writer.dialect.Clone(model)
	}
	j.appendShown(&c, &adapter.Edit{Part: adapter.Synthetic, Text: text, Totals: j.reader().Shown.Totals, Continuation: continuation})
}

// appendShown shows chunk c as e says. It may change c.
func (j *joiner[C]) appendShown(c *C, e *adapter.Edit) {
	out := j.output()
	out.chunks = j.writer.dialect.AppendShown(out.chunks, c, e)
}

// stop ends the call: Recv returns the chunks that are ready, and then err.
func (j *joiner[C]) stop(err error) {
	passes := j.phase.is(passthrough) || j.phase.is(passed)
	j.phase.enter(ended)
	j.err = err
	j.deadlines.end()
	j.call.engine().End()
	if !passes { // otherwise the source stays open until the consumer closes it
		j.call.engine().Cancel()
	}
}

// abandon ends the call of a stream that was closed before its end.
func (j *joiner[C]) abandon() {
	switch j.phase.get() {
	case ended:
		return
	case passthrough, passed:
		j.call.engine().EndTurn(j.reader().Err)
	case relaying, streaming, finishing, readingTail, continuing:
		j.call.engine().Abandon()
	}
	j.stop(middleware.ErrClosed)
}

// closeSource closes the current source, which has nothing more to give.
func (j *joiner[C]) closeSource() {
	_ = j.source.close() // it was read to its end or has failed
	j.deadlines.end()
}

// phase is what a stream is doing. The goroutine that reads the stream sets it; any
// goroutine may read it.
type phase int32

const (
	relaying    phase = iota // reads turn 1; an adapter may relay its chunks
	streaming                // reads a turn
	passthrough              // passes the rest as it comes; there is nothing more to decide
	finishing                // has read the finish; decides next what follows
	passed                   // has read the end of what passes
	readingTail              // holds the finish back and reads what follows it
	continuing               // goes on with the next turn, after a wait if necessary
	ended                    // returns what is ready, and then the error
)

// currentPhase is the phase that a stream is in.
type currentPhase struct{ value atomic.Int32 }

func (p *currentPhase) get() phase      { return phase(p.value.Load()) }
func (p *currentPhase) is(q phase) bool { return p.get() == q }
func (p *currentPhase) enter(q phase)   { p.value.Store(int32(q)) }
