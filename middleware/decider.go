package middleware

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/background"
	"github.com/carryon-go/carryon/internal/delivery"
	"github.com/carryon-go/carryon/internal/scope"
	"github.com/carryon-go/carryon/internal/session"
	"github.com/carryon-go/carryon/internal/todolist"
	"github.com/carryon-go/carryon/todo"
)

// decider decides whether a call is continued, and claims the session for it.
type decider struct {
	env *callEnv

	turn      *turn          // the current one
	last      *lastDecision  // nil until the call goes on
	list      *readList      // the list as last read
	cause     error          // the error of the gate, the store or the tasks that ended the continuations
	continued *continued     // nil before the first continuation
	claimed   bool           // the session is claimed for the next turn
	rejected  bool           // a pause was rejected
	marked    bool           // the session state records that the caller cancelled the call
	fixed     bool           // no tool may be added; see FixedPrefix of [adapter.Request]
	effect    session.Effect // of the last change of the session state
	check     *checking      // nil if the program has none, or if it is not asked about the call
}

// lastDecision is the last decision of a call that goes on.
type lastDecision struct {
	continuation.Evaluation

	waited time.Duration // for the interval, before the next continuation
}

// decide takes and reports the decision on the current turn. It reports whether the
// call goes on: at once, in which case it has claimed the session, or later, when the
// wait is over and the gate lets the call pass.
func (d *decider) decide() bool {
	var j judgment
	d.settle(&j, d.canSend())
	d.conclude(&j.ev)
	return d.goesOnAfter(&j.ev)
}

// mayGoOn reports whether the call may go on after the current turn, judging by the
// turn and the list, and by the state of the session if those do not allow it. It claims
// nothing. If the call may not go on, that is the decision.
func (d *decider) mayGoOn() bool {
	var j judgment
	d.gather(&j)
	if d.goesOnAfter(&j.ev) {
		return true
	}
	if !j.final {
		d.settleBy(&j, false)
	}
	if d.goesOnAfter(&j.ev) {
		return true
	}
	d.conclude(&j.ev)
	return false
}

func (d *decider) goesOnAfter(ev *continuation.Evaluation) bool {
	return ev.Reason == continuation.ReasonCheckDue || !d.env.session.rules.DryRun && (ev.Continue || ev.Reason == continuation.ReasonTooSoon)
}

// canSend reports whether a continuation could be sent at once if the decision were
// taken now.
func (d *decider) canSend() bool {
	return d.env.mw.options.gate == nil && !d.env.session.rules.DryRun && !d.env.mw.drain.hasBegun() && d.retryDelay() <= 0 && d.env.timeouts.hasTimeFor(0)
}

// ruleShortLoop is the rule behind [adapter.Request].ShortLoop, in words.
const ruleShortLoop = "an agent whose executor counts iterations gets one continuation in a row, unless the program sets MaxAttempts"

// conclude reports an evaluation, and keeps it as the last one if another may follow.
func (d *decider) conclude(ev *continuation.Evaluation) {
	if d.last != nil || d.goesOnAfter(ev) {
		d.keep(ev)
	}
	if ev.Reason == continuation.ReasonMaxAttempts && ev.LimitRule == "" && d.env.hasShortLoop() {
		ev.LimitRule = ruleShortLoop
	}
	var cause error
	switch ev.Reason { //nolint:exhaustive // the others have none
	case continuation.ReasonGate, continuation.ReasonStore, continuation.ReasonStoreSkipped, continuation.ReasonCheckUnknown:
		cause = d.cause
	}
	d.env.record(func(o *Outcome) { o.decided(ev, d.turn.reader.finish, cause) })
	if reporter := &d.env.mw.options.reporter; len(reporter.observers) > 0 { // the event is too large to make it for nobody
		reporter.decided(d.env.cancel.caller, Decision{TurnID: d.turn.TurnID, Evaluation: *ev, DryRun: d.env.session.rules.DryRun, Holdout: d.env.session.heldOut, Err: cause})
	}
	if ev.Reason == continuation.ReasonBrokeOff {
		d.cancelled()
	}
	if ev.Reason.Exhausted() {
		d.env.mw.options.reporter.exhausted(d.env.cancel.caller, Exhausted{TurnID: d.turn.TurnID, Reason: ev.Reason})
	}
}

