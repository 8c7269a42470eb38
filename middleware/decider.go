package middleware

import (
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/scope"
	"github.com/carryon-go/carryon/todo"
)

// decider decides whether a call is continued, and claims the session for it.
type decider struct {
	inputs // the call, its current turn, and the list that was read for it

	last           *lastVerdict // nil until a verdict has allowed a continuation
	cause          error        // the error of the gate, the store or the tasks that ended the continuations
	retry          *retryPoint  // nil before the first continuation
	claimed        bool         // the session is claimed for the next turn
	rejectedBefore bool         // the call has rejected a pause
	cancelRecorded bool         // the session state records that the caller cancelled the call
	noNewTools     bool         // no tool may be added; see FixedPrefix of [adapter.Request]
	check          *callCheck   // nil if the program has none, or if it is not asked about the call
}

// lastVerdict is the last verdict on a call that goes on.
type lastVerdict struct {
	decision.Verdict

	waited time.Duration // for the interval, before the next continuation
}

// intent says what a decision is for.
type intent uint8

// The intents.
const (
	judgeProvisionally intent = iota // whether the call may go on: the state is asked only if the rest says no
	judgeAndRecord                   // what comes next; a continuation cannot be sent yet
	judgeAndClaim                    // what comes next; a continuation is sent at once
	judgeOnly                        // for a reader; nothing is changed
)

// judge takes a decision on the current turn: it reads the turn, judges it, fetches what
// the verdict still needs and judges again, and claims the session.
func (d *decider) judge(to intent) decision.Verdict {
	for {
		in := d.readTurn()
		v := decision.Judge(in)
		switch {
		case v.Needs == 0, to == judgeProvisionally && v.Needs == decision.SessionState && d.callGoesOn(&v):
			return v
		case d.env.session.failure != nil:
			return d.noStoreVerdict(d.env.session.failure)
		}
		d.env.cancel.derive() // every request from here on must end with the call
		if v.Needs == decision.SessionState {
			if v = d.judgeByState(in, to); v.Needs == 0 {
				return v
			} // else the state has changed since the turn was read
		}
		if !d.fetch(v.Needs) {
			return decision.Verdict{Reason: reasons.Store}
		}
	}
}

// readTurn returns what is known without asking anybody.
func (d *decider) readTurn() decision.Input {
	session := &d.env.session
	in := decision.Input{
		Settings: session.settings(), Turn: d.turnAsRead(), Limits: session.rules.Limits, Handback: session.rules.Handback,
		RuledOut: session.ruledOut, ListWritten: d.env.hasWrittenList(), HeldOut: session.heldOut,
		ShortLoop: d.env.hasShortLoop(), ShortMessage: d.env.request.shortMessage,
		Now: d.env.now(),
	}
	if d.last != nil {
		in.Waited = d.last.waited
	}
	in.Check, in.CheckDigest = d.check.resultFor(d.turn, d.last != nil && d.last.Checks && d.retry.hasFailed())
	in.CheckNoted = d.check != nil && d.check.noted
	if d.list.turnNo == d.turn.Turn {
		d.addList(&in)
	}
	return in
}

// addList adds the list that was read for the turn, and how the turn ends, which matters
// only if there is work on the list, or the model may be asked.
func (d *decider) addList(in *decision.Input) {
	d.list.addTo(in)
	in.AskAlways = d.env.options().closingQuestion
	in.MayAsk = d.mayAsk()
	hasWork := slices.ContainsFunc(in.Todos, func(t todo.Todo) bool { return t.Status.Active() })
	if t := &in.Turn; (hasWork || in.MayAsk || in.Check != continuation.NoCheck) && !t.BrokeOff && !t.ToolCalls && !t.TooLong {
		t.End = d.turn.read.TextEnd()
	}
}

// fetch asks for what a verdict needs. It reports false if that fails, and with it the
// decision.
func (d *decider) fetch(needed decision.Inputs) bool {
	if needed == decision.BackgroundWork {
		if err := d.readBackground(); err != nil {
			d.list.turnNo, d.cause = 0, err
			return false
		}
		return true
	}
	d.readTodos()
	return true
}

