package middleware

import (
	"context"
	"strings"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/automatic"
	"github.com/carryon-go/carryon/internal/handback"
	"github.com/carryon-go/carryon/internal/prompt"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/scope"
)

// Call is a call of the program that carryon may continue, from its request to the end
// of its answer. Adapters get one from [Middleware.Begin] and pass it to [NewStream] or
// [Unary], which do the rest. Only one goroutine at a time may use it, except that
// Additions, OpenContext and Outcome are safe for concurrent use.
type Call struct {
	env callEnv

	turn      turn
	text      transcript
	decider   decider
	pauses    pauses
	reminders reminders
	additions adapter.Additions // to the caller's own request, and with it to every turn's
	plainStop string            // the provider's word for a plain stop; set if turn 1 ended in one
}

// Begin begins a call. r describes the request that is about to be sent. If carryon
// leaves the call alone, Begin returns a nil Call and the final Outcome, and the
// adapter sends the request unchanged. Otherwise the adapter sends it with the ctx of
// [Call.Context] and the additions of [Call.Additions]. Begin panics if ctx is nil.
func (mw *Middleware) Begin(ctx context.Context, r adapter.Request) (*Call, Outcome) {
	mustHave(ctx)
	if reason := mw.scopeOf(ctx, &r); reason != reasons.None {
		return nil, mw.leaveAlone(ctx, &r, reason)
	}
	c := newCall(ctx, mw, &r)
	c.observeCall(&r)
	c.env.timeouts = callerTimeoutsOf(ctx, mw.options.clock, &r)
	if outcomes := capture(ctx); outcomes != nil {
		c.env.outcome.Store(outcomes.add(c.env.firstOutcome()))
	}
	if err := c.env.session.registerUserTurn(c.env.cancel.caller, &r); err != nil {
		c.env.storeFailed(c.turn.TurnID, err)
	}
	c.recordUserTurn(&r)
	c.rememberList()
	if mw.options.pauseTool == PauseToolAlways && !c.env.session.rules.DryRun && !c.env.session.heldOut && c.env.request.takesPause &&
		c.env.session.settings().TodoContinuation {
		c.additions.PauseTool = adapter.NewPauseTool(r.StrictTools)
	}
	c.beginTurn(0)
	c.additions.Attachments = c.reminders.attachments(&c.turn)
	c.explain(&r)
	c.startTurn(c.env.cancel.caller)
	return c, Outcome{}
}

func newCall(ctx context.Context, mw *Middleware, r *adapter.Request) *Call {
	c := &Call{env: callEnv{mw: mw, request: traitsOf(r), cancel: canceller{caller: ctx, ctx: ctx}}}
	c.decider.fixed = r.FixedPrefix
	name := mw.session(ctx)
	c.env.session.rules = mw.rules.Load()
	c.env.session.heldOut = c.env.session.rules.holdsOut(name)
	c.env.session.store, c.env.session.key = &mw.sessions, keyOf(ctx, name, r)
	c.turn.Session, c.turn.reader.text.transcript = name, &c.text
	if r.Reasoning {
		c.text.reasoning = new([]byte)
	}
	c.decider.env, c.decider.turn = &c.env, &c.turn
	c.pauses.decider = &c.decider
	c.reminders.env = &c.env
	c.decider.list = &noList
	if c.env.session.rules.Check != nil && !mw.isSubAgents(r) {
		c.decider.check = &checking{env: &c.env}
		c.env.session.main = true
	}
	return c
}

// recordUserTurn records whether the user has written, and whether that only says go on.
func (c *Call) recordUserTurn(r *adapter.Request) {
	if !c.env.session.newUserTurn {
		return
	}
	goesOn := handback.SaysGoOn(automatic.Own(r.User))
	c.env.record(func(o *Outcome) { o.Wrote, o.GoOn = true, goesOn })
}

// Context returns the ctx for the caller's own request. It is cancelled when the
// caller's ctx ends and when the call ends.
func (c *Call) Context() context.Context { return c.env.observed.turnCtx(c.env.cancel.derive()) }

// OpenContext returns a ctx for a request of the caller whose answer may outlive the
// call. It has the same values as Context, but is cancelled only when the caller's ctx
// ends.
func (c *Call) OpenContext() context.Context {
	return c.env.observed.turnCtx(scope.EnterLayer(c.env.cancel.caller))
}