// cancelled records in the session state that the caller cancelled the call, if it
// did: the user may want something else now. A program that closes a stream after a
// tool call has what it wanted, so that does not count.
func (d *decider) cancelled() {
	closed := d.env.cancel.caller.Err() == nil
	if !d.env.cancel.hasEnded() || d.marked || d.env.session.key == "" || closed && d.turn.reader.showedCall() {
		return
	}
	d.marked = true
	var digest uint64
	if d.list != &noList && d.list.err == nil {
		digest = todolist.Digest(d.list.todos)
	}
	d.env.updateInUserTurn(d.turn.TurnID, func(s continuation.State) continuation.State { return session.Cancel(s, digest) })
}

// keep keeps an evaluation as the last one. Most calls keep none, and use no memory
// for it.
func (d *decider) keep(ev *continuation.Evaluation) {
	kept := lastDecision{Evaluation: *ev}
	if d.last != nil {
		kept.waited = d.last.waited
	}
	d.last = &kept
}

// refuse ends the call's continuations for a reason that Evaluate does not check.
func (d *decider) refuse(reason continuation.Reason) step {
	ev := d.last.Evaluation
	ev.Continue, ev.Reason, ev.Wait = false, reason, 0
	d.conclude(&ev)
	d.effect = session.Effect{}
	d.env.updateInUserTurn(d.turn.TurnID, func(s continuation.State) continuation.State { return d.afterList(s, &ev) })
	d.judged()
	return stops
}

// Names of the two conditions for which the engine asks: for the list, and for the
// background tasks.
const (
	listCondition       = "active_todos"
	backgroundCondition = "no_background"
)

// afterList returns the state after an evaluation that ends the call's continuations.
// It records what is new about the list, if the evaluation has looked at it, and judges
// the last continuation by it.
func (d *decider) afterList(s continuation.State, ev *continuation.Evaluation) continuation.State {
	d.effect = session.Effect{}
	switch ev.Reason { //nolint:exhaustive // the others change nothing of their own
	case continuation.ReasonBackground:
		s = session.Wait(s, d.env.mw.options.clock.Now())
	case continuation.ReasonCheckPassed:
		d.check.mended = s.Check.Failed > 0
		s = session.PassCheck(s)
	}
	if ev.Conditions.Of(listCondition) == continuation.NotLookedAt || d.list.err != nil {
		return s
	}
	s, d.effect = session.Judge(s, session.ObserveList(s, d.list.todos, d.list.origin.Written))
	if ev.Reason.Exhausted() {
		s = session.MarkStale(s, todolist.Digest(d.list.todos))
	}
	return s
}

// judgment is a decision on a turn and the input of that decision. It is large, so
// each decision makes one and passes a pointer to it.
type judgment struct {
	in    continuation.Input
	ev    continuation.Evaluation
	final bool // the state of the session cannot change it
}

// settle evaluates the turn and stores the result.
func (d *decider) settle(j *judgment, claims bool) {
	d.gather(j)
	if !j.final {
		d.settleBy(j, claims)
	}
}

// settleBy evaluates the turn with the gathered input and the state of the session,
// and stores the result.
func (d *decider) settleBy(j *judgment, claims bool) {
	j.ev = d.update(j.in, claims)
	if j.ev.Reason != continuation.ReasonTodosNeeded {
		return
	}
	*j = judgment{}
	d.gather(j)
	if !j.final { // the session is not barred any more, or the background is known now
		j.ev = d.update(j.in, claims)
	}
}

// gather collects what the decision on the turn needs beside the state of the
// session, and asks for nothing that it does not need: not for the list of a barred
// session. j.ev is then the decision for a session without
// a past; unless j.final is set, the state may change it.
func (d *decider) gather(j *judgment) {
	d.known(&j.in)
	j.final = true
	j.ev = d.env.evaluate(j.in)
	if j.ev.Reason != continuation.ReasonTodosNeeded {
		return
	}
	d.env.cancel.derive() // every request from here on must end with the call
	if d.env.session.failure != nil {
		j.ev = d.withoutStore(d.env.session.failure)
		return
	}
	if d.env.session.barred {
		j.final = false
		return
	}
	if d.list.turn != d.turn.Turn {
		d.readTodos()
	}
	j.in.Turn = d.facts() // the call may have ended meanwhile
	j.in.Scope, j.in.Now = d.listScope(j.in.Scope), d.env.mw.options.clock.Now()
	d.putList(&j.in)
	j.ev = d.env.evaluate(j.in)
	if j.ev.Conditions.Of(backgroundCondition) != continuation.NotLookedAt && !d.list.backgroundKnown {
		if !d.readBackground() {
			d.list.turn = 0
			j.ev = continuation.Evaluation{Reason: continuation.ReasonStore}
			return
		}
		d.putList(&j.in)
		j.ev = d.env.evaluate(j.in)
	}
	j.final = j.ev.Conditions.Of(listCondition) == continuation.NotLookedAt
}

