package middleware

import (
	"errors"
	"sync/atomic"

	"github.com/carryon-go/carryon/continuation"
)

// callScope is what stays the same for a whole call: its request, its session, what
// ends it, and its outcome.
type callScope struct {
	mw      *Middleware
	request traits
	cancel  canceller
	session sessionHandle

	observed *observation // nil without observers

	patience *patience // of the caller; nil if it is unlimited

	callbacks *callbacks // that are filtered; nil for none

	claim   atomic.Pointer[claim]       // of the last continuation, if there was one
	outcome atomic.Pointer[outcomeCell] // nil as long as there is nothing to record
}

// interruption returns the error with which the caller, or a callback that failed,
// ended the call, or nil.
func (s *callScope) interruption() error {
	if err := s.callbacks.failure(); err != nil {
		return err
	}
	return s.cancel.interruption()
}

// fault reports a failure that does not cost the caller the answer.
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

// storeReason returns the reason for not continuing a call whose store has failed.
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

// hasShortLoop reports whether the call may have only one continuation in a row; see
// [adapter.Request].ShortLoop.
func (s *callScope) hasShortLoop() bool { return s.request.shortLoop && !s.mw.options.attemptsSet }

// firstOutcome is the outcome of a call that has only begun.
func (s *callScope) firstOutcome() Outcome {
	return Outcome{Session: s.session.name(), Turns: 1, DryRun: s.mw.options.dryRun}
}

// record changes the outcome.
func (s *callScope) record(f func(*Outcome)) { s.outcomeCell().edit(f) }

// outcomeCell returns the cell that holds the outcome, and makes it if necessary.
func (s *callScope) outcomeCell() *outcomeCell {
	if s.outcome.Load() == nil {
		s.outcome.Store(&outcomeCell{o: s.firstOutcome()})
	}
	return s.outcome.Load()
}