// judgeByState judges the turn by the state of the session and changes the state, in one
// update: it adds a claim if the call is continued and that is the intent, or what is new
// about the list if the call ends. It changes nothing if the verdict needs more.
func (d *decider) judgeByState(in decision.Input, to intent) (v decision.Verdict) {
	session := &d.env.session
	if to == judgeOnly {
		state, err := session.load(d.env.cancel.caller)
		if err != nil {
			return d.noStoreVerdict(err)
		}
		session.addTo(&in, state)
		return decision.Judge(in)
	}
	var effect decision.Effect
	token := rand.Uint64() | 1 //nolint:gosec // tells claims apart, guards nothing
	err := session.update(d.env.cancel.ctx, d.env.withRelease(func(s decision.State) decision.State {
		session.addTo(&in, s)
		v, effect = decision.Judge(in), decision.Effect{}
		switch {
		case v.Continue && to == judgeAndClaim:
			s, effect = v.ClaimedState(s, token, &in)
		case v.Needs == 0 && !v.MayContinue():
			s, effect = v.StoppedState(s, &in)
		}
		return s
	}))
	claims := v.Continue && to == judgeAndClaim
	if err != nil {
		if claims {
			d.env.withdraw(d.turn.TurnID, token, &v.State)
		}
		return d.storeFailedVerdict(in, err)
	}
	d.env.claimReleased()
	d.recordEffect(effect)
	if claims {
		d.env.keepClaim(d.turn.TurnID, token)
		d.claimed = true
		if v.Checks {
			d.check.noted = true
		}
	}
	return v
}

// storeFailedVerdict returns the verdict after the store has failed with err. It reports
// the failure, unless it is the caller's doing.
func (d *decider) storeFailedVerdict(in decision.Input, err error) decision.Verdict {
	if d.env.cancel.hasEnded() { // the error is the caller's doing
		in.Turn = d.turnAsRead()
		return decision.Judge(in)
	}
	d.env.storeFailed(d.turn.TurnID, err)
	return d.noStoreVerdict(err)
}

// noStoreVerdict returns the verdict on a call whose store has failed.
func (d *decider) noStoreVerdict(err error) decision.Verdict {
	d.cause = err
	return decision.Verdict{Reason: storeReason(err)}
}

// decide takes and reports the decision on the current turn. It reports whether the
// call goes on: at once, in which case it has claimed the session, or later, when the
// wait is over and the gate lets the call pass.
func (d *decider) decide() bool {
	to := judgeAndRecord
	if d.canSend() {
		to = judgeAndClaim
	}
	v := d.judge(to)
	d.report(&v)
	return d.callGoesOn(&v)
}

// mayGoOn reports whether the call may go on after the current turn, judging by the
// turn and the list, and by the state of the session if those do not allow it. It claims
// nothing. If the call may not go on, that is the decision.
func (d *decider) mayGoOn() bool {
	v := d.judge(judgeProvisionally)
	if d.callGoesOn(&v) {
		return true
	}
	d.report(&v)
	return false
}

// preview returns the verdict on the turn, and changes and claims nothing. It reads the
// list even if the verdict does not need it.
func (d *decider) preview() decision.Verdict {
	d.readTodos()
	return d.judge(judgeOnly)
}

// callGoesOn reports whether the call goes on after the verdict: in a dry run, only to ask
// the program's check.
func (d *decider) callGoesOn(v *decision.Verdict) bool {
	return v.Reason == reasons.CheckDue || !d.env.rules().DryRun && v.MayContinue()
}

// canSend reports whether a continuation could be sent at once if the decision were
// taken now.
func (d *decider) canSend() bool {
	return d.env.options().gate == nil && !d.env.rules().DryRun && !d.env.drain().hasBegun() &&
		d.retryDelay() <= 0 && d.env.timeouts().HasTimeFor(0)
}

// report reports a verdict, and makes it the last one if another may follow.
func (d *decider) report(v *decision.Verdict) {
	if d.last != nil || d.callGoesOn(v) {
		d.setLast(v)
	}
	var cause error
	switch v.Reason { //nolint:exhaustive // the others have none
	case reasons.Gate, reasons.Store, reasons.StoreSkipped, reasons.CheckUnknown:
		cause = d.cause
	}
	d.env.record(func(o *Outcome) { o.decided(v, d.turn.read.FinishReason, cause) })
	if reporter := d.env.reporter(); len(reporter.observers) > 0 { // the event is too large to make it for nobody
		event := newDecision(d.turn.TurnID, v)
		event.DryRun, event.Holdout, event.Err = d.env.rules().DryRun, d.env.session.heldOut, cause
		emit(d.env.cancel.caller, reporter, event)
	}
	if v.Reason == reasons.BrokeOff {
		d.recordCancel()
	}
}

