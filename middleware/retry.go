package middleware

import (
	"errors"
	"time"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/continuation"
)

// maxRetryPause is the longest pause that a provider may ask for before a
// continuation is sent once more. If it asks for a longer one, the answer ends,
// because the caller would be shown nothing meanwhile.
const maxRetryPause = 10 * time.Second

// A continuation that fails before anything of it was shown is tried maxTries times in
// all. Before the last try, carryon waits for lastTryIntervals times the interval between
// prompts, because what made two tries in a row fail needs time to pass.
const (
	maxTries         = 3
	lastTryIntervals = 5
)

// continued is what a call keeps from its first continuation on: above all, the point
// it returns to if a continuation fails before anything of it was shown.
type continued struct {
	ends []int // the length of the text at the end of each turn that ended well

	from            turn // the turn before the current continuation
	text, reasoning int  // lengths of the transcript at its end
	shown           bool // the consumer was shown something of the continuation
	failed          int  // tries of it that have failed

	failure   error     // of the last try, until the next is sent
	notBefore time.Time // when the next may be sent; zero for any time
}

// begin notes that a continuation of the call is about to be sent.
func (n *continued) begin(c *Call) {
	if !n.hasFailed() {
		n.failed = 0
	}
	n.failure, n.shown = nil, false
	n.from, n.text, n.reasoning = c.turn, c.text.len(), c.text.reasoningLen()
}

// hasFailed reports whether a try has failed that another one may follow.
func (n *continued) hasFailed() bool { return n != nil && n.failure != nil }

// tryAgain reports whether the continuation that failed with err is sent once more. If
// so, the call is back in the turn before, and goes on from there.
func (c *Call) tryAgain(err error) bool {
	n := c.decider.continued
	if n.failed++; n.shown || n.failed == maxTries || !mayRecover(err) {
		return false
	}
	n.failure, n.notBefore = err, time.Time{}
	pause := retryOf(err).After
	if n.failed == maxTries-1 {
		pause = max(pause, lastTryIntervals*c.mw.options.limits.MinInterval)
	}
	if pause > 0 {
		n.notBefore = c.mw.options.clock.Now().Add(pause)
	}
	c.reminders.takeBack(&c.turn)
	c.text.cut(n.text)
	c.text.cutReasoning(n.reasoning)
	id := c.turn.TurnID
	c.turn = n.from
	c.turn.TurnID = id // the turn that has failed counts
	if !c.decider.decide() {
		c.endTries()
		return false
	}
	c.record(func(o *Outcome) { o.Err = nil })
	return true
}

// endTries records the failure of a try that no other try follows. It reports false if
// there is no such failure.
func (c *Call) endTries() bool {
	n := c.decider.continued
	if !n.hasFailed() {
		return false
	}
	c.record(func(o *Outcome) { o.Err, o.Reason = n.failure, continuation.ReasonFailed })
	return true
}

// mayRecover reports whether another try may succeed: not if the provider refuses
// the request or asks not to be called again, and not if this try has used up the time
// for a continuation.
func mayRecover(err error) bool {
	for _, limit := range [...]error{ErrFirstByteTimeout, ErrResponseTimeout, ErrDeadlineNear, ErrShutdown} {
		if errors.Is(err, limit) {
			return false
		}
	}
	retry := retryOf(err)
	return !retry.Never && retry.After <= maxRetryPause && isTransient(err)
}

// retryOf returns what the provider says about another try.
func retryOf(err error) adapter.Retry {
	var status *adapter.StatusError
	if errors.As(err, &status) {
		return status.Retry
	}
	return adapter.Retry{}
}

// isTransient reports whether the failure may be temporary, judging by its HTTP
// status. Without a status, it may.
func isTransient(err error) bool {
	var status *adapter.StatusError
	if !errors.As(err, &status) {
		return true
	}
	switch status.Status {
	case 0, 408, 409, 429:
		return true
	}
	return status.Status >= 500
}

// isRefusal reports whether the provider refuses the conversation itself, so that it
// would refuse another continuation too.
func isRefusal(err error) bool {
	var status *adapter.StatusError
	return errors.As(err, &status) && status.Status >= 400 && !isTransient(err)
}

// askedPause returns what is left of the pause that the provider has asked for.
func (d *decider) askedPause() time.Duration {
	if d.continued == nil || d.continued.notBefore.IsZero() {
		return 0
	}
	return d.continued.notBefore.Sub(d.mw.options.clock.Now())
}