// known puts into the input what is known without asking anybody.
func (d *decider) known(in *continuation.Input) {
	in.Settings, in.Turn = d.env.session.settings(), d.facts()
	in.Limits, in.Handback, in.ShortMessage = d.env.session.rules.Limits, d.env.session.rules.Handback, d.env.request.shortMessage
	in.State.Touched = d.env.hasWrittenList()
	if d.last != nil {
		in.Waited = d.last.waited
	}
	in.Check, in.CheckDigest = d.check.of(d.turn, d.last != nil && d.last.Checks && d.continued.hasFailed())
	if d.env.hasShortLoop() {
		in.Limits.MaxAttempts = 1
	}
}

// update evaluates the turn by the state of the session and changes the state, in one
// update: it adds a claim if the call is continued and claims is set, or what is new
// about the list if the call ends.
func (d *decider) update(in continuation.Input, claims bool) (ev continuation.Evaluation) {
	in.Now = d.env.mw.options.clock.Now()
	token := rand.Uint64() | 1 //nolint:gosec // tells claims apart, guards nothing
	err := d.env.session.update(d.env.cancel.ctx, d.env.withRelease(func(s continuation.State) continuation.State {
		d.effect = session.Effect{}
		ev = d.evaluateIn(s, &in)
		switch {
		case ev.Reason == continuation.ReasonTodosNeeded:
			return s
		case ev.Continue && claims:
			return d.claim(s, &ev, token, &in)
		case ev.Continue, ev.Wait > 0, ev.Reason == continuation.ReasonCheckDue:
			return s
		}
		return d.afterList(s, &ev)
	}))
	if err == nil {
		d.env.released()
		d.judged()
	}
	switch {
	case err != nil:
		if ev.Continue && claims {
			d.withdraw(token, &ev.State)
		}
		if d.env.cancel.hasEnded() { // the error is the caller's doing
			in.Turn = d.facts()
			return d.env.evaluate(in)
		}
		d.env.storeFailed(d.turn.TurnID, err)
		return d.withoutStore(err)
	case ev.Continue && claims:
		d.env.hold(d.turn.TurnID, token)
		d.claimed = true
		if ev.Checks {
			d.check.noted = true
		}
	}
	return ev
}

// claim records in the state of a session that the turn is continued.
func (d *decider) claim(s continuation.State, ev *continuation.Evaluation, token uint64, in *continuation.Input) continuation.State {
	s, d.effect = session.Judge(s, ev.State)
	if r := d.turn.rejection; r != nil && r.asksLeave {
		s.LeaveDenied = true // the model was told that it needs no leave
	}
	s = session.Claim(s, token, in.Now, in.Limits.ClaimLife)
	if ev.Asks {
		s = session.Ask(s)
	}
	if ev.Checks && !d.check.noted {
		s = session.FailCheck(s, in.CheckDigest)
	}
	return s
}

// withdraw takes back a claim that the store may have saved in spite of its error, with
// everything that says that a prompt was sent. before is the state that was claimed.
func (d *decider) withdraw(token uint64, before *continuation.State) {
	g := &giveBack{
		env: d.env, id: d.turn.TurnID, given: func() {},
		release: func(s continuation.State) continuation.State { return session.Withdraw(s, token, *before) },
	}
	d.env.hasAnswered(d.turn.TurnID, g.begin())
}

// evaluateIn evaluates the turn by the state of the session, which it sets in the input.
func (d *decider) evaluateIn(s continuation.State, in *continuation.Input) continuation.Evaluation {
	in.State, in.Settings, in.UserTurn = s, d.env.session.settingsOf(s), d.env.session.userTurn
	in.State.Touched = s.Touched || d.env.hasWrittenList()
	ev := d.env.evaluate(*in)
	if ev.Conditions.Of(backgroundCondition) == continuation.Met && !d.list.backgroundKnown {
		return continuation.Evaluation{Reason: continuation.ReasonTodosNeeded} // the state has changed since the list was read
	}
	return ev
}

