package middleware

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// Bounds of what is read after a turn's finish, in which nothing but usage is
// expected.
const (
	maxTail     = 256
	maxTailTime = 2 * time.Second
)

// Splice is the stream that joins the turns of a call. The consumer drives it:
// everything happens in Recv, on the consumer's goroutine. Recv must not be
// called by two goroutines at once; Close may be called by any, at any time.
type Splice[C any] struct {
	call    *Call
	dialect Dialect[C]
	open    Open[C]

	busy   sync.Mutex // held while chunks are handled
	closed atomic.Bool
	mu     sync.Mutex // guards source
	source Source[C]
	watch  *watch // of the continuation under way

	phase  phase
	out    queue[C]
	writer writer[C]
	ending ending[C] // of the last turn that ended well
	spare  *C        // a chunk of an earlier turn that had usage
	err    error     // what Recv returns once out is empty
}

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
	s := &Splice[C]{call: call, dialect: d, open: open, source: first}
	s.writer = writer[C]{sink: &call.sink, dialect: d, emit: s.out.push}
	return s
}

// Relaying reports whether the first turn is under way and has held nothing
// that could end it. As long as it has, an adapter may receive chunks from the
// first source itself, return those that hold text and nothing else after
// telling [Call.Text], and hand every other to Handle. This keeps what a
// stream costs with nothing to do next to nothing.
func (s *Splice[C]) Relaying() bool {
	return s.phase == relaying && s.call.place.Turn == 1
}

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
	s.handle(c, err)
	return s.next()
}

// Close ends the stream at any point: a Recv that runs, a wait, or the opening
// of a continuation. It returns what closing the source returns.
func (s *Splice[C]) Close() error {
	s.closed.Store(true)
	s.call.stop(ErrClosed)
	err := s.dropSource()
	if s.busy.TryLock() {
		s.leave()
	}
	return err
}

// leave ends the handling of chunks. If the stream was closed meanwhile, it is
// up to whoever held busy to end the call.
func (s *Splice[C]) leave() {
	if value := recover(); value != nil { //nolint:revive // leave is what Recv and Handle defer
		s.call.finish()
		s.busy.Unlock()
		panic(value)
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
		s.call.endTurn(nil)
	case relaying, draining:
		s.call.decide()
		s.call.endTurn(ErrClosed)
	case advancing:
		s.call.decide()
	}
	s.stop(ErrClosed)
}

