package middleware

import (
	"context"
	"errors"
	"math/rand/v2"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/scope"
	"github.com/carryon-go/carryon/internal/session"
	"github.com/carryon-go/carryon/internal/todolist"
)

// decider decides whether a call is continued, and claims the session for it.
type decider struct {
	*callScope

	turn      *turn                    // the current one
	last      *continuation.Evaluation // the last decision. Unary allocates it before there is one
	list      *readList                // the list as last read
	cause     error                    // what the gate, the store or the tasks have ended the continuations with
	blankUsed bool                     // a blank turn was continued
	marked    bool                     // the session knows that the caller cancelled the call
}

// decide takes and reports the decision on the current turn. It reports whether
// the call goes on: now, or when the interval is over.
func (d *decider) decide() bool {
	d.conclude(d.evaluate())
	return !d.mw.options.dryRun && (d.last.Continue || d.last.Reason == continuation.ReasonTooSoon)
}

// conclude reports an evaluation and keeps it as the last one of the call.
func (d *decider) conclude(ev continuation.Evaluation) {
	d.keep(ev)
	var cause error
	if ev.Reason == continuation.ReasonGate || ev.Reason == continuation.ReasonStore || ev.Reason == continuation.ReasonStoreSkipped {
		cause = d.cause
	}
	d.record(func(o *Outcome) { o.decided(&ev, d.turn, cause) })
	d.mw.options.report.decided(d.cancel.caller, Decision{
		TurnID: d.turn.TurnID, Evaluation: ev, DryRun: d.mw.options.dryRun, Err: cause,
	})
	if ev.Reason == continuation.ReasonBrokeOff {
		d.cancelled()
	}
	var digest uint64
	if ev.Reason.Exhausted() {
		d.mw.options.report.exhausted(d.cancel.caller, Exhausted{TurnID: d.turn.TurnID, Reason: ev.Reason})
		digest = todolist.Digest(d.list.todos)
	}
	if ev.Conditions[continuation.ConditionActiveTodos] == continuation.NotLookedAt || d.list.err != nil || ev.Continue || ev.Wait > 0 {
		return // the list was not read, or the claim stores what is new about it
	}
	d.updateInUserTurn(d.turn.TurnID, func(s continuation.State) continuation.State {
		return session.MarkStale(session.ObserveList(s, d.list.todos, d.mw.options.touchedOnly), digest)
	})
}

// cancelled remembers that the caller cancelled the call, if it did: the user may
// want something else now. A program that closes a stream after a tool call has
// what it wanted.
func (d *decider) cancelled() {
	closed := d.cancel.caller.Err() == nil
	if !d.cancel.hasEnded() || d.marked || d.session.key == "" || closed && d.turn.reader.showedCall() {
		return
	}
	d.marked = true
	var digest uint64
	if d.list != &noList && d.list.err == nil {
		digest = todolist.Digest(d.list.todos)
	}
	d.updateInUserTurn(d.turn.TurnID, func(s continuation.State) continuation.State { return session.Cancel(s, digest) })
}

// keep keeps an evaluation as the last one of the call.
func (d *decider) keep(ev continuation.Evaluation) {
	if d.last == nil {
		d.last = new(continuation.Evaluation)
	}
	*d.last = ev
}

// refuse ends the call's continuations, for a reason that Evaluate does not
// check.
func (d *decider) refuse(reason continuation.Reason) {
	ev := *d.last
	ev.Continue, ev.Reason, ev.Wait = false, reason, 0
	d.conclude(ev)
}

// evaluate fetches what the decision needs, the cheapest first: what the turn
// held, then the session's state, then the todos.
func (d *decider) evaluate() continuation.Evaluation {
	in := d.input()
	if ev := continuation.Evaluate(in); ev.Reason != continuation.ReasonTodosNeeded {
		return ev
	}
	d.cancel.derive() // what is asked from here on must end with the call
	if !d.loadState(&in) {
		return continuation.Evaluation{Reason: d.storeReason()}
	}
	if ev := continuation.Evaluate(in); ev.Reason != continuation.ReasonTodosNeeded {
		return ev
	}
	d.readTodos()
	if !d.loadState(&in) {
		return continuation.Evaluation{Reason: d.storeReason()}
	}
	// The call may have ended while the source was asked.
	in.Turn = d.facts()
	d.list.putInto(&in)
	in.Scope = d.listScope(in.Scope)
	var known bool
	if in.Background, known = d.background(); !known {
		return continuation.Evaluation{Reason: continuation.ReasonStore}
	}
	ev := continuation.Evaluate(in)
	if ev.Conditions[continuation.ConditionNoBackground] == continuation.Met && d.request.called && awaitsReport(d.request.history) {
		in.Background = continuation.Background{Unfinished: 1, Oldest: in.Now}
		ev = continuation.Evaluate(in)
	}
	return ev
}

// input returns what is known without asking anybody.
func (d *decider) input() continuation.Input {
	in := continuation.Input{
		Settings: d.session.settings(), Turn: d.facts(), Limits: d.mw.options.limits,
		TouchedOnly: d.mw.options.touchedOnly,
	}
	if d.hasShortLoop() {
		in.Limits.MaxAttempts = 1
	}
	return in
}