// preview returns the decision on the turn, and changes and claims nothing. It reads the
// list even if the decision does not need it.
func (d *decider) preview() continuation.Evaluation {
	state, err := d.env.session.load(d.env.cancel.caller) // before gather, which looks at what is known of it
	d.readTodos()
	var j judgment
	d.gather(&j)
	switch {
	case j.final:
		return j.ev
	case err != nil:
		return d.withoutStore(err)
	}
	j.in.Now = d.env.mw.options.clock.Now()
	return d.evaluateIn(state, &j.in)
}

// withoutStore returns the evaluation of a call whose store has failed.
func (d *decider) withoutStore(err error) continuation.Evaluation {
	d.cause = err
	return continuation.Evaluation{Reason: storeReason(err)}
}

// facts returns what the decision needs of the turn. It does not look at a turn that
// broke off, because Close may decide on one goroutine while an adapter records text
// on another.
func (d *decider) facts() continuation.EndedTurn {
	if d.turn.reader.err != nil || d.env.callbacks.failure() != nil || d.env.cancel.hasEnded() {
		return continuation.EndedTurn{BrokeOff: true}
	}
	facts := d.turn.facts()
	facts.NoFinish = d.env.request.noFinish
	return facts
}

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
		return d.refuse(continuation.ReasonShutdown), nil
	case !d.env.timeouts.hasTimeFor(wait):
		return d.refuse(continuation.ReasonDeadline), nil
	case d.last.Reason == continuation.ReasonCheckDue:
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
	turn := NextTurn{TurnID: d.nextID(), Todo: d.last.Todo, Asks: d.last.Asks, Text: string(d.turn.reader.text.transcript.bytes())}
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
		d.env.fault(d.turn.TurnID, OpGate, err)
	}
	d.cause = err
	d.refuse(continuation.ReasonGate)
	return false
}

// commit claims the session for the continuation that the gate let pass, if every
// condition still holds. It reports whether the call goes on.
func (d *decider) commit() bool {
	if !d.readBackground() {
		d.refuse(continuation.ReasonStore)
		return false
	}
	var in continuation.Input
	d.known(&in)
	d.putList(&in)
	ev := d.update(in, true)
	if ev.Continue {
		d.keep(&ev)
		return true
	}
	d.conclude(&ev)
	return d.goesOnAfter(&ev)
}

// othersWork returns what the agent has begun in the background, according to the history
// of the request, which stays the same for the whole call. The list must have been read.
func (d *decider) othersWork() *background.Work {
	if d.list.work == nil {
		work := background.Read(d.env.request.history)
		d.list.work = &work
	}
	return d.list.work
}

// othersTodos returns the indexes of the todos that are not for the agent to do now.
func othersTodos(todos []todo.Todo, team *background.Team) []int {
	if team.Role == background.Alone {
		return nil
	}
	return todolist.Others(todos, todolist.Agent{Name: team.Name, Member: team.Role == background.Member})
}

// readBackground asks for the session's work in the background. It reports false if
// the question fails: then the call is not continued.
func (d *decider) readBackground() bool {
	d.list.background, d.list.backgroundKnown = continuation.Background{}, true
	begun := d.othersWork()
	d.list.others = othersTodos(d.list.todos, &begun.Team)
	if work := d.env.awaited(begun.Awaited); work.Unfinished > 0 {
		d.list.background = work
		return true
	}
	tasks := d.env.mw.options.tasks
	if tasks == nil {
		return true
	}
	var work delivery.Pending
	err := d.env.askTasks(d.env.cancel.ctx, func(ctx context.Context) (err error) {
		work, err = tasks.Pending(ctx, d.turn.Session, d.env.session.rules.Limits.MaxTaskAge)
		return err
	})
	if err != nil {
		d.env.faultOnce(d.turn.TurnID, OpTasks, err)
		d.cause = err
		return false
	}
	d.list.background = continuation.Background{Unfinished: work.Unfinished, Oldest: work.Oldest}
	return true
}

// judged records the effect of a continuation, once it is stored.
func (d *decider) judged() {
	if d.check != nil && d.check.mended {
		d.check.mended = false
		d.env.record(func(o *Outcome) { o.Worth.ChecksMended++ })
	}
	v := d.effect
	if v.Kind == session.NotJudged || d.env.session.failure != nil {
		return
	}
	d.env.record(func(o *Outcome) {
		switch w := &o.Worth; v.Kind {
		case session.Progress:
			w.Resumed++
			w.Finished += int(v.Finished)
		case session.Repeated:
			w.Repeated++
		case session.NoProgress:
			w.NoProgress++
		case session.NotJudged:
		}
	})
}

