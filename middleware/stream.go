package middleware

import (
	"sync"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/continuation"
)

// Stream joins the turns of a call into one stream. The consumer drives it:
// everything happens in Recv, on the consumer's goroutine. Only one goroutine at a
// time may call Recv; any goroutine may call Close at any time.
type Stream[C any] struct {
	busy   sync.Mutex // guards joiner
	joiner joiner[C]
}

// NewStream returns the stream of the call. Its first turn is read from first, and
// open sends the continuations. The dialect belongs to this call. The stream must be
// closed.
func NewStream[C any](
	call *Call, d adapter.Dialect[C], first adapter.Source[C], open adapter.Open[C],
) *Stream[C] {
	s := &Stream[C]{}
	j := &s.joiner
	j.call, j.open, j.source.current = call, open, first
	j.writer = writer[C]{dialect: d}
	call.text.bounded = true
	return s
}

// Outcome returns the outcome of the call, or what is known of it so far.
func (s *Stream[C]) Outcome() Outcome { return s.joiner.call.Outcome() }

// Recv returns the next chunk, and io.EOF after the last. An error of the
// caller's own turn is returned as it came.
func (s *Stream[C]) Recv() (C, error) {
	s.busy.Lock()
	defer s.leave()
	return s.next()
}

// next returns the next chunk for the consumer.
func (s *Stream[C]) next() (C, error) {
	j := &s.joiner
	for {
		j.settle()
		if c, ok := j.out.take(); ok {
			return c, nil
		}
		if j.err != nil {
			var none C
			return none, j.err
		}
		switch j.phase.get() {
		case relaying, streaming, passthrough:
			j.handle(j.recv())
			j.keepAlive()
		case readingTail:
			j.readTail()
		case continuing:
			j.sendNext()
		}
	}
}

// TryRecv returns the next chunk that Recv would return, if that takes no waiting:
// not for the source, and not for a decision or a continuation. It returns none
// behind an error of the turn, because many clients read no further, and never one if
// the source has no method TryRecv. It must not be called while Recv runs.
func (s *Stream[C]) TryRecv() (c C, ok bool) {
	s.busy.Lock()
	defer s.leave()
	j := &s.joiner
	defer j.forgetOutput()
	for j.isReading() && j.reader().err == nil {
		c, ok = j.out.take()
		if ok {
			return c, true
		}
		c, ok = j.tryRecv()
		if !ok {
			return c, false
		}
		j.handle(c, nil)
		j.keepAlive()
		if j.settlesAtOnce() {
			j.settle()
		}
	}
	return c, false
}

// Ended reports whether the call has ended. Recv then returns what is left, and then
// its error, without waiting.
func (s *Stream[C]) Ended() bool { return s.joiner.phase.is(ended) }

// Close ends the stream at any point: during a Recv, a wait, or the opening of a
// continuation. It returns the error of closing the source.
func (s *Stream[C]) Close() error {
	j := &s.joiner
	j.closed.Store(true)
	j.call.env.release(continuation.TurnID{Session: j.call.env.session.name()})
	if j.phase.is(ended) {
		defer j.call.env.cancel.cancel() // nothing runs any more, so the source is closed first, as the SDK does
	} else {
		j.call.env.cancel.cancel()
	}
	err := j.source.close()
	if s.busy.TryLock() {
		s.leave()
	}
	return err
}

// leave unlocks the joiner. If the stream was closed meanwhile, the goroutine that
// held busy ends the call.
func (s *Stream[C]) leave() {
	j := &s.joiner
	if value := recover(); value != nil { //nolint:revive // leave is what Recv and Handle defer
		defer panic(value)
		defer s.busy.Unlock()
		j.stop(ErrClosed)
		j.closeSource()
		return
	}
	if j.closed.Load() {
		j.abandon()
	}
	s.busy.Unlock()
	if j.closed.Load() && s.busy.TryLock() {
		j.abandon() // closed between the check and the unlock
		s.busy.Unlock()
	}
}

// Relay returns the relay of the stream while turn 1 is being read and has shown
// nothing that could end it, and nil afterwards.
func (s *Stream[C]) Relay() *Relay[C] {
	if s.joiner.phase.is(relaying) {
		return (*Relay[C])(s)
	}
	return nil
}

// Relay lets an adapter receive chunks of turn 1 from the first source itself, so
// that a stream with nothing to do costs next to nothing. While [Stream.Relay]
// returns one, the adapter may give the consumer a chunk that holds only text,
// reasoning or usage, after reporting that to Text, Reasoning or Usage. It gives
// every other chunk to Handle: any with an error, a finish, a call, a refusal or a
// second choice. The methods belong to the goroutine that calls Recv. A Relay that is
// used later records nothing.
type Relay[C any] Stream[C]

// Text records text that the adapter relays. It allocates only for the copy of the
// text that a continuation would replay.
//
// It needs no lock, because only the goroutine that relays uses the transcript. Close
// on another goroutine breaks the turn off and reads no text.
func (r *Relay[C]) Text(text string) {
	if r.joiner.phase.is(relaying) {
		r.joiner.call.env.observed.firstChunk()
		r.joiner.call.text.add(text)
	}
}

// Reasoning records the model's reasoning in a chunk that the adapter relays and that
// holds nothing else.
func (r *Relay[C]) Reasoning(text string) {
	if r.joiner.phase.is(relaying) {
		r.joiner.call.env.observed.firstChunk()
		r.joiner.call.text.addReasoning(text)
	}
}

// Usage records the usage of the turn so far, in a chunk that the adapter relays.
func (r *Relay[C]) Usage(u adapter.Usage) {
	s := (*Stream[C])(r)
	s.busy.Lock()
	defer s.leave()
	if s.joiner.phase.is(relaying) {
		s.joiner.reader().Usage(u)
	}
}

// Handle takes a chunk or an error that the adapter received from the first source,
// and returns what [Stream.Recv] would.
func (r *Relay[C]) Handle(c C, err error) (C, error) {
	s := (*Stream[C])(r)
	s.busy.Lock()
	defer s.leave()
	if s.joiner.phase.is(relaying) {
		s.joiner.handle(c, err)
	}
	defer s.joiner.forgetOutput()
	return s.next()
}
