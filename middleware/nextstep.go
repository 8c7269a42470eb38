package middleware

import (
	"errors"
	"time"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/scope"
)

// step is what a call does next.
type step uint8

// The steps.
const (
	stops  step = iota // nothing more is sent
	sends              // the session is claimed for the continuation
	checks             // the program's check still runs
	looks              // looks again at what comes next
)

// next waits until the continuation may be sent, and claims the session for it. While the
// program's check runs, it returns whenever patience is over, unless that is 0. The error
// says what interrupted the wait.
func (d *decider) next(patience time.Duration) (step, error) {
	for {
		if next, err := d.nextStep(patience); next != looks {
			return next, err
		}
	}
}

func (d *decider) nextStep(patience time.Duration) (step, error) {
	wait := max(d.last.Wait, d.retryDelay())
	switch {
	case d.claimed:
		d.claimed, d.last.waited = false, 0
		return sends, nil
	case d.check.isRunning():
		return d.askCheck(patience) // which ends in time by itself
	case d.env.mw.drain.hasBegun():
		return d.refuse(reasons.Shutdown), nil
	case !d.env.answer.Timeouts.HasTimeFor(wait):
		return d.refuse(reasons.Deadline), nil
	case d.last.Reason == reasons.CheckDue:
		return d.askCheck(patience)
	case wait > 0:
		if !d.env.cancel.wait(d.env.mw.drain.begun, d.env.mw.options.clock, wait) {
			return stops, d.env.interruption()
		}
		d.env.observed.waited(wait)
		d.last.waited += wait
		if d.env.mw.drain.hasBegun() {
			return looks, nil
		}
		return d.lookAgain(), nil
	case d.gateAllows() && d.commit():
		return looks, nil
	}
	return stops, nil
}

// lookAgain decides again after a wait, in which the list may have changed.
func (d *decider) lookAgain() step {
	d.list.turn = 0
	if d.decide() {
		return looks
	}
	return stops
}

// nextID returns the id of the turn that a continuation would have.
func (d *decider) nextID() continuation.TurnID {
	id := d.turn.TurnID
	id.Turn, id.Attempt = id.Turn+1, d.last.Attempt
	return id
}

// gateAllows asks the program's gate, if it has one.
func (d *decider) gateAllows() bool {
	gate := d.env.mw.options.gate
	if gate == nil {
		return true
	}
	turn := NextTurn{TurnID: d.nextID(), Todo: d.last.Todo, Asks: d.last.Asks, Text: string(d.text.Bytes())}
	if d.last.Checks {
		turn.Unmet = d.check.unmet
	}
	// Inside this layer, so that a gate may ask a model itself.
	ctx := scope.WithSession(d.env.cancel.ctx, d.turn.Session)
	err := d.env.mw.plugins.run(func() error { return gate(ctx, turn) })
	if err == nil {
		return true
	}
	var panicked *PanicError
	if errors.As(err, &panicked) {
		d.env.fault(d.turn.TurnID, opGate, err)
	}
	d.cause = err
	d.refuse(reasons.Gate)
	return false
}

// commit claims the session for the continuation that the gate let pass, if every
// condition still holds. It reports whether the call goes on.
func (d *decider) commit() bool {
	if !d.readBackground() {
		d.refuse(reasons.Store)
		return false
	}
	v := d.judge(toClaim)
	if v.Continue {
		d.setLast(&v)
		return true
	}
	d.report(&v)
	return d.goesOnAfter(&v)
}

// retryDelay returns what is left of the delay before a failed continuation is sent
// again: the provider's, or carryon's own before the last try.
func (d *decider) retryDelay() time.Duration {
	if d.continued == nil || d.continued.notBefore.IsZero() {
		return 0
	}
	return d.continued.notBefore.Sub(d.env.mw.options.clock.Now())
}