// putList sets the list in the input of a decision, and how the turn ends, which
// matters only if there is work on the list, or the model may be asked.
func (d *decider) putList(in *continuation.Input) {
	d.list.putInto(in)
	in.AskAlways = d.env.mw.options.closingQuestion
	in.MayAsk = d.mayAsk()
	hasWork := slices.ContainsFunc(in.Todos, func(t todo.Todo) bool { return t.Status.Active() })
	if t := &in.Turn; (hasWork || in.MayAsk || in.Check != continuation.NoCheck) && !t.BrokeOff && !t.ToolCalls && !t.TooLong {
		t.End = d.turn.textEnd()
	}
}

// mayAsk reports whether the model may be asked whether anything is open, now that the
// list was read: there is no list, and the user turn has called tools. It asks nothing of
// the history where the mode and the program rule the question out.
func (d *decider) mayAsk() bool {
	request := &d.env.request
	wanted := d.env.mw.options.closingQuestion || d.env.session.settings().ApprovalMode == continuation.ApprovalYOLO
	if !wanted || !errors.Is(d.list.err, todo.ErrNoList) || !request.offersTools() {
		return false
	}
	return request.callsTools()
}

// readTodos asks the todo source, which may fail, panic or be too slow.
func (d *decider) readTodos() {
	source := &d.env.mw.source
	ctx, limit := scope.WithSession(d.env.cancel.derive(), d.turn.Session), d.env.session.rules.Limits.TodoTimeout
	if source.shared {
		limit = min(limit, d.env.session.timeLeft())
		limited, done := d.env.session.limitWait(ctx)
		defer done()
		ctx = limited
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	ctx = d.env.withRequest(ctx)
	if source.shared && d.env.session.waited.isOver() || !source.breaker.allows(d.env.mw.options.clock) {
		d.list = &readList{err: errSourceSkipped, turn: d.turn.Turn, work: d.list.work}
		return
	}
	watch := d.env.mw.options.watchIf(func(o *Observer) bool { return o.TodosRead != nil })
	list := source.locate(ctx, limit)
	list.turn, list.work = d.turn.Turn, d.list.work
	d.list = &list
	if took, timed := watch.read(); timed {
		d.env.mw.options.reporter.todosRead(d.env.cancel.caller, TodosRead{TurnID: d.turn.TurnID, Took: took, Todos: len(list.todos), Err: list.failure()})
	}
	ended := d.env.cancel.hasEnded()
	if !ended {
		d.sourceAnswered(ctx.Err() != nil)
		if source.shared && ctx.Err() != nil {
			d.env.session.waited.end()
		}
	}
	if err := d.list.failure(); err != nil && !ended { // otherwise it is the caller's doing
		d.env.fault(d.turn.TurnID, OpTodos, err)
	}
}

// sourceAnswered notes whether the todo source was late.
func (d *decider) sourceAnswered(late bool) {
	breaker := &d.env.mw.source.breaker
	switch {
	case late:
		_ = breaker.open(d.env.mw.options.clock, nil) // every missing list is reported
	case breaker.close():
		d.env.mw.options.reporter.recovered(d.env.cancel.caller, Recovered{Op: OpTodos})
	}
}

// listScope returns why the call is out of scope now that the list is known: scope,
// or ReasonNoListTool if the list was found in the messages and no offered tool can
// write it. If the names of the tools are unknown, or a call without tools is
// continued, carryon assumes that the list can be written.
func (d *decider) listScope(scope continuation.Reason) continuation.Reason {
	source := &d.env.mw.source
	if source.writer == nil || scope != continuation.ReasonNone || d.list.err != nil || d.env.request.toolNames == nil {
		return scope
	}
	var reason continuation.Reason
	err := d.env.mw.plugins.run(func() error {
		for tool := range d.env.request.toolNames.ToolNames {
			if source.writer.WritesList(tool) {
				reason = continuation.ReasonNone
				return nil
			}
			reason = continuation.ReasonNoListTool
		}
		return nil
	})
	if err != nil {
		d.env.fault(d.turn.TurnID, OpTodos, err)
		return scope
	}
	return reason
}

// retryDelay returns what is left of the delay before a failed continuation is sent
// again: the provider's, or carryon's own before the last try.
func (d *decider) retryDelay() time.Duration {
	if d.continued == nil || d.continued.notBefore.IsZero() {
		return 0
	}
	return d.continued.notBefore.Sub(d.env.mw.options.clock.Now())
}
