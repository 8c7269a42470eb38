package middleware

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/carryon-go/carryon/adapter"
)

// Unary runs a call that is not streamed. It calls do with a nil Continuation to send
// the caller's own request, and again for every continuation. do must honour its ctx.
// Without a continuation, Unary returns the very value that do returned. Otherwise it
// returns the answer of the last good turn with the text of all turns.
//
// An error of the caller's own request is returned unchanged. The error of a
// continuation is not returned, except in three cases: the caller's ctx has ended, a
// callback has received part of a tool call, or a callback has failed. Unary then
// returns the answer so far together with the error.
//
// filters are the filters of the callbacks to which the SDK streams while do runs.
func Unary[R any](
	call *Call, d adapter.Dialect[R], do func(context.Context, *adapter.Continuation) (R, error), filters ...TurnFilter,
) (R, error) {
	defer call.env.cancel.cancel()
	defer call.end()
	if len(filters) > 0 {
		call.env.callbacks = &callbacks{filters: filters}
		for _, f := range filters {
			f.begin(call.env.callbacks, &call.turn.reader)
		}
	}
	u := unary[R]{call: call, dialect: d, do: do}
	u.giveRoom()
	answer, err := do(call.OpenContext(), nil)
	if err != nil {
		call.breakOff(err)
		call.endTurn(err)
		return answer, err
	}
	u.keep(answer)
	if call.goesOn() {
		err = u.carryOn()
	}
	return u.join(), err
}

// unary joins whole answers.
type unary[R any] struct {
	call    *Call
	dialect adapter.Dialect[R]
	do      func(context.Context, *adapter.Continuation) (R, error)

	answer       R           // this and the fields below are of the last turn that ended well
	continuation bool        // whether a continuation gave the answer
	reason       shownFinish // as shown
	tracker      tracker     // of its calls
	calls        []fragment
	length       int   // of the transcript when the turn ended
	ends         []int // that length for each turn

	room callRoom
}

// callRoom is memory for what the caller's own turn needs, so that a call with
// nothing to do allocates next to nothing.
type callRoom struct {
	outcome outcomeCell
	ends    [2]int
	calls   [1]toolCall
	told    told
	chunk   [1]fragment
}

// giveRoom makes the call use the memory of room.
func (u *unary[R]) giveRoom() {
	reader := &u.call.turn.reader
	u.ends = u.room.ends[:0]
	reader.chunk.calls, reader.calls.calls = u.room.chunk[:0], u.room.calls[:0]
	if u.call.env.observed != nil {
		u.room.told.names = new(names)
	}
	reader.told = &u.room.told
	if u.call.env.outcome.Load() == nil {
		u.room.outcome.o = u.call.env.firstOutcome()
		u.call.env.outcome.Store(&u.room.outcome)
	}
}

// read reads what the answer adds, and fails if the turn did not end well.
func (u *unary[R]) read(answer *R) error {
	reader := &u.call.turn.reader
	reader.nextChunk()
	u.dialect.Read(answer, reader)
	u.call.endReading()
	if reader.err == nil && reader.finish == "" && !u.call.env.request.noFinish {
		return ErrIncomplete
	}
	return reader.err
}

// keep makes the answer of the current turn the one to show.
func (u *unary[R]) keep(answer R) {
	reader := &u.call.turn.reader
	u.answer = answer
	var err error
	if reader.first {
		// The caller gets its own turn, however it ended.
		_ = u.read(&u.answer)
		err = reader.err
		if err != nil {
			u.call.env.record(func(o *Outcome) { o.Err = err })
		}
	}
	u.continuation, u.length = !reader.first, u.call.text.len()
	u.ends = append(u.ends, u.length)
	u.reason, u.tracker, u.calls = u.call.shownFinish(), reader.calls, reader.chunk.calls
	reader.chunk.calls = nil // they are kept
	u.endTurn(err, true)
}

// leaveOut ends the current turn and shows nothing of it.
func (u *unary[R]) leaveOut() {
	u.call.leaveOut(u.length)
	u.endTurn(nil, false)
}

// endTurn ends the current turn. keep says whether its answer is kept.
func (u *unary[R]) endTurn(err error, keep bool) {
	for _, f := range u.call.env.callbacks.all() {
		f.end(&u.call.turn.reader, err != nil)
	}
	u.call.endTurn(err)
	u.dialect.EndTurn(keep)
}

