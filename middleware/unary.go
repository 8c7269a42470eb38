package middleware

import (
	"context"
	"slices"

	"github.com/carryon-go/carryon/adapter"
)

// Unary runs a call that is not streamed. It calls do with a nil Continuation to send
// the caller's own request, and again for every continuation. Without a continuation
// it returns the very value that do returned; otherwise it returns the answer of the
// last good turn, with the text of all turns. do must honour its ctx.
//
// An error of the caller's own request is returned unchanged. A failed continuation
// is not returned as an error, unless the caller's ctx has ended, a callback was
// given part of a tool call, or a callback has failed: then Unary returns the answer
// so far with the error.
//
// Filters are the filters of the callbacks that the SDK streams to while do runs.
func Unary[R any](
	call *Call, d adapter.Dialect[R], do func(context.Context, *adapter.Continuation) (R, error), filters ...TurnFilter,
) (R, error) {
	defer call.cancel.cancel()
	defer call.end()
	if len(filters) > 0 {
		call.callbacks = &callbacks{filters: filters}
		for _, f := range filters {
			f.begin(call.callbacks, &call.turn.reader)
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
	usage   adapter.Usage
	chunk   [1]fragment
}

// giveRoom makes the call use the memory of room.
func (u *unary[R]) giveRoom() {
	reader := &u.call.turn.reader
	u.ends = u.room.ends[:0]
	reader.chunk.calls, reader.calls.calls = u.room.chunk[:0], u.room.calls[:0]
	reader.reported = &u.room.usage
	if u.call.outcome.Load() == nil {
		u.room.outcome.o = u.call.firstOutcome()
		u.call.outcome.Store(&u.room.outcome)
	}
}

// read reads what the answer adds, and fails if the turn did not end well.
func (u *unary[R]) read(answer *R) error {
	reader := &u.call.turn.reader
	reader.nextChunk()
	u.dialect.Read(answer, reader)
	u.call.pauses.endReading()
	if reader.err == nil && reader.finish == "" && !u.call.request.noFinish {
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
		if err = reader.err; err != nil {
			u.call.record(func(o *Outcome) { o.Err = err })
		}
	}
	u.continuation, u.length = !reader.first, u.call.text.len()
	u.ends = append(u.ends, u.length)
	u.reason, u.tracker, u.calls = u.call.pauses.shownFinish(), reader.calls, reader.chunk.calls
	reader.chunk.calls = nil // they are kept
	u.endTurn(err, true)
}

// endTurn ends the current turn. keep says whether its answer is kept.
func (u *unary[R]) endTurn(err error, keep bool) {
	for _, f := range u.call.callbacks.all() {
		f.end(u.call.turn.reader.pause != nil)
	}
	u.call.endTurn(err)
	u.dialect.EndTurn(keep)
}

// carryOn adds turns as long as the call goes on.
func (u *unary[R]) carryOn() error {
	for {
		k, err := u.call.next()
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
		u.keep(answer)
		if !u.call.goesOn() {
			return u.call.callbacks.failure() // some SDKs swallow the error
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
	filters := u.call.callbacks.all()
	if interrupted := u.call.continuationFailed(err, slices.ContainsFunc(filters, TurnFilter.showedCall)); interrupted != nil {
		return false, interrupted
	}
	return !slices.ContainsFunc(filters, TurnFilter.showedTurn) && u.call.tryAgain(err), nil
}

// join returns the answer that the caller sees.
func (u *unary[R]) join() R {
	notice, separator := u.call.pauses.notice(), u.call.text.separator()
	for _, f := range u.call.callbacks.all() {
		f.endCall(notice, separator)
	}
	if !u.continuation && !u.tracker.pauseRemoved {
		return u.answer
	}
	answer := u.dialect.Clone(&u.answer)
	shown := u.dialect.AppendShown(make([]R, 0, 1), &answer, &adapter.Edit{
		Text: string(u.call.text.bytes()) + u.call.pauses.joinedNotice(), TurnEnds: u.ends, Finish: u.reason.reason, PlainStop: u.reason.plainStop,
		Usage: u.call.mw.options.usage.shown(), Calls: u.tracker.edits(nil, u.calls), Continuation: u.continuation,
	})
	if len(shown) == 0 {
		return answer // the dialect is wrong: an answer is always shown
	}
	return shown[0]
}
