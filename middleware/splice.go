package middleware

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"
)

// Splice is the stream that joins the turns of a call. The consumer drives it:
// everything happens in Recv, on the consumer's goroutine. Recv must not be
// called by two goroutines at once; Close may be called by any, at any time.
type Splice[C any] struct {
	call *Call
	open Open[C]

	busy   sync.Mutex // held while chunks are handled
	closed atomic.Bool
	stage  atomic.Int32 // what other goroutines, and adapters, may know of the phase
	mu     sync.Mutex   // guards source
	source Source[C]
	watch  *watch // of the continuation under way

	phase  phase
	desk   *desk[C] // nil while an adapter relays
	writer writer[C]
	ending *ending[C] // of the last turn that ended well
	early  *C         // the last chunk that had usage before the finish; not shown yet
	spare  *C         // a chunk of an earlier turn that had usage
	err    error      // what Recv returns once out is empty
}

// The stages.
const (
	stageFirst int32 = iota // turn 1 is being relayed
	stageLater
	stageOver
)

type phase uint8

const (
	relaying  phase = iota // a turn is under way
	passing                // nothing more is to be decided: the rest passes as it comes
	draining               // the finish was seen and is held back; the rest is read
	advancing              // the call goes on
	over
)

// NewSplice returns the stream of the call, whose first turn is under way in
// first. The dialect is the call's own. The stream must be closed.
func NewSplice[C any](call *Call, d Dialect[C], first Source[C], open Open[C]) *Splice[C] {
	s := &Splice[C]{call: call, open: open, source: first}
	s.writer = writer[C]{sink: &call.sink, dialect: d, emit: s.push}
	call.said.bounded = true
	return s
}

// Relaying reports whether the first turn is under way and has held nothing
// that could end it. As long as it has, an adapter may receive chunks from the
// first source itself, return those that hold text and nothing else after
// telling Text, and hand every other to Handle: any with an error, a finish,
// usage, a call, reasoning, a refusal or a second choice. This keeps what a
// stream costs with nothing to do next to nothing.
func (s *Splice[C]) Relaying() bool {
	return s.stage.Load() == stageFirst
}

// Text records text of turn 1 that the adapter relays itself. It does not
// allocate, but for the copy of the text that a continuation would replay.
func (s *Splice[C]) Text(text string) {
	s.call.said.add(text)
}

// Reasoning records what the model wrote for itself in turn 1, in chunks that
// the adapter relays itself: those that hold nothing else.
func (s *Splice[C]) Reasoning(text string) {
	s.call.said.think(text)
}

// Usage records the usage of turn 1 so far, in chunks that the adapter relays
// itself.
func (s *Splice[C]) Usage(u Usage) {
	s.busy.Lock()
	defer s.leave()
	s.call.sink.Usage(u)
}

// Outcome returns what became of the call, or what is known by now.
func (s *Splice[C]) Outcome() Outcome { return s.call.Outcome() }

// Recv returns the next chunk, and io.EOF after the last. An error of the
// caller's own turn is returned as it came.
func (s *Splice[C]) Recv() (C, error) {
	s.busy.Lock()
	defer s.leave()
	return s.next()
}

// Handle takes a chunk, or an error, that the adapter received from the first
// source, and returns what Recv would.
func (s *Splice[C]) Handle(c C, err error) (C, error) {
	s.busy.Lock()
	defer s.leave()
	if s.phase != over {
		s.handle(c, err)
	}
	defer s.clear()
	return s.next()
}

// Close ends the stream at any point: a Recv that runs, a wait, or the opening
// of a continuation. It returns what closing the source returns.
func (s *Splice[C]) Close() error {
	s.closed.Store(true)
	s.call.release(Place{Session: s.call.place.Session})
	if s.stage.Load() == stageOver {
		defer s.call.brake.pull() // nothing is under way: the source is closed as the SDK would
	} else {
		s.call.brake.pull()
	}
	err := s.dropSource()
	if s.busy.TryLock() {
		s.leave()
	}
	return err
}