// setLast makes v the last verdict. Most calls have none, and use no memory for it.
func (d *decider) setLast(v *decision.Verdict) {
	last := lastVerdict{Verdict: *v}
	if d.last != nil {
		last.waited = d.last.waited
	}
	d.last = &last
}

// recordEffect records the effect of a continuation, once it is stored.
func (d *decider) recordEffect(e decision.Effect) {
	if e == (decision.Effect{}) || d.env.session.failure != nil {
		return
	}
	d.env.record(func(o *Outcome) { o.Worth.addEffect(e) })
}

// recordCancel records in the session state that the caller cancelled the call, if it
// did: the user may want something else now. A program that closes a stream after a
// tool call has what it wanted, so that does not count.
func (d *decider) recordCancel() {
	closed := d.env.cancel.caller.Err() == nil
	if !d.env.cancel.hasEnded() || d.cancelRecorded || d.env.session.key == "" || closed && d.turn.read.ShowedCall() {
		return
	}
	d.cancelRecorded = true
	var digest uint64
	if d.list != &noList && d.list.err == nil {
		digest = decision.Digest(d.list.todos)
	}
	d.env.updateInUserTurn(d.turn.TurnID, func(s decision.State) decision.State { return s.Cancel(digest) })
}

// turnAsRead returns what the decision needs of the turn. It does not look at a turn that
// broke off, because Close may decide on one goroutine while an adapter records text
// on another.
func (d *decider) turnAsRead() decision.Turn {
	if d.turn.read.Err != nil || d.env.cancel.callbackFailure() != nil || d.env.cancel.hasEnded() {
		return decision.Turn{BrokeOff: true}
	}
	as := d.turn.asRead()
	as.NoFinish, as.TooLong = d.env.answer.NoFinish, d.env.answer.Text.Long
	return as
}

// retryDelay returns what is left of the delay before a failed continuation is sent
// again: the provider's, or carryon's own before the last try.
func (d *decider) retryDelay() time.Duration {
	if d.retry == nil || d.retry.notBefore.IsZero() {
		return 0
	}
	return d.retry.notBefore.Sub(d.env.now())
}

// step is what a call does next.
type step uint8

// The steps.
const (
	stepEnd       step = iota // nothing more is sent
	stepSend                  // the session is claimed for the continuation
	stepCheckRuns             // the program's check still runs
	stepAgain                 // what comes next is looked at again
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
	wait := max(d.last.IntervalLeft, d.retryDelay())
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
	d.list.turnNo = 0
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
	turn := NextTurn{TurnID: d.nextID(), Todo: d.last.Todo, Asks: d.last.ClosingQuestion, Text: string(d.env.answer.Text.Bytes())}
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
		d.env.reportFailure(d.turn.TurnID, opGate, err)
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
	v := d.judge(judgeAndClaim)
	if v.Continue {
		d.setLast(&v)
		return true
	}
	d.report(&v)
	return d.callGoesOn(&v)
}

// askCheck asks the check about the current turn, and takes the decision that follows. It
// waits no longer than patience at a time, unless that is 0.
func (d *decider) askCheck(patience time.Duration) (step, error) {
	c := d.check
	if c.current == nil {
		c.begin(&NextTurn{TurnID: d.nextID(), Text: string(d.env.answer.Text.Bytes())}, patience)
	}
	if !c.current.await(d.env.options().clock, patience) {
		return stepCheckRuns, nil
	}
	c.takeResult(d.turn.Turn)
	if err := d.env.interruption(); err != nil {
		return stepEnd, err
	}
	if c.err != nil {
		d.env.reportFailure(d.turn.TurnID, opCheck, c.err)
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
	v.Continue, v.Reason, v.IntervalLeft = false, reason, 0
	d.report(&v)
	in := decision.Input{Now: d.env.now()}
	d.list.addTo(&in)
	var effect decision.Effect
	d.env.updateInUserTurn(d.turn.TurnID, func(s decision.State) decision.State {
		s, effect = v.StoppedState(s, &in)
		return s
	})
	d.recordEffect(effect)
	return stepEnd
}