// loadState puts the session's state into the input, and the time. It fails if
// the store has failed.
func (d *decider) loadState(in *continuation.Input) bool {
	if d.session.failed {
		d.cause = d.session.failure
		return false
	}
	state, err := d.session.load(d.cancel.ctx)
	if err != nil {
		d.storeFailed(d.turn.TurnID, err)
		d.cause = err
		return false
	}
	in.State, in.UserTurn, in.Now = state, d.session.userTurn, d.mw.options.clock.Now()
	in.Settings = d.session.settings()
	return true
}

// facts returns what the turn held. It does not look at a turn that broke off,
// because Close may decide on one goroutine while an adapter records text on
// another.
func (d *decider) facts() continuation.EndedTurn {
	if d.turn.reader.err != nil || d.callbacks.failure() != nil || d.cancel.hasEnded() {
		return continuation.EndedTurn{BrokeOff: true}
	}
	facts := d.turn.facts()
	facts.NoFinish, facts.BlankOK = d.request.noFinish, !d.mw.options.noEmptyTurns && !d.blankUsed
	return facts
}

// next waits until the continuation can be sent, and claims the session for it.
// It reports false if there is none after all; the error is what interrupted the
// wait.
func (d *decider) next() (bool, error) {
	for {
		if d.mw.drain.hasBegun() {
			d.refuse(continuation.ReasonShutdown)
			return false, nil
		}
		if !d.patience.hasTimeFor(d.last.Wait) {
			d.refuse(continuation.ReasonDeadline)
			return false, nil
		}
		if d.last.Reason == continuation.ReasonTooSoon {
			if !d.cancel.wait(d.mw.drain.begun, d.mw.options.clock, d.last.Wait) {
				return false, d.interruption()
			}
			d.observed.waited(d.last.Wait)
			if d.mw.drain.hasBegun() {
				continue
			}
			if !d.decide() {
				return false, nil
			}
			continue
		}
		if !d.passesGate() {
			return false, nil
		}
		switch d.commit(); {
		case d.last.Continue:
			return true, nil
		case d.last.Reason != continuation.ReasonTooSoon:
			return false, nil
		}
	}
}

// nextID returns the id of the turn that a continuation would be.
func (d *decider) nextID() continuation.TurnID {
	id := d.turn.TurnID
	id.Turn, id.Attempt = id.Turn+1, d.last.Attempt
	return id
}

// passesGate asks the program's gate, if it has one.
func (d *decider) passesGate() bool {
	gate := d.mw.options.gate
	if gate == nil {
		return true
	}
	turn := NextTurn{TurnID: d.nextID(), Todo: d.last.Todo, Text: string(d.turn.reader.text.transcript.bytes())}
	// Inside this layer, so that a gate may ask a model itself.
	ctx := scope.WithSession(d.cancel.ctx, d.turn.Session)
	err := d.mw.plugins.run(func() error { return gate(ctx, turn) })
	if err == nil {
		return true
	}
	var panicked *PanicError
	if errors.As(err, &panicked) {
		d.fault(d.turn.TurnID, "gate", err)
	}
	d.cause = err
	d.refuse(continuation.ReasonGate)
	return false
}

// commit claims the session for a continuation, if every condition still holds.
// The last check and the claim are one atomic update.
func (d *decider) commit() {
	background, known := d.background()
	if !known {
		d.refuse(continuation.ReasonStore)
		return
	}
	in := d.input()
	in.UserTurn, in.Background, in.Now = d.session.userTurn, background, d.mw.options.clock.Now()
	d.list.putInto(&in)
	token := rand.Uint64() | 1 //nolint:gosec // tells claims apart, guards nothing
	var ev continuation.Evaluation
	err := d.session.update(d.cancel.ctx, func(s continuation.State) continuation.State {
		in.State, in.Settings = s, d.session.settingsOf(s)
		if ev = continuation.Evaluate(in); !ev.Continue {
			return s
		}
		return session.Claim(ev.State, token, in.Now, in.Limits.ClaimLife)
	})
	switch {
	case err != nil:
		if ev.Continue { // the store may have saved the claim in spite of the error
			d.giveBack(token, err)
		}
		d.storeFailed(d.turn.TurnID, err)
		d.cause = err
		d.refuse(d.storeReason())
	case !ev.Continue:
		d.conclude(ev)
	default:
		d.keep(ev)
		d.hold(d.turn.TurnID, token)
	}
}

// giveBack releases a claim that the store has failed to make, and may have made
// all the same. A store that was late is not waited for once more.
func (d *decider) giveBack(token uint64, failure error) {
	release := func() {
		d.session.report(d.cancel.caller, d.session.release(d.cancel.ctx, func(s continuation.State) continuation.State {
			return session.Release(s, token, session.Ending{})
		}))
	}
	if errors.Is(failure, context.DeadlineExceeded) {
		d.mw.options.clock.AfterFunc(breakTime, release)
		return
	}
	release()
}

// background returns what the decision needs to know of background tasks. It
// reports false if they cannot be asked: then nothing is continued.
func (d *decider) background() (continuation.Background, bool) {
	tasks := d.mw.options.tasks
	if tasks == nil {
		return continuation.Background{}, true
	}
	work, err := tasks.Pending(d.cancel.ctx, d.turn.Session, d.mw.options.limits.MaxTaskAge)
	if err != nil {
		if !errors.Is(err, ErrTasksSkipped) {
			d.fault(d.turn.TurnID, "tasks", err)
		}
		d.cause = err
		return continuation.Background{}, false
	}
	return continuation.Background{Unfinished: work.Unfinished, Oldest: work.Oldest}, true
}
