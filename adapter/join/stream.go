package join

import (
	"sync"
	"sync/atomic"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/middleware"
)

// Stream joins the turns of a call into one stream. The consumer drives it: everything
// happens in Recv, on the goroutine of its caller. Only one goroutine at a time may
// call Recv; Close is safe for concurrent use.
type Stream[C any] struct {
	busy   sync.Mutex // guards joiner
	joiner joiner[C]
}

// NewStream returns the stream of the call. It reads the first turn from first, and
// sends continuations with open. The dialect must belong to this call alone. The caller
// must close the stream.
func NewStream[C any](
	call *Call, d adapter.Dialect[C], first adapter.Source[C], open adapter.Open[C],
) *Stream[C] {
	s := &Stream[C]{}
	j := &s.joiner
	j.call, j.open, j.source.current = call, open, first
	j.writer = writer[C]{dialect: d}
	call.answer().Text.Bounded = true
	return s
}

// Outcome returns the outcome of the call, or its present state if the call has not
// ended; see [middleware.Outcome].Ended.
func (s *Stream[C]) Outcome() middleware.Outcome { return s.joiner.call.Outcome() }

// Recv returns the next chunk, and [io.EOF] after the last one. An error of the
// caller's own turn is returned unchanged.
func (s *Stream[C]) Recv() (C, error) {
	s.busy.Lock()
	defer s.unlock()
	return s.next()
}

// next returns the next chunk for the consumer.
func (s *Stream[C]) next() (C, error) {
	j := &s.joiner
	for {
		j.handleDeferred()
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

// TryRecv returns the next chunk that Recv would return, if that is possible without
// waiting for the source, a decision or a continuation. After an error of the turn it
// returns no chunk, because many clients stop reading there. It never returns one if
// the source has no method TryRecv. It must not be called while Recv runs.
func (s *Stream[C]) TryRecv() (c C, ok bool) {
	s.busy.Lock()
	defer s.unlock()
	j := &s.joiner
	defer j.forgetOutput()
	for j.isReading() && j.reader().Err == nil {
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
		if j.decidesAtOnce() {
			j.handleDeferred()
		}
	}
	return c, false
}

// Ended reports whether the call has ended. Recv then returns the remaining chunks and
// the final error without waiting.
func (s *Stream[C]) Ended() bool { return s.joiner.phase.is(ended) }

// Close ends the stream. It may be called at any time: during a Recv, a wait, or the
// opening of a continuation, all of which it interrupts. It returns the error of
// closing the source.
func (s *Stream[C]) Close() error {
	j := &s.joiner
	j.closed.Store(true)
	if j.phase.is(ended) {
		defer j.call.engine().Cancel() // nothing runs any more, so the source is closed first, as the SDK does
	} else {
		j.call.engine().Cancel()
	}
	err := j.source.close()
	if s.busy.TryLock() {
		s.unlock()
	}
	return err
}

// unlock gives the joiner free. If the stream was closed meanwhile, the goroutine that
// held busy ends the call.
func (s *Stream[C]) unlock() {
	j := &s.joiner
	if value := recover(); value != nil { //nolint:revive // unlock is what Recv and Handle defer
		defer panic(value)
		defer s.busy.Unlock()
		j.stop(middleware.ErrClosed)
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

// Relay returns the relay of the stream as long as turn 1 is being read and nothing has
// been received that could end it; then it returns nil.
func (s *Stream[C]) Relay() *Relay[C] {
	if s.joiner.phase.is(relaying) {
		return (*Relay[C])(s)
	}
	return nil
}

// Relay lets an adapter pass on chunks of turn 1 itself, which costs almost no time.
// While [Stream.Relay] returns one, the adapter may receive from the first source. A
// chunk that has only text, reasoning or usage it may give to the consumer itself,
// after reporting it to Text, Reasoning or Usage. Every other chunk, and every error,
// it passes to Handle: a finish, a call, a refusal, a second choice. Only the goroutine
// that calls Recv may use a Relay. A Relay that is used after turn 1 records nothing.
type Relay[C any] Stream[C]

// Text records the text of a chunk that the adapter passes on. It allocates only to
// grow the copy of the text that a continuation would send back.
func (r *Relay[C]) Text(text string) {
	if r.joiner.phase.is(relaying) {
		r.joiner.call.answer().Times.ReadChunk()
		r.joiner.call.answer().Text.Add(text)
	}
}

// Reasoning records the reasoning of a chunk that the adapter passes on. The chunk must
// have nothing else.
func (r *Relay[C]) Reasoning(text string) {
	if r.joiner.phase.is(relaying) {
		r.joiner.call.answer().Times.ReadChunk()
		r.joiner.call.answer().Text.AddReasoning(text)
	}
}

// Usage records the usage of the turn so far, from a chunk that the adapter passes on.
func (r *Relay[C]) Usage(u adapter.Usage) {
	s := (*Stream[C])(r)
	s.busy.Lock()
	defer s.unlock()
	if s.joiner.phase.is(relaying) {
		s.joiner.reader().Usage(u)
	}
}

// Handle processes a chunk or an error that the adapter received from the first source.
// It returns what [Stream.Recv] would return.
func (r *Relay[C]) Handle(c C, err error) (C, error) {
	s := (*Stream[C])(r)
	s.busy.Lock()
	defer s.unlock()
	if s.joiner.phase.is(relaying) {
		s.joiner.handle(c, err)
	}
	defer s.joiner.forgetOutput()
	return s.next()
}

// turnSource holds the source of the current turn, which any goroutine may close.
type turnSource[C any] struct {
	mu      sync.Mutex
	current adapter.Source[C] // nil if there is none
}

// get returns the current source, or nil.
func (s *turnSource[C]) get() adapter.Source[C] {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current
}

// set makes source the current one, or closes it if the stream was closed.
func (s *turnSource[C]) set(source adapter.Source[C], closed *atomic.Bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if closed.Load() {
		_ = source.Close() // the caller is told that the stream is closed
		return false
	}
	s.current = source
	return true
}

// close closes the current source.
func (s *turnSource[C]) close() error {
	s.mu.Lock()
	source := s.current
	s.current = nil
	s.mu.Unlock()
	if source == nil {
		return nil
	}
	return source.Close()
}