// Additions returns what carryon adds to the caller's own request. The caller must not
// modify it.
func (c *Call) Additions() *adapter.Additions { return &c.additions }

// Outcome returns the outcome of the call, or its present state if the call has not
// ended; see [Outcome].Ended.
func (c *Call) Outcome() Outcome {
	if cell := c.env.outcome.Load(); cell != nil {
		return cell.get()
	}
	return c.env.firstOutcome()
}

// Abort ends the call because the caller's own request could not be sent or was
// refused. Adapters call it if they have no source to pass to [NewStream].
func (c *Call) Abort(err error) {
	c.breakOff(err)
	c.endTurn(err)
	c.end()
	c.env.cancel.cancel()
}

// beginTurn begins the next turn.
func (c *Call) beginTurn(attempt int) {
	later, ours := c.turn.Turn > 0, !c.env.request.ownPause
	if later {
		c.decider.continued.begin(&c.turn)
		c.env.session.waited.beginTurn()
	}
	c.turn = c.turn.next(attempt, ours && (later || c.additions.PauseTool != nil), ours && later)
	if c.env.observed != nil {
		c.turn.reader.told = &told{names: new(names)}
	}
	c.turn.reader.totals, c.turn.reader.calls.keeps = c.env.mw.options.usage, c.env.session.rules.Check != nil
	if later {
		c.turn.reader.repeat = newRepetition(c.textBefore())
	}
	if later && c.decider.last.Asks {
		c.turn.reader.reply = prompt.NewReply()
	}
	if c.env.request.noSeparator {
		c.turn.reader.text.separator = ""
	}
	if c.env.mw.source.memory != nil && c.env.session.name() != "" {
		c.turn.reader.source = &c.env.mw.source
	}
	if later {
		c.env.record(func(o *Outcome) { o.Turns = c.turn.Turn })
	}
	for _, f := range c.env.callbacks.all() {
		f.begin(c.env.callbacks, &c.turn.reader)
	}
}

// endReading ends the reading of the turn, and learns the provider's word for a plain
// stop.
func (c *Call) endReading() {
	r := &c.turn.reader
	r.end()
	if r.first && handback.IsPlainStop(r.finish) {
		c.plainStop = r.finish
	}
	if c.env.session.rules.Check != nil {
		c.noteHandover()
	}
}

// shownFinish returns the finish reason that the caller sees. A turn whose only calls
// were pauses has simply stopped. A missing reason stays missing.
func (c *Call) shownFinish() shownFinish {
	r := &c.turn.reader
	if r.calls.pauseRemoved && r.calls.others == 0 && r.finish != "" {
		return shownFinish{reason: c.plainStop, plainStop: c.plainStop == ""}
	}
	return shownFinish{reason: r.finish}
}

// endTurn reports that all of the turn was read. If the turn was a continuation,
// endTurn ends that too.
func (c *Call) endTurn(err error) {
	t, r := &c.turn, &c.turn.reader
	r.ended = true
	c.decider.fixed = c.decider.fixed || r.signed
	c.reminders.markRead(t)
	if r.first {
		c.env.timeouts.endFirstTurn()
	}
	if err == nil && !r.first && !r.isLeftOut() { // the end of turn 1 is added with the first continuation
		c.decider.continued.ends = append(c.decider.continued.ends, c.text.len())
	}
	if err == nil {
		c.noteListWriting()
	}
	c.env.outcomeCell().addUsage(r.usage(), !r.first, statusOf(err) == 0 && !reportsInput(r.usage()))
	answer := r.names()
	c.env.mw.options.reporter.turnEnded(c.env.observed.turnCtx(c.env.cancel.caller), TurnEnded{
		TurnID: t.TurnID, ResponseID: answer.id, ResponseModel: answer.model, Finish: r.finish, ToolCalls: int(r.calls.others),
		Usage: r.usage(), Err: err, Times: c.env.observed.turnTimes(err),
	})
	if !r.first {
		c.endContinuation(err)
	}
}

// leaveOut forgets the text of the current turn, of which nothing is shown: the first n
// bytes of the answer remain. How the text ends is read before.
func (c *Call) leaveOut(n int) {
	if !c.turn.reader.saysNothingOpen() {
		c.turn.textEnd()
	}
	c.text.cut(n)
}

