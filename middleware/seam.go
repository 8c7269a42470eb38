package middleware

import (
	"errors"
	"io"
)

// Seam stands between what two turns say, where both say something.
const Seam = "\n\n"

// handle takes what recv has returned.
func (s *Splice[C]) handle(c C, err error) {
	if err != nil {
		s.turnEnds(err)
		return
	}
	sink := &s.call.sink
	sink.next()
	chunk := s.lay(c)
	s.writer.dialect.Read(chunk, sink)
	switch {
	case s.phase == passing:
		s.push(c)
	case sink.err != nil && sink.number == 1:
		s.writer.flush() // what was held came before it
		s.showEarly()
		s.push(c)
		s.broke(sink.err)
	case sink.err != nil:
		s.turnFails(sink.err)
	case sink.chunk.finishes:
		s.finish(c)
	case sink.done && !s.call.request.noFinish:
		s.unfinished(c)
	default:
		s.content(chunk)
	}
	if s.phase == passing && sink.done {
		s.passed(io.EOF) // some readers ask for no more
	}
}

// unfinished takes the chunk that says that the turn is over, of a turn without
// a finish.
func (s *Splice[C]) unfinished(c C) {
	if s.call.sink.number > 1 {
		s.turnFails(ErrIncomplete)
		return
	}
	s.writer.flush()
	s.push(c)
	s.broke(nil)
}

// content takes a chunk of a turn that goes on.
func (s *Splice[C]) content(c *C) {
	sink := &s.call.sink
	usage := sink.chunk.usage
	switch {
	case usage && sink.number > 1:
		s.early = clonePointer(s.writer.dialect, c)
	case usage && s.call.request.noFinish && !sink.chunk.adds() && sink.calls.undecided == 0:
		// Without a finish, this is the likely end of the turn.
		s.showEarly()
		s.early = clonePointer(s.writer.dialect, c)
		s.stage.Store(stageLater)
		return
	case sink.number == 1:
		s.showEarly()
	}
	if usage && sink.number == 1 && (sink.calls.stripped || sink.calls.undecided > 0) {
		s.spare = clonePointer(s.writer.dialect, c) // the chunk is not shown as it is
	}
	s.writer.write(c)
	if len(sink.calls.slots) > 0 && !sink.calls.unwatched {
		s.stage.Store(stageLater) // chunks may be held, which others must not overtake
	}
}

// showEarly shows the usage of turn 1 that was held back, which was not the
// end.
func (s *Splice[C]) showEarly() {
	if s.early != nil {
		s.push(*s.early)
		s.early = nil
	}
}

func clonePointer[C any](d Dialect[C], c *C) *C {
	clone := d.Clone(c)
	return &clone
}

// finish takes the chunk with the finish reason of a turn.
func (s *Splice[C]) finish(c C) {
	sink := &s.call.sink
	s.call.endSink()
	s.writer.flush()
	if sink.number > 1 || sink.calls.stripped {
		s.split(c)
		return
	}
	if !s.call.decide() {
		s.push(c)
		s.enter(passing)
		return
	}
	s.ending = &ending[C]{number: 1}
	rest := s.writer.dialect.Clone(&c)
	if sink.chunk.adds() {
		if s.writer.dialect.Write(&c, &Edit{Text: sink.chunk.text}) {
			s.push(c)
		}
		s.writer.dialect.Write(&rest, &Edit{Finish: sink.finish, Usage: ShowOwn, Rest: true})
	}
	s.keepTail(rest)
	s.enter(draining)
}

// split shows the text and the calls that came with a finish, and holds back
// the rest.
func (s *Splice[C]) split(c C) {
	s.ending = endingOf(s.call, s.writer.dialect.Clone(&c), s.early)
	s.writer.put(piece[C]{c, s.call.sink.chunk})
	s.enter(draining)
}

// turnEnded ends a turn that ended well, but for what may have gone wrong after
// its finish, and goes on to whatever is to follow.
func (s *Splice[C]) turnEnded(fault error) {
	s.closeSource()
	s.call.endTurn(nil)
	s.writer.dialect.EndTurn(true)
	if fault != nil {
		s.call.sink.Fail(fault)
		s.call.fault("tail", fault)
	}
	decided := s.ending.asIs != nil // at the finish already
	if decided || s.call.goesOn() {
		s.enter(advancing)
		return
	}
	s.release()
}

