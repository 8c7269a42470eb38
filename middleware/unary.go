package middleware

import (
	"context"

	"github.com/carryon-go/carryon/continuation"
)

// Unary runs a call that is not streamed: do sends the caller's own request
// with a nil Continuation, and is called again for every continuation. It
// returns the answer of the caller's own request, the very same value, if that
// was all, and otherwise the last good turn's with what all turns said. Do
// must honour its ctx.
//
// An error of the caller's own request is returned as it came. A continuation
// that fails is not returned as an error, unless the caller's ctx has ended, or
// a callback was given a part of a tool call or has failed: then the answer so
// far comes with the error.
func Unary[R any](call *Call, d Dialect[R], do func(context.Context, *Continuation) (R, error)) (R, error) {
	defer call.brake.pull()
	defer call.finish()
	u := unary[R]{call: call, dialect: d, do: do}
	call.last = &u.decision
	call.sink.chunk.entries, call.sink.calls.slots = u.entries[:0], u.slots[:0]
	if call.outcome.Load() == nil {
		call.keepOutcome(&u.outcome)
	}
	answer, err := do(call.OpenContext(), nil)
	if err != nil {
		call.broke(err)
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
	dialect Dialect[R]
	do      func(context.Context, *Continuation) (R, error)

	answer R      // of the last turn that ended well
	number int    // of that turn
	reason string // its finish reason, as it is to be shown
	calls  tracker
	parts  []entry
	length int // how much had been said when it ended

	// Room for what the caller's own turn needs, so that a call with nothing to
	// do allocates next to nothing.
	decision continuation.Evaluation
	outcome  outcomeCell
	entries  [2]entry
	slots    [2]slot
}

// read reads what the answer adds, and fails if the turn did not end well.
func (u *unary[R]) read(answer *R) error {
	sink := &u.call.sink
	sink.next()
	u.dialect.Read(answer, sink)
	u.call.endSink()
	if sink.err == nil && sink.finish == "" && !u.call.request.noFinish {
		return ErrIncomplete
	}
	return sink.err
}

// keep makes the answer of the turn at hand the one to be shown.
func (u *unary[R]) keep(answer R) {
	sink := &u.call.sink
	u.answer = answer
	var err error
	if sink.number == 1 {
		// The caller's own turn is theirs, however it ended.
		_ = u.read(&u.answer)
		if err = sink.err; err != nil {
			u.call.note(func(o *Outcome) { o.Err = err })
		}
	}
	u.number, u.length = sink.number, u.call.said.len()
	u.reason, u.calls, u.parts = u.call.finishReason(), sink.calls, sink.chunk.entries
	sink.chunk.entries = nil // they are kept
	u.call.endListeners()
	u.call.endTurn(err)
	u.dialect.EndTurn(true)
}

// carryOn adds turns as long as there are to be any.
func (u *unary[R]) carryOn() error {
	for {
		k, err := u.call.next()
		if err != nil {
			u.call.noteInterrupted(err)
			return err
		}
		if k == nil {
			u.call.giveUp()
			return nil
		}
		answer, err := u.turn(k)
		if err != nil {
			return u.fail(err)
		}
		u.keep(answer)
		if !u.call.goesOn() {
			return u.call.callbackErr // some SDKs swallow it
		}
	}
}

// turn runs a continuation.
func (u *unary[R]) turn(k *Continuation) (R, error) {
	u.call.beginTurn(k.Attempt)
	w := u.call.watch(k)
	defer w.end()
	answer, err := u.do(w.ctx, k)
	if err != nil {
		return answer, w.explain(err)
	}
	return answer, u.read(&answer)
}

// fail ends the call with a continuation that failed: the answer is that of
// the last good turn.
func (u *unary[R]) fail(err error) error {
	u.call.said.cut(u.length)
	u.call.endListeners()
	u.call.endTurn(err)
	u.dialect.EndTurn(false)
	return u.call.noteFailed(err, u.call.toldCall())
}

// join returns what the caller is to see.
func (u *unary[R]) join() R {
	notice := u.call.notice()
	u.call.tellListeners()
	if u.number == 1 && !u.calls.stripped {
		return u.answer
	}
	answer := u.dialect.Clone(&u.answer)
	u.dialect.Write(&answer, &Edit{
		Text: string(u.call.said.bytes()) + notice, Finish: u.reason, Usage: u.call.usageEdit(),
		Later: u.number > 1, calls: &u.calls, entries: u.parts,
	})
	return answer
}
