package middleware

import (
	"errors"
	"sync/atomic"

	"github.com/carryon-go/carryon/continuation"
)

// callScope is what stays the same for a whole call: what the program asked for,
// whose the call is, what ends it, and what becomes of it.
type callScope struct {
	mw      *Middleware
	request traits
	cancel  canceller
	session sessionHandle

	fixedPrefix bool // nothing may be added to the tools; see [adapter.Request]

	observed *observation // nil without observers

	patience *patience // of the caller; nil if it is endless

	callbacks *callbacks // those that are filtered; nil without any

	claim   atomic.Pointer[claim]       // of the last continuation, if there was one
	outcome atomic.Pointer[outcomeCell] // nil as long as there is nothing to record
}

// interruption returns what ended the call from outside, or nil: the caller, or a
// callback that failed.
func (s *callScope) interruption() error {
	if err := s.callbacks.failure(); err != nil {
		return err
	}
	return s.cancel.interruption()
}

// fault reports what went wrong without costing the caller the answer.
func (s *callScope) fault(id continuation.TurnID, op string, err error) {
	s.mw.options.report.failed(s.cancel.caller, Failed{TurnID: id, Op: op, Err: err})
}

// faultOnce is fault for the store and the background tasks, whose failures are
// reported once, until they work again.
func (s *callScope) faultOnce(id continuation.TurnID, op string, err error) {
	if err != nil && isNews(err) {
		s.fault(id, op, err)
	}
}

// storeFailed reports a failure of the store, after which nothing is continued.
func (s *callScope) storeFailed(id continuation.TurnID, err error) {
	s.session.failure = err
	s.faultOnce(id, "store", err)
}

// storeReason returns why a call is not continued whose store has failed.
func (s *callScope) storeReason() continuation.Reason {
	if errors.Is(s.session.failure, ErrStoreSkipped) {
		return continuation.ReasonStoreSkipped
	}
	return continuation.ReasonStore
}

// updateInUserTurn changes the session's state, unless a newer user turn has
// begun or the store has failed before.
func (s *callScope) updateInUserTurn(id continuation.TurnID, f func(continuation.State) continuation.State) {
	if s.session.failure != nil {
		return // it was reported
	}
	err := s.session.updateDetached(s.cancel.ctx, s.withRelease(func(state continuation.State) continuation.State {
		if state.UserTurn != s.session.userTurn {
			return state
		}
		return f(state)
	}))
	if err != nil {
		s.storeFailed(id, err)
		return
	}
	s.released()
}

// hasShortLoop reports whether there is one continuation in a row; see
// [adapter.Request].
func (s *callScope) hasShortLoop() bool { return s.request.shortLoop && !s.mw.options.attemptsSet }

// firstOutcome is the outcome of a call that has only begun.
func (s *callScope) firstOutcome() Outcome {
	return Outcome{Session: s.session.name(), Turns: 1, DryRun: s.mw.options.dryRun}
}

// record changes the outcome.
func (s *callScope) record(f func(*Outcome)) { s.outcomeCell().edit(f) }

// outcomeCell returns the cell that the outcome is kept in.
func (s *callScope) outcomeCell() *outcomeCell {
	if s.outcome.Load() == nil {
		s.outcome.Store(&outcomeCell{o: s.firstOutcome()})
	}
	return s.outcome.Load()
}