// turnEnds takes the error that ended a turn, which is io.EOF if it was whole.
func (s *Splice[C]) turnEnds(err error) {
	sink := &s.call.sink
	switch whole := errors.Is(err, io.EOF); {
	case s.phase == passing:
		s.passed(err)
	case whole && s.call.request.noFinish:
		s.endsWithoutFinish()
	case sink.number > 1 && whole:
		s.turnFails(ErrIncomplete)
	case sink.number > 1:
		s.turnFails(err)
	default:
		s.writer.flush()
		s.showEarly()
		s.broke(err)
		s.passed(err)
	}
}

// passed ends a call of one turn.
func (s *Splice[C]) passed(err error) {
	broke := err
	if errors.Is(err, io.EOF) {
		broke = s.call.sink.err
	}
	s.endPassed(broke)
	s.stop(err)
}

// endPassed ends the turn of such a call.
func (s *Splice[C]) endPassed(broke error) {
	if broke != nil {
		s.call.note(func(o *Outcome) { o.Err = broke })
	}
	s.call.endTurn(broke)
}

// broke reports that turn 1 did not end as it should have.
func (s *Splice[C]) broke(err error) {
	if errors.Is(err, io.EOF) {
		err = nil
	}
	s.call.broke(err)
	s.enter(passing)
}

// endsWithoutFinish ends a turn of a provider that never reports a finish.
func (s *Splice[C]) endsWithoutFinish() {
	s.call.sink.next()
	s.call.endSink()
	s.writer.flush()
	s.ending = &ending[C]{number: s.call.sink.number, usage: s.early}
	if s.ending.number == 1 && !s.call.sink.calls.stripped {
		if !s.call.decide() {
			s.showEarly()
			s.passed(io.EOF)
			return
		}
		s.ending.asIs = []C{}
		if s.early != nil {
			s.ending.asIs = append(s.ending.asIs, *s.early)
		}
	}
	s.say(s.call.sink.chunk.text)
	s.turnEnded(nil)
}

// advance sends the continuation, after a wait if there has to be one.
func (s *Splice[C]) advance() {
	k, err := s.call.next()
	switch {
	case err != nil:
		s.call.noteInterrupted(err)
		s.stop(err)
	case k == nil:
		s.call.giveUp()
		s.release()
	default:
		s.openTurn(k)
	}
}

// openTurn opens the continuation k.
func (s *Splice[C]) openTurn(k *Continuation) {
	if s.ending.usage != nil {
		s.spare = s.ending.usage
	}
	s.early = nil
	s.call.beginTurn(k.Attempt)
	s.watch = s.call.watch(k)
	k.Alive = s.watch.alive
	s.enter(relaying)
	source, err := s.open(s.watch.ctx, k)
	if err == nil && !s.attach(source) {
		err = ErrClosed
	}
	if err != nil {
		s.turnFails(s.watch.explain(err))
	}
}

// turnFails ends the call with a continuation that failed: as the last good
// turn ended, unless that would make half a tool call look whole, or the
// caller ended it. What was held back of its text is shown.
func (s *Splice[C]) turnFails(err error) {
	s.closeSource()
	s.call.endTurn(err)
	s.writer.dialect.EndTurn(false)
	s.say(s.writer.drop() + s.call.sink.rest())
	if err = s.call.noteFailed(err, s.call.sink.showedCall()); err != nil {
		s.stop(err)
		return
	}
	s.release()
}

// release shows the ending that was held back, and with it ends the call.
func (s *Splice[C]) release() {
	s.say(s.call.notice())
	s.ending.show(s.writer.dialect, s.call.usageEdit(), s.spare, s.push)
	s.stop(io.EOF)
}

// say shows a text that the model did not send a chunk for.
func (s *Splice[C]) say(text string) {
	s.ending.say(s.writer.dialect, text, s.push)
}

// stop ends the call: Recv returns err after what is ready.
func (s *Splice[C]) stop(err error) {
	passed := s.phase == passing
	s.enter(over)
	s.err = err
	if s.watch != nil {
		s.watch.end()
		s.watch = nil
	}
	s.call.finish()
	if !passed { // else the source is open still, and its end is the consumer's to choose
		s.call.brake.pull()
	}
}
