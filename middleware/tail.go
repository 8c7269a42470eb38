package middleware

import (
	"errors"
	"io"
	"sync/atomic"
	"time"
)

// Bounds of what is read after a turn's finish, in which nothing but usage is
// expected. What comes after the provider has said that it is done is read for
// the connection's sake, which can be used again if the answer was read to its
// end.
const (
	maxTail     = 256
	maxTailSize = 1 << 20
	maxTailTime = 2 * time.Second
	maxDoneTime = 50 * time.Millisecond
)

// drain reads what follows the finish. There may be usage in it, and in turn 1
// anything else means that the turn was not what it seemed to be.
func (s *Splice[C]) drain() {
	source := s.current()
	if source == nil {
		s.tailBroke(ErrClosed)
		return
	}
	sink := &s.call.sink
	var late atomic.Bool
	timer := s.call.mw.clock.AfterFunc(tailTime(sink.done), func() {
		late.Store(true)
		_ = source.Close() // what matters is that the read ends
	})
	defer timer.Stop()
	for n, size := 0, 0; n < maxTail && size <= maxTailSize; n++ {
		done := sink.done
		c, err := s.recv()
		switch {
		case err != nil && !late.Load() && !done && !errors.Is(err, io.EOF):
			s.tailBroke(err)
			return
		case err != nil:
			s.turnEnded(nil)
			return
		case done:
			s.afterDone(c)
		case !s.tail(c):
			return
		}
		if size += sink.chunk.size; sink.done != done {
			timer.Reset(tailTime(sink.done))
		}
	}
	s.turnEnded(nil)
}

// afterDone takes a chunk that came after the provider had said that the turn
// is over. It is not part of any answer, and only shown where all is shown as
// it came.
func (s *Splice[C]) afterDone(c C) {
	if s.ending.asIs != nil {
		s.ending.asIs = append(s.ending.asIs, s.writer.dialect.Clone(&c))
	}
}

func tailTime(done bool) time.Duration {
	if done {
		return maxDoneTime
	}
	return maxTailTime
}

// tail takes a chunk that came after the finish, and reports whether nothing
// but the rest of the ending is expected still.
func (s *Splice[C]) tail(c C) bool {
	sink := &s.call.sink
	finish := sink.finish
	sink.next()
	s.writer.dialect.Read(&c, sink)
	if s.ending.asIs != nil {
		s.keepTail(s.writer.dialect.Clone(&c))
		if sink.err == nil && !sink.chunk.adds() {
			return true
		}
		sink.late = true
		s.call.decide()
		s.unhold()
		return false
	}
	sink.finish = finish // repeated, or overwritten by one that means less
	if sink.err != nil {
		s.tailBroke(sink.err)
		return false
	}
	sink.calls.settle()
	if sink.chunk.usage {
		s.ending.usage = clonePointer(s.writer.dialect, &c)
	}
	if !sink.chunk.adds() {
		return true
	}
	s.writer.put(piece[C]{c, sink.chunk})
	s.ending.reason = s.call.finishReason()
	return false // it was not the end: what comes now has all the time again
}

// keepTail keeps a chunk of turn 1 that was read after its finish.
func (s *Splice[C]) keepTail(c C) {
	s.ending.asIs = append(s.ending.asIs, c)
	if s.call.sink.chunk.usage {
		s.spare = &c
	}
}

// unhold gives up on holding the ending of turn 1 back, because the turn goes
// on after its finish: everything is shown as it came.
func (s *Splice[C]) unhold() {
	for _, c := range s.ending.asIs {
		s.push(c)
	}
	s.enter(passing)
}

// tailBroke ends a turn that broke off after its finish. It counts as ended,
// but is not continued.
func (s *Splice[C]) tailBroke(err error) {
	switch {
	case s.ending.asIs != nil:
		s.call.broke(err)
		s.unhold()
		s.turnEnds(err)
	case s.call.sink.number > 1 && s.call.interruption() != nil:
		s.turnFails(err)
	default:
		s.turnEnded(err)
	}
}