// carryOn adds turns as long as the call goes on.
func (u *unary[R]) carryOn() error {
	for {
		k, _, err := u.call.next(0)
		if k == nil {
			return err
		}
		answer, err := u.turn(k)
		if err != nil {
			if again, err := u.fail(err); !again {
				return err
			}
			continue
		}
		reader := &u.call.turn.reader
		if slices.ContainsFunc(u.call.env.callbacks.all(), TurnFilter.showedTurn) {
			reader.repeat = nil // it was not held back everywhere
		}
		if reader.isLeftOut() {
			u.leaveOut()
		} else {
			u.keep(answer)
		}
		if !u.call.goesOn() {
			return u.call.env.callbacks.failure() // some SDKs swallow the error
		}
	}
}

// turn runs a continuation.
func (u *unary[R]) turn(k *adapter.Continuation) (R, error) {
	u.call.beginTurn(k.Attempt)
	d := u.call.deadlinesOf(k)
	defer d.end()
	answer, err := u.do(d.ctx, k)
	if err == nil {
		err = u.read(&answer)
	}
	if err != nil {
		err = d.explain(err) // some SDKs return what they have when the ctx ends
	}
	return answer, err
}

// fail ends a continuation that failed, and reports whether it is sent once more: if
// no callback was given any of it, and another try may succeed. Otherwise the answer
// is that of the last good turn.
func (u *unary[R]) fail(err error) (again bool, _ error) {
	u.call.text.cut(u.length)
	u.endTurn(err, false)
	filters := u.call.env.callbacks.all()
	if interrupted := u.call.continuationFailed(err, slices.ContainsFunc(filters, TurnFilter.showedCall)); interrupted != nil {
		return false, interrupted
	}
	return !slices.ContainsFunc(filters, TurnFilter.showedTurn) && u.call.tryAgain(err), nil
}

// join returns the answer that the caller sees.
func (u *unary[R]) join() R {
	notice, separator := u.call.pauses.notice(), u.call.text.separator()
	for _, f := range u.call.env.callbacks.all() {
		f.endCall(notice, separator)
	}
	if !u.continuation && !u.tracker.pauseRemoved {
		return u.answer
	}
	answer := u.dialect.Clone(&u.answer)
	shown := u.dialect.AppendShown(make([]R, 0, 1), &answer, &adapter.Edit{
		Text: string(u.call.text.bytes()) + u.call.pauses.joinedNotice(), TurnEnds: u.ends, Finish: u.reason.reason, PlainStop: u.reason.plainStop,
		Usage: u.call.env.mw.options.usage, Calls: u.tracker.edits(nil, u.calls), Continuation: u.continuation,
	})
	if len(shown) == 0 {
		return answer // the dialect is wrong: an answer is always shown
	}
	return shown[0]
}

// TurnFilter is a [Filter] of any type, for [Unary]. Only Filter implements it.
type TurnFilter interface {
	begin(c *callbacks, r *turnReader)
	end(r *turnReader, failed bool)
	endCall(notice, separator string) // shows the notice, then ends
	showedCall() bool
	showedTurn() bool // or part of it
}

// Filter stands between an SDK and the callback to which the SDK streams during a unary
// call. It passes on the caller's own turn unchanged. In later turns it removes the
// calls of todo_pause, and puts the separator before the first text. A call may have
// several Filters, one for each callback; pass all of them to [Unary].
//
// The dialect of a Filter is for the values that the callback receives. Its Read
// reports neither finish nor usage.
//
// Chunk, Relaying and Relayed are called while Unary runs, by one goroutine at a time
// for all filters of the call. If a goroutine of the SDK calls Chunk late, the Filter
// drops what belongs to a turn that has ended; if the call has only one turn, it passes
// the value on.
type Filter[C any] struct {
	emit func(C) error

	mu        sync.Mutex // guards the fields below; not held while emit runs
	callbacks *callbacks // nil until Unary is given the filter
	state     filterState
	emitting  bool // the callback runs
	reader    turnReader
	writer    writer[C]
	out       output[C]
	shown     bool // text was shown through this filter
	emitted   bool // the callback was given a text of the turn that the SDK did not stream
	err       error
}

// filterState is what a filter does at the moment.
type filterState uint8

const (
	betweenTurns filterState = iota
	inTurn
	detached // the callback was still running when its turn ended: it is left alone
	callOver
)

// errTurnOver is the answer to an SDK that streams to a callback too late.
var errTurnOver = errors.New("middleware: the turn that this belongs to has ended")

// NewFilter returns a filter that passes values to emit, for one call. Pass it to
// [Unary].
func NewFilter[C any](d adapter.Dialect[C], emit func(C) error) *Filter[C] {
	f := &Filter[C]{emit: emit}
	f.writer = writer[C]{dialect: d}
	return f
}

