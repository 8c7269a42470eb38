package middleware

import (
	"errors"
	"time"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/scope"
)

// step is what a call does next.
type step uint8

// The steps.
const (
	stepEnd   step = iota // nothing more is sent
	stepSend              // the session is claimed for the continuation
	stepWait              // the program's check still runs
	stepAgain             // what comes next is looked at again
)

// next waits until the continuation may be sent, and claims the session for it. While the
// program's check runs, it returns whenever patience is over, unless that is 0. The error
// says what interrupted the wait.
func (d *decider) next(patience time.Duration) (step, error) {
	for {
		if next, err := d.nextStep(patience); next != stepAgain {
			return next, err
		}
	}
}

func (d *decider) nextStep(patience time.Duration) (step, error) {
	wait := max(d.last.Wait, d.retryDelay())
	switch {
	case d.claimed:
		d.claimed, d.last.waited = false, 0
		return stepSend, nil
	case d.check.isRunning():
		return d.askCheck(patience) // which ends in time by itself
	case d.env.drain().hasBegun():
		return d.refuse(reasons.Shutdown), nil
	case !d.env.timeouts().HasTimeFor(wait):
		return d.refuse(reasons.Deadline), nil
	case d.last.Reason == reasons.CheckDue:
		return d.askCheck(patience)
	case wait > 0:
		if !d.env.cancel.wait(d.env.drain().begun, d.env.options().clock, wait) {
			return stepEnd, d.env.interruption()
		}
		d.env.observed.waited(wait)
		d.last.waited += wait
		if d.env.drain().hasBegun() {
			return stepAgain, nil
		}
		return d.lookAgain(), nil
	case d.gateAllows() && d.claimAfterGate():
		return stepAgain, nil
	}
	return stepEnd, nil
}

// lookAgain decides again after a wait, in which the list may have changed.
func (d *decider) lookAgain() step {
	d.list.turn = 0
	if d.decide() {
		return stepAgain
	}
	return stepEnd
}

// nextID returns the id of the turn that a continuation would have.
func (d *decider) nextID() continuation.TurnID {
	id := d.turn.TurnID
	id.Turn, id.Attempt = id.Turn+1, d.last.Attempt
	return id
}

// gateAllows asks the program's gate, if it has one.
func (d *decider) gateAllows() bool {
	gate := d.env.options().gate
	if gate == nil {
		return true
	}
	turn := NextTurn{TurnID: d.nextID(), Todo: d.last.Todo, Asks: d.last.Asks, Text: string(d.env.answer.Text.Bytes())}
	if d.last.Checks {
		turn.Unmet = d.check.unmet
	}
	// Inside this layer, so that a gate may ask a model itself.
	ctx := scope.WithSession(d.env.cancel.ctx, d.turn.Session)
	err := d.env.runPlugin(func() error { return gate(ctx, turn) })
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

// claimAfterGate claims the session for the continuation that the gate let pass, if every
// condition still holds. It reports whether the call goes on.
func (d *decider) claimAfterGate() bool {
	if err := d.readBackground(); err != nil {
		d.cause = err
		d.refuse(reasons.Store)
		return false
	}
	v := d.judge(toClaim)
	if v.Continue {
		d.setLast(&v)
		return true
	}
	d.report(&v)
	return d.continuesAfter(&v)
}

// askCheck asks the check about the current turn, and takes the decision that follows. It
// waits no longer than patience at a time, unless that is 0.
func (d *decider) askCheck(patience time.Duration) (step, error) {
	c := d.check
	if c.run == nil {
		c.begin(&NextTurn{TurnID: d.nextID(), Text: string(d.env.answer.Text.Bytes())}, patience)
	}
	if !c.run.await(d.env.options().clock, patience) {
		return stepWait, nil
	}
	c.takeResult(d.turn.Turn)
	if err := d.env.interruption(); err != nil {
		return stepEnd, err
	}
	if c.err != nil {
		d.env.fault(d.turn.TurnID, opCheck, c.err)
		d.cause = c.err
	}
	switch {
	case errors.Is(c.err, ErrDeadlineNear):
		return d.refuse(reasons.Deadline), nil
	case errors.Is(c.err, ErrShutdown):
		return d.refuse(reasons.Shutdown), nil
	}
	return d.lookAgain(), nil
}

// refuse ends the call's continuations for a reason that the verdict does not know.
func (d *decider) refuse(reason continuation.Reason) step {
	v := d.last.Verdict
	v.Continue, v.Reason, v.Wait = false, reason, 0
	d.report(&v)
	in := decision.Input{Now: d.env.now()}
	d.list.addTo(&in)
	var effect decision.Effect
	d.env.updateInUserTurn(d.turn.TurnID, func(s decision.State) decision.State {
		s, effect = v.EndedState(s, &in)
		return s
	})
	d.recordEffect(effect)
	return stepEnd
}