func (s *Splice[C]) next() (C, error) {
	for {
		if c, ok := s.out.pop(); ok {
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
	s.mu.Lock()
	source := s.source
	s.mu.Unlock()
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

// handle takes what recv has returned.
func (s *Splice[C]) handle(c C, err error) {
	sink := &s.call.sink
	if err != nil {
		s.turnEnds(err)
		return
	}
	sink.next()
	s.dialect.Read(&c, sink)
	switch {
	case s.phase == passing:
		s.out.push(c)
	case sink.err != nil && sink.number == 1:
		s.out.push(c)
		s.broke(sink.err)
	case sink.err != nil:
		s.turnFails(sink.err)
	case sink.chunk.finish != "":
		s.finish(c)
	default:
		s.writer.write(c)
	}
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
		s.out.push(c)
		s.phase = passing
		return
	}
	s.ending = ending[C]{number: 1}
	rest := s.dialect.Clone(&c)
	if text := sink.chunk.text; text != "" {
		if s.dialect.Write(&c, &Edit{Text: text}) {
			s.out.push(c)
		}
		s.dialect.Write(&rest, &Edit{Finish: sink.finish, Usage: ShowOwn, Rest: true})
	}
	s.keepTail(rest)
	s.phase = draining
}

// split shows the text and the calls that came with a finish, and holds back
// the rest.
func (s *Splice[C]) split(c C) {
	s.ending = endingOf(s.call, s.dialect.Clone(&c))
	s.writer.put(piece[C]{c, s.call.sink.chunk})
	s.phase = draining
}

// keepTail keeps a chunk of turn 1 that was read after its finish.
func (s *Splice[C]) keepTail(c C) {
	s.ending.asIs = append(s.ending.asIs, c)
	if s.call.sink.chunk.usage {
		s.spare = &c
	}
}

// drain reads what follows the finish. There may be usage in it, and in turn 1
// anything else means that the turn was not what it seemed to be.
func (s *Splice[C]) drain() {
	var late atomic.Bool
	timer := s.call.mw.clock.AfterFunc(maxTailTime, func() {
		late.Store(true)
		_ = s.dropSource() // what matters is that the read ends
	})
	defer timer.Stop()
	for range maxTail {
		c, err := s.recv()
		if err != nil {
			if late.Load() || errors.Is(err, io.EOF) {
				break
			}
			s.tailBroke(err)
			return
		}
		if !s.tail(c) {
			return
		}
	}
	s.closeSource()
	s.call.endTurn(nil)
	s.dialect.EndTurn(true)
	if s.ending.asIs != nil || s.call.goesOn() {
		s.phase = advancing
		return
	}
	s.release()
}

// tail takes a chunk that came after the finish, and reports whether the
// ending is still to be held back.
func (s *Splice[C]) tail(c C) bool {
	sink := &s.call.sink
	finish := sink.finish
	sink.next()
	s.dialect.Read(&c, sink)
	if s.ending.asIs != nil {
		s.keepTail(s.dialect.Clone(&c))
		if sink.plain() && !sink.chunk.adds() {
			return true
		}
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
		kept := s.dialect.Clone(&c)
		s.ending.usage = &kept
	}
	if sink.chunk.adds() {
		s.writer.put(piece[C]{c, sink.chunk})
		s.ending.reason = s.call.finishReason()
	}
	return true
}

// unhold gives up on holding the ending of turn 1 back, because the turn goes
// on after its finish: everything is shown as it came.
func (s *Splice[C]) unhold() {
	s.call.decide()
	for _, c := range s.ending.asIs {
		s.out.push(c)
	}
	s.phase = passing
}

// tailBroke ends a turn that broke off after its finish. It counts as ended,
// but is not continued.
func (s *Splice[C]) tailBroke(err error) {
	s.call.sink.Fail(err)
	if s.ending.asIs != nil {
		s.unhold()
		s.turnEnds(err)
		return
	}
	if interrupted := s.call.interruption(); interrupted != nil {
		s.turnFails(err)
		return
	}
	s.call.endTurn(nil)
	s.dialect.EndTurn(true)
	s.call.goesOn()
	s.call.fault("tail", err)
	s.release()
}

// turnEnds takes the error that ended a turn, which is io.EOF if it was whole.
func (s *Splice[C]) turnEnds(err error) {
	sink := &s.call.sink
	switch whole := errors.Is(err, io.EOF); {
	case s.phase == passing:
		s.passed(err)
	case whole && s.call.request.NoFinish && sink.plain():
		s.endsWithoutFinish()
	case sink.number > 1 && whole:
		s.turnFails(ErrIncomplete)
	case sink.number > 1:
		s.turnFails(err)
	default:
		s.writer.flush()
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
	s.call.endTurn(broke)
	s.stop(err)
}

// broke reports that turn 1 did not end as it should have.
func (s *Splice[C]) broke(err error) {
	if errors.Is(err, io.EOF) {
		err = nil
	}
	s.call.broke(err)
	s.phase = passing
}

// endsWithoutFinish ends a turn of a provider that never reports a finish.
func (s *Splice[C]) endsWithoutFinish() {
	s.call.sink.next()
	s.call.endSink()
	s.writer.flush()
	s.ending = ending[C]{number: s.call.sink.number}
	s.ending.say(s.dialect, s.call.sink.chunk.text, s.out.push)
	s.closeSource()
	s.call.endTurn(nil)
	s.dialect.EndTurn(true)
	if s.call.goesOn() {
		s.phase = advancing
		return
	}
	s.release()
}

// advance sends the continuation, after a wait if there has to be one.
func (s *Splice[C]) advance() {
	k, err := s.call.next()
	switch {
	case err != nil:
		s.call.interrupted(err)
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
	s.call.beginTurn(k.Attempt)
	s.watch = s.call.watch(k)
	s.phase = relaying
	source, err := s.open(s.watch.ctx, k)
	if err == nil && !s.attach(source) {
		err = ErrClosed
	}
	if err != nil {
		s.turnFails(s.watch.explain(err))
	}
}

// turnFails ends the call with a continuation that failed: as the last good
// turn ended, unless that would make half a tool call look whole.
func (s *Splice[C]) turnFails(err error) {
	s.closeSource()
	s.call.endTurn(err)
	s.dialect.EndTurn(false)
	if interrupted := s.call.interruption(); interrupted != nil {
		s.call.interrupted(interrupted)
		s.stop(interrupted)
		return
	}
	s.call.failed(err)
	if sink := &s.call.sink; sink.calls.others > 0 || sink.legacy {
		s.stop(err)
		return
	}
	s.ending.say(s.dialect, s.call.sink.rest(), s.out.push)
	s.release()
}

// release shows the ending that was held back, and with it ends the call.
func (s *Splice[C]) release() {
	s.ending.say(s.dialect, s.call.notice(), s.out.push)
	s.ending.show(s.dialect, s.call.usageEdit(), s.spare, s.out.push)
	s.stop(io.EOF)
}

// stop ends the call: Recv returns err after what is ready.
func (s *Splice[C]) stop(err error) {
	s.phase, s.err = over, err
	if s.watch != nil {
		s.watch.end()
		s.watch = nil
	}
	s.call.finish()
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