// desk is where chunks are handled, and wait for the consumer.
type desk[C any] struct {
	chunk C // a variable's address would have it allocated
	ready queue[C]
}

// lay puts a chunk on the desk.
func (s *Splice[C]) lay(c C) *C {
	if s.desk == nil {
		s.desk = new(desk[C])
	}
	s.desk.chunk = c
	return &s.desk.chunk
}

// push makes a chunk ready for the consumer.
func (s *Splice[C]) push(c C) {
	if s.desk == nil {
		s.desk = new(desk[C])
	}
	s.desk.ready.push(c)
}

// pop returns the next chunk that is ready.
func (s *Splice[C]) pop() (c C, ok bool) {
	if s.desk == nil {
		return c, false
	}
	return s.desk.ready.pop()
}

// clear gives the desk up if the adapter relays on, so that no memory is held
// while it waits.
func (s *Splice[C]) clear() {
	if s.desk != nil && s.desk.ready.isEmpty() && s.Relaying() {
		s.desk = nil
		s.call.sink.next()
	}
}

// leave ends the handling of chunks. If the stream was closed meanwhile, it is
// up to whoever held busy to end the call.
func (s *Splice[C]) leave() {
	if value := recover(); value != nil { //nolint:revive // leave is what Recv and Handle defer
		defer panic(value)
		defer s.busy.Unlock()
		s.stop(ErrClosed)
		s.closeSource()
		return
	}
	if s.closed.Load() {
		s.abandon()
	}
	s.busy.Unlock()
	if s.closed.Load() && s.busy.TryLock() {
		s.abandon() // closed between the look and the unlock
		s.busy.Unlock()
	}
}

// abandon ends the call of a stream that was closed before its end.
func (s *Splice[C]) abandon() {
	switch s.phase {
	case over:
		return
	case passing:
		s.endPassed(s.call.sink.err)
	case relaying, draining:
		s.call.decide()
		s.call.endTurn(ErrClosed)
	case advancing:
		s.call.decide()
	}
	if s.call.place.Turn > 1 {
		s.call.noteInterrupted(ErrClosed)
	}
	s.stop(ErrClosed)
}

// enter begins a phase.
func (s *Splice[C]) enter(p phase) {
	s.phase = p
	switch {
	case p == over:
		s.stage.Store(stageOver)
	case p != relaying:
		s.stage.Store(stageLater)
	}
}

func (s *Splice[C]) next() (C, error) {
	for {
		if c, ok := s.pop(); ok {
			return c, nil
		}
		if s.err != nil {
			var none C
			return none, s.err
		}
		s.step()
	}
}

func (s *Splice[C]) step() {
	switch s.phase {
	case relaying, passing:
		s.handle(s.recv())
	case draining:
		s.drain()
	case advancing:
		s.advance()
	case over:
		s.stop(io.EOF)
	}
}

// recv receives from the source at hand, within the continuation's limits.
func (s *Splice[C]) recv() (c C, err error) {
	source := s.current()
	if source == nil {
		return c, ErrClosed
	}
	if s.watch == nil {
		return source.Recv()
	}
	s.watch.arm()
	c, err = source.Recv()
	s.watch.disarm()
	if err != nil && !errors.Is(err, io.EOF) {
		err = s.watch.explain(err)
	}
	return c, err
}

// current returns the source at hand, or nil.
func (s *Splice[C]) current() Source[C] {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.source
}

// attach makes source the one at hand, unless the stream was closed.
func (s *Splice[C]) attach(source Source[C]) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed.Load() {
		_ = source.Close() // the caller is told that the stream is closed
		return false
	}
	s.source = source
	return true
}

// closeSource closes the source at hand, which has nothing more to give.
func (s *Splice[C]) closeSource() {
	_ = s.dropSource() // it was read to its end, or has failed already
	if s.watch != nil {
		s.watch.end()
		s.watch = nil
	}
}

// dropSource closes the source at hand, from any goroutine.
func (s *Splice[C]) dropSource() error {
	s.mu.Lock()
	source := s.source
	s.source = nil
	s.mu.Unlock()
	if source == nil {
		return nil
	}
	return source.Close()
}
