package join

import (
	"context"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/reading"
	"github.com/carryon-go/carryon/middleware"
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
	defer call.engine().Cancel()
	defer call.engine().End()
	u := unary[R]{call: call, dialect: d, do: do}
	if len(filters) > 0 {
		u.callbacks = &callbacks{filters: filters, failed: call.engine().CallbackFailed}
		u.callbacks.begin(call.answer().Turn)
	}
	u.ends = u.room.ends[:0]
	call.answer().Turn.Use(&u.room.turn)
	answer, err := do(call.OpenContext(), nil)
	if err != nil {
		call.engine().DecideFirstTurn(err)
		call.engine().EndTurn(err)
		return answer, err
	}
	u.keep(answer)
	if call.engine().DecideNext(nil) {
		err = u.carryOn()
	}
	return u.join(), err
}

// unary joins whole answers.
type unary[R any] struct {
	call    *Call
	dialect adapter.Dialect[R]
	do      func(context.Context, *adapter.Continuation) (R, error)

	callbacks *callbacks // that are filtered; nil for none

	answer       R           // this and the fields below are of the last turn that ended well
	continuation bool        // whether a continuation gave the answer
	reason       shownFinish // as shown
	calls        reading.Calls
	fragments    []reading.Fragment
	length       int   // of the transcript when the turn ended
	ends         []int // that length for each turn

	room struct { // memory for the caller's own turn, so that a call with nothing to do allocates next to nothing
		turn reading.Room
		ends [2]int
	}
}

// read reads what the answer adds, and fails if the turn did not end well.
func (u *unary[R]) read(answer *R) error {
	turn := u.call.answer().Turn
	turn.NextChunk()
	u.dialect.Read(answer, turn)
	u.call.endReading()
	if turn.Err == nil && turn.FinishReason == "" && !u.call.answer().NoFinish {
		return middleware.ErrIncomplete
	}
	return turn.Err
}

// keep makes the answer of the current turn the one to show.
func (u *unary[R]) keep(answer R) {
	turn := u.call.answer().Turn
	u.answer = answer
	var err error
	if turn.First {
		// The caller gets its own turn, however it ended.
		_ = u.read(&u.answer)
		err = turn.Err
	}
	u.continuation, u.length = !turn.First, u.call.answer().Text.Len()
	u.ends = append(u.ends, u.length)
	u.reason, u.calls, u.fragments = u.call.shownFinish(), turn.Calls, turn.Chunk.Calls
	turn.Chunk.Calls = nil // they are kept
	u.endTurn(err, true)
}

// hide ends the current turn and shows nothing of it.
func (u *unary[R]) hide() {
	u.call.answer().Turn.Forget()
	u.endTurn(nil, false)
}

// endTurn ends the current turn. keep says whether its answer is kept.
func (u *unary[R]) endTurn(err error, keep bool) {
	u.callbacks.end(u.call.answer().Turn, err != nil)
	u.call.engine().EndTurn(err)
	u.dialect.EndTurn(keep)
}

// carryOn adds turns as long as the call goes on.
func (u *unary[R]) carryOn() error {
	for {
		k, err := u.call.engine().Next(0)
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
		turn := u.call.answer().Turn
		if u.callbacks.any(TurnFilter.showedTurn) {
			turn.ShowRepeated() // it was not held back everywhere
		}
		if turn.IsHidden() {
			u.hide()
		} else {
			u.keep(answer)
		}
		if !u.call.engine().DecideNext(nil) {
			return u.callbacks.failure() // some SDKs swallow the error
		}
	}
}

// turn runs a continuation.
func (u *unary[R]) turn(k *adapter.Continuation) (R, error) {
	ctx, program := u.call.engine().BeginTurn(k)
	u.callbacks.begin(u.call.answer().Turn)
	d := newDeadlines(ctx, program, u.call)
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
	u.call.answer().Text.Cut(u.length)
	u.endTurn(err, false)
	u.call.answer().Turn.WasShown = u.callbacks.any(TurnFilter.showedTurn)
	return u.call.engine().Failed(err, u.callbacks.any(TurnFilter.showedCall))
}

// join returns the answer that the caller sees.
func (u *unary[R]) join() R {
	u.callbacks.endCall(u.call.engine().Notice(), u.call.answer().Text.End().Separator())
	if !u.continuation && !u.calls.PauseRemoved {
		return u.answer
	}
	answer := u.dialect.Clone(&u.answer)
	shown := u.dialect.AppendShown(make([]R, 0, 1), &answer, &adapter.Edit{
		Text: string(u.call.answer().Text.Bytes()) + u.call.joinedNotice(), TurnEnds: u.ends,
		Finish: u.reason.reason, PlainStop: u.reason.plainStop,
		Usage: u.call.answer().Usage, Calls: u.calls.Edits(nil, u.fragments), Continuation: u.continuation,
	})
	if len(shown) == 0 {
		return answer // the dialect is wrong: an answer is always shown
	}
	return shown[0]
}