// Chunk receives a value that the SDK streams, and passes on what the callback may see.
// If the callback fails, Chunk returns its error, now and for every later value, and
// carryon does not continue the call. Chunk panics if the filter was not passed to
// [Unary].
func (f *Filter[C]) Chunk(c C) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mustBeGiven()
	switch {
	case f.err != nil:
		return f.err
	case f.state != inTurn:
		return errTurnOver
	}
	f.reader.nextChunk()
	f.writer.dialect.Read(&c, &f.reader)
	f.writer.write(&f.reader, &c, &f.out)
	f.flush()
	return f.err
}

// Relaying reports whether the filter passes values on unchanged, which it does during
// the caller's own turn. Then an adapter may call the callback itself and report that
// to Relayed, instead of calling Chunk; this saves almost all the time that a chunk
// costs. After Relaying has returned true, the adapter must do both or neither.
func (f *Filter[C]) Relaying() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mustBeGiven()
	passes := f.state == inTurn || f.state == callOver
	f.emitting = passes && f.reader.first && f.reader.calls.unwatched && f.err == nil
	return f.emitting
}

// Relayed records a value that the adapter has passed to the callback itself: whether
// it had text, and the callback's error. It returns what Chunk would have returned.
func (f *Filter[C]) Relayed(text bool, err error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.emitting = false
	f.reader.text.shown = f.reader.text.shown || text
	f.fail(err)
	return err
}

// fail keeps the error of the callback, if there is one.
func (f *Filter[C]) fail(err error) {
	if err != nil {
		f.err = err
		f.callbacks.fail(err)
	}
}

func (f *Filter[C]) mustBeGiven() {
	if f.callbacks == nil {
		panic("carryon/middleware: Unary was not given the filter")
	}
}

// flush gives the callback the chunks that are ready.
func (f *Filter[C]) flush() {
	for c, ok := f.out.take(); ok; c, ok = f.out.take() {
		if f.err == nil {
			f.fail(f.call(c))
		}
	}
}

// call calls the callback, which may take long, without the lock.
func (f *Filter[C]) call(c C) error {
	f.emitting = true
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		f.emitting = false
	}()
	return f.emit(c)
}

// begin implements TurnFilter.
func (f *Filter[C]) begin(c *callbacks, r *turnReader) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.callbacks, f.emitted, f.out.adds = c, false, false
	if f.state != detached {
		f.state = inTurn
	}
	f.reader = turnReader{
		first: r.first, chunk: added{calls: f.reader.chunk.calls[:0]}, calls: tracker{unwatched: r.calls.unwatched},
		text:  turnText{separator: f.separatorOf(r), printable: r.text.printable},
		reply: r.reply, repeat: r.repeat.clone(),
	}
}

// separatorOf returns the separator before the first text of a turn.
func (f *Filter[C]) separatorOf(r *turnReader) string {
	if !f.shown {
		return ""
	}
	return r.text.separator
}

// end implements TurnFilter. r is the reader of the turn, which knows more of it than
// what was streamed to this callback, unless the turn has failed.
func (f *Filter[C]) end(r *turnReader, failed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.emitting || f.state != inTurn {
		f.state = detached
		return
	}
	if f.reader.mayBeLeftOut() && (failed || r.isLeftOut()) {
		f.writer.drop()
		f.state = betweenTurns
		return
	}
	f.reader.calls.decideOpen()
	f.writer.flush(&f.reader, &f.out)
	f.flush()
	f.reader.nextChunk()
	if r.pauseReason != nil {
		_, _, rest := f.reader.text.printed.End()
		f.reader.show(rest)
	} else {
		f.reader.show(f.reader.text.printed.Release())
	}
	f.showText(f.reader.chunk.text)
	f.shown = f.shown || f.reader.text.shown
	f.state = betweenTurns
}

// endCall implements TurnFilter.
func (f *Filter[C]) endCall(notice, separator string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.state == detached {
		return
	}
	if f.shown && notice != "" {
		notice = separator + notice
	}
	f.showText(notice)
	f.state = callOver
}

// showText shows a text that the SDK did not stream.
func (f *Filter[C]) showText(text string) {
	if text == "" {
		return
	}
	f.emitted = true
	var c C
	f.out.chunks = f.writer.dialect.AppendShown(f.out.chunks, &c,
		&adapter.Edit{Part: adapter.Synthetic, Text: text, Continuation: !f.reader.first})
	f.flush()
}

// showedCall implements TurnFilter.
func (f *Filter[C]) showedCall() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.reader.showedCall()
}

// showedTurn implements TurnFilter.
func (f *Filter[C]) showedTurn() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.emitted || f.out.adds || f.state == detached
}