// addUnsent counts the continuation that the decision would have led to in a dry run,
// or outside of the control group. Its tokens are estimated: it would have read what
// the caller's turn read and wrote, as much of it from the cache, and is taken to write
// as much.
func (c *Call) addUnsent(o *Outcome) {
	if o.Reason != reasons.Holdout && (!o.DryRun || !o.Reason.Continues()) {
		return
	}
	own := c.turn.reader.usage()
	if own.Prompt <= 0 {
		own.Prompt = estimate(c.env.request.size)
	}
	if own.Completion <= 0 {
		own.Completion = estimate(c.text.len())
	}
	o.Worth.Unsent = 1
	own.Prompt = addTokens(addTokens(own.Prompt, own.Completion), estimate(promptSize()))
	o.Worth.Estimate = TokensOf(own)
}

// breakOff decides on the caller's own turn, which did not end as it should have.
func (c *Call) breakOff(err error) {
	if err != nil {
		c.turn.reader.Fail(err)
		c.env.record(func(o *Outcome) { o.Err = err })
	}
	c.decider.decide()
}

// goesOn judges the turn that has ended, and reports whether the call goes on with
// another.
func (c *Call) goesOn() bool {
	if !c.pauses.goesOn() {
		return false
	}
	c.reminders.goOn(&c.turn)
	return true
}

// end ends the call. It may be called more than once.
func (c *Call) end() {
	if !c.turn.reader.ended { // a turn is still open here only after a panic
		c.interrupted(errPanicked)
		c.endTurn(errPanicked)
	}
	c.decider.check.end()
	c.reminders.settle(&c.turn)
	c.env.release(continuation.TurnID{Session: c.env.session.name()})
	c.env.record(func(o *Outcome) {
		c.addUnsent(o)
		o.Ended = true
	})
	c.callEnded()
}

// interrupted records that the caller ended the call during a wait or a
// continuation.
func (c *Call) interrupted(err error) {
	c.env.record(func(o *Outcome) { o.Err, o.Reason = err, reasons.BrokeOff })
	c.decider.recordCancel()
}

// observeCall begins the observation of a call, if anybody observes.
func (c *Call) observeCall(r *adapter.Request) {
	reporter := &c.env.mw.options.reporter
	if len(reporter.observers) == 0 {
		return
	}
	c.turn.Call = c.env.mw.calls.Add(1)
	c.env.observed = &observation{clock: c.env.mw.options.clock}
	id := c.turn.TurnID
	id.Turn = 1
	ctx := begin(c.env.cancel.caller, reporter, id,
		CallStarted{TurnID: id, Model: strings.Clone(r.Model), Provider: r.Provider, Streamed: r.Streamed},
		func(o *Observer) func(context.Context, CallStarted) context.Context { return o.CallStarted })
	c.env.cancel.caller, c.env.cancel.ctx = ctx, ctx
}

// startTurn reports that the request of the current turn is about to be sent, and
// returns the ctx to send it with.
func (c *Call) startTurn(ctx context.Context) context.Context {
	o := c.env.observed
	if o == nil {
		return ctx
	}
	o.times = Times{Began: o.clock.Now()}
	o.first.Store(nil)
	o.ctx = begin(ctx, &c.env.mw.options.reporter, c.turn.TurnID, TurnStarted{TurnID: c.turn.TurnID, Wait: o.wait},
		func(o *Observer) func(context.Context, TurnStarted) context.Context { return o.TurnStarted })
	o.wait = 0
	return o.ctx
}

// callEnded reports the end of the call, once.
func (c *Call) callEnded() {
	if o := c.env.observed; o != nil && !o.over {
		o.over = true
		id := continuation.TurnID{Session: c.env.session.name(), Call: c.turn.Call, Turn: c.turn.Turn}
		c.env.mw.options.reporter.callEnded(c.env.cancel.caller, CallEnded{TurnID: id, Outcome: c.Outcome()})
	}
}

// rememberList makes the todo source remember the list in the request of the call, if
// the turn before has written it.
func (c *Call) rememberList() {
	source, session := &c.env.mw.source, c.env.session.name()
	if source.memory == nil || session == "" || c.env.request.history == nil || !source.writings.takeUnread(session) {
		return
	}
	source.remember(c.env.withRequest(scope.WithSession(c.env.cancel.caller, session)))
}

// noteListWriting notes that the turn, which has ended in tool calls, wrote the list.
func (c *Call) noteListWriting() {
	if c.turn.reader.wroteList {
		c.env.mw.source.writings.add(c.env.session.name(), c.env.session.userTurn)
	}
}
