package middleware

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/carryon-go/carryon/continuation"
)

// WithHoldout sets a control group: carryon takes and reports every decision on its
// sessions, but continues none of them, with [continuation.ReasonHoldout] in place of
// [continuation.ReasonSatisfied]. share is its part of all sessions, from 0 to 1.
//
// A hash of the session's name decides whether the session belongs to it. So every
// replica decides alike, a session stays in its group after a restart, and a higher
// share only adds sessions. Calls without a session name are never held out, because
// nothing ties them to the later calls of their conversation.
func WithHoldout(share float64) Option {
	return check(share >= 0 && share <= 1, func(o *options) { o.holdout = share }, "the holdout's share %v is not between 0 and 1", share)
}

// holdsOut reports whether the session of that name belongs to the control group.
func (o *options) holdsOut(name string) bool {
	if o.holdout == 0 || name == "" {
		return false
	}
	sum := sha256.Sum256([]byte("carryon/holdout/" + name))
	const range53 = 1 << 53 // the integers below it are exact as a float64
	return float64(binary.BigEndian.Uint64(sum[:])%range53) < o.holdout*range53
}

// evaluate decides as [continuation.Evaluate] does, except that it continues no call
// of the control group. It does not wait for the interval there either.
func (s *callScope) evaluate(in continuation.Input) continuation.Evaluation {
	ev := continuation.Evaluate(in)
	if s.session.heldOut && (ev.Continue || ev.Reason == continuation.ReasonTooSoon) {
		ev.Continue, ev.Reason, ev.Wait = false, continuation.ReasonHoldout, 0
	}
	return ev
}
