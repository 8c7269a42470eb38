package middleware

import (
	"context"
	"errors"
	"strings"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/automatic"
	"github.com/carryon-go/carryon/internal/engine"
	"github.com/carryon-go/carryon/internal/handback"
	"github.com/carryon-go/carryon/internal/reading"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/scope"
)

// call is a call of the program that carryon may continue, from its request to the end
// of its answer: the [engine.Call] of carryon/adapter/join.
type call struct {
	handle engine.Handle[Outcome]
	env    callEnv

	turn      turn
	text      reading.Transcript
	decider   decider
	pauses    pauses
	reminders reminders
	additions adapter.Additions // to the caller's own request, and with it to every turn's
}

// Engine is the entrance of carryon/adapter/join, which says how adapters use it. Programs
// do not need it.
func (mw *Middleware) Engine() engine.Engine[Outcome] { return (*entrance)(mw) }

// entrance is a Middleware as adapters see it.
type entrance Middleware

// Begin implements [engine.Engine].
func (e *entrance) Begin(ctx context.Context, r *adapter.Request) (*engine.Handle[Outcome], Outcome) {
	mustHave(ctx)
	mw := (*Middleware)(e)
	if reason := mw.scopeOf(ctx, r); reason != reasons.None {
		return nil, mw.leaveAlone(ctx, r, reason)
	}
	c := newCall(ctx, mw, r)
	c.begin(ctx, r)
	return &c.handle, Outcome{}
}

// Pass implements [engine.Engine].
func (e *entrance) Pass(ctx context.Context, reason continuation.Reason) {
	(*Middleware)(e).pass(ctx, reason)
}

// AttachesReminders implements [engine.Engine].
func (e *entrance) AttachesReminders() bool { return e.options.tasks != nil }

// begin begins the call: its observation, its user turn and its first turn.
func (c *call) begin(ctx context.Context, r *adapter.Request) {
	mw := c.env.mw
	c.observeCall(r)
	c.env.answer.Timeouts = engine.TimeoutsOf(ctx, mw.options.clock, r)
	if outcomes := capture(ctx); outcomes != nil {
		c.env.outcome.Store(outcomes.add(c.env.firstOutcome()))
	}
	if err := c.env.session.registerUserTurn(c.env.cancel.caller, r); err != nil {
		c.env.storeFailed(c.turn.TurnID, err)
	}
	c.recordUserTurn(r)
	c.rememberList()
	if mw.options.pauseTool == PauseToolAlways && !c.env.session.rules.DryRun && !c.env.session.heldOut && c.env.request.takesPause &&
		c.env.session.settings().TodoContinuation {
		c.additions.PauseTool = adapter.NewPauseTool(r.StrictTools)
	}
	c.beginTurn(0)
	c.additions.Attachments = c.reminders.attachments(&c.turn)
	c.env.answer.HasReminders = c.reminders.begun != nil
	c.explain(r)
	c.startTurn(c.env.cancel.caller)
}

// wholeCall is a call whose answer comes in one piece, with memory for its outcome.
type wholeCall struct {
	call
	outcome outcomeCell
}

// allocateCall returns a new call. Most streams have nothing to record until they end, and
// many are open at once, so they get no memory for an outcome.
func allocateCall(streamed bool) *call {
	if streamed {
		return new(call)
	}
	c := new(wholeCall)
	c.env.outcome.Store(&c.outcome)
	return &c.call
}

func newCall(ctx context.Context, mw *Middleware, r *adapter.Request) *call {
	c := allocateCall(r.Streamed)
	c.env.mw, c.env.request = mw, traitsOf(r)
	c.env.cancel.caller, c.env.cancel.ctx = ctx, ctx
	c.decider.fixed = r.FixedPrefix
	name := mw.session(ctx)
	c.env.session.rules = mw.rules.Load()
	c.env.session.heldOut = c.env.session.rules.holdsOut(name)
	c.env.session.store, c.env.session.key = &mw.sessions, keyOf(ctx, name, r)
	c.turn.Session = name
	if r.Reasoning {
		c.text.Reasoning = new([]byte)
	}
	limits := &c.env.session.rules.Limits
	c.env.answer = c.handle.Answer()
	c.handle.Set(c, engine.Answer{
		Turn: &c.turn.read, Text: &c.text, Clock: mw.options.clock, Usage: mw.options.usage,
		FirstChunk: limits.FirstByteTimeout, BetweenChunks: limits.ResponseTimeout,
		NoFinish: r.NoFinish, SaysDone: r.SaysDone,
	})
	c.decider.env, c.decider.turn, c.decider.text = &c.env, &c.turn, &c.text
	c.pauses.decider = &c.decider
	c.reminders.env = &c.env
	c.decider.list = &noList
	if c.env.session.rules.Check != nil && !mw.isSubAgents(r) {
		c.decider.check = &checking{env: &c.env}
		c.env.session.main = true
	}
	if c.env.outcome.Load() != nil {
		c.env.outcome.Load().o = c.env.firstOutcome()
	}
	return c
}

// recordUserTurn records whether the user has written, and whether that only says go on.
func (c *call) recordUserTurn(r *adapter.Request) {
	if !c.env.session.newUserTurn {
		return
	}
	goesOn := handback.SaysGoOn(automatic.Own(r.User))
	c.env.record(func(o *Outcome) { o.Wrote, o.GoOn = true, goesOn })
}

// Context returns the ctx for the caller's own request. It is cancelled when the
// caller's ctx ends and when the call ends.
func (c *call) Context() context.Context { return c.env.observed.turnCtx(c.env.cancel.derive()) }

// OpenContext returns a ctx for a request of the caller whose answer may outlive the
// call. It has the same values as Context, but is cancelled only when the caller's ctx
// ends.
func (c *call) OpenContext() context.Context {
	return c.env.observed.turnCtx(scope.EnterLayer(c.env.cancel.caller))
}

// Additions returns what carryon adds to the caller's own request. The caller must not
// modify it.
func (c *call) Additions() *adapter.Additions { return &c.additions }

// Outcome returns the outcome of the call, or its present state if the call has not
// ended; see [Outcome].Ended.
func (c *call) Outcome() Outcome {
	if cell := c.env.outcome.Load(); cell != nil {
		return cell.get()
	}
	return c.env.firstOutcome()
}

// Cancel implements [engine.Call].
func (c *call) Cancel() {
	c.env.releaseShared(continuation.TurnID{Session: c.env.session.name()})
	c.env.cancel.cancel()
}

// Interruption implements [engine.Call].
func (c *call) Interruption() error { return c.env.interruption() }

// CallbackFailed implements [engine.Call].
func (c *call) CallbackFailed(err error) { c.env.cancel.callbackFailed(err) }

// Notice implements [engine.Call].
func (c *call) Notice() string { return c.pauses.notice() }

// ShowedLife implements [engine.Call].
func (c *call) ShowedLife() { c.decider.check.showedLife() }

// MayGoOn implements [engine.Call].
func (c *call) MayGoOn() bool { return c.decider.mayGoOn() }

// BeginTurn implements [engine.Call].
func (c *call) BeginTurn(k *adapter.Continuation) (turn, program context.Context) {
	c.beginTurn(k.Attempt)
	return c.startTurn(scope.WithTurn(c.env.cancel.ctx, scope.TurnID(k.TurnID))), c.env.mw.drain.begun
}

// beginTurn begins the next turn.
func (c *call) beginTurn(attempt int) {
	later, ours := c.turn.Turn > 0, !c.env.request.ownPause
	traits := reading.Traits{
		Watched: ours && (later || c.additions.PauseTool != nil), Printable: ours && later, Together: !c.env.request.noSeparator,
		Asked: later && c.decider.last.Asks, Named: c.env.observed != nil, Keeps: c.env.session.rules.Check != nil,
		Totals: c.env.mw.options.usage,
	}
	if c.env.mw.source.memory != nil && c.env.session.name() != "" {
		traits.Lists = &c.env.mw.source
	}
	next := turn{TurnID: continuation.TurnID{Session: c.turn.Session, Call: c.turn.Call, Turn: c.turn.Turn + 1, Attempt: attempt}}
	if !later {
		next.read = reading.Begin(&c.text, &traits)
		c.turn = next
		return
	}
	c.decider.continued.begin(&c.turn, &c.text)
	c.env.session.waited.beginTurn()
	next.read = c.turn.read.Next(c.textUntil(c.text.Len()), &traits)
	c.turn = next
	c.env.record(func(o *Outcome) { o.Turns = c.turn.Turn })
}

// TurnRead implements [engine.Call].
func (c *call) TurnRead() {
	if c.env.session.rules.Check != nil {
		c.noteHandover()
	}
}

// EndTurn implements [engine.Call]. If the turn was a continuation, EndTurn ends that
// too.
func (c *call) EndTurn(err error) {
	t, r := &c.turn, &c.turn.read
	r.Ended = true
	c.decider.fixed = c.decider.fixed || r.HasSigned
	c.reminders.markRead(t)
	if r.First {
		c.env.answer.Timeouts.EndFirstTurn()
	}
	if r.First && err != nil && !errors.Is(err, ErrClosed) {
		c.env.record(func(o *Outcome) { o.Err = err })
	}
	if err == nil && !r.First && !r.IsLeftOut() { // the end of turn 1 is added with the first continuation
		c.decider.continued.ends = append(c.decider.continued.ends, c.text.Len())
	}
	if err == nil {
		c.noteListWriting()
	}
	usage := r.LastUsage()
	c.env.outcomeCell().addUsage(usage, !r.First, statusOf(err) == 0 && !reportsInput(usage))
	id, model := r.Names()
	c.env.mw.options.reporter.turnEnded(c.env.observed.turnCtx(c.env.cancel.caller), TurnEnded{
		TurnID: t.TurnID, ResponseID: id, ResponseModel: model, Finish: r.FinishReason, ToolCalls: int(r.Calls.Others),
		Usage: usage, Err: err, Times: c.env.observed.turnTimes(err),
	})
	if !r.First {
		c.endContinuation(err)
	}
}

// addUnsent counts the continuation that the decision would have led to in a dry run,
// or outside of the control group. Its tokens are estimated: it would have read what
// the caller's turn read and wrote, as much of it from the cache, and is taken to write
// as much.
func (c *call) addUnsent(o *Outcome) {
	if o.Reason != reasons.Holdout && (!o.DryRun || !o.Reason.Continues()) {
		return
	}
	own := c.turn.read.LastUsage()
	if own.Prompt <= 0 {
		own.Prompt = estimate(c.env.request.size)
	}
	if own.Completion <= 0 {
		own.Completion = estimate(c.text.Len())
	}
	o.Worth.Unsent = 1
	own.Prompt = addTokens(addTokens(own.Prompt, own.Completion), estimate(promptSize()))
	o.Worth.Estimate = TokensOf(own)
}

// BreakOff implements [engine.Call].
func (c *call) BreakOff(err error) {
	if err != nil {
		c.turn.read.Fail(err)
		c.env.record(func(o *Outcome) { o.Err = err })
	}
	c.decider.decide()
}

// GoesOn implements [engine.Call].
func (c *call) GoesOn(fault error) bool {
	if fault != nil {
		c.turn.read.Fail(fault)
		c.env.fault(c.turn.TurnID, opTail, fault)
	}
	if !c.pauses.goesOn() {
		return false
	}
	c.reminders.goOn(&c.turn)
	return true
}

// Abandon implements [engine.Call].
func (c *call) Abandon() {
	c.decider.decide()
	if !c.turn.read.Ended {
		c.EndTurn(ErrClosed)
	}
	if c.turn.Turn > 1 {
		c.interrupted(ErrClosed)
	}
}

// End implements [engine.Call].
func (c *call) End() {
	if !c.turn.read.Ended { // a turn is still open here only after a panic
		c.interrupted(errPanicked)
		c.EndTurn(errPanicked)
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
func (c *call) interrupted(err error) {
	c.env.record(func(o *Outcome) { o.Err, o.Reason = err, reasons.BrokeOff })
	c.decider.recordCancel()
}

// observeCall begins the observation of a call, if anybody observes.
func (c *call) observeCall(r *adapter.Request) {
	reporter := &c.env.mw.options.reporter
	if len(reporter.observers) == 0 {
		return
	}
	c.turn.Call = c.env.mw.calls.Add(1)
	c.env.observed = &observation{clock: c.env.mw.options.clock}
	c.env.observed.parts.Clock = c.env.mw.options.clock
	c.env.answer.Times = &c.env.observed.parts
	id := c.turn.TurnID
	id.Turn = 1
	ctx := begin(c.env.cancel.caller, reporter, id,
		CallStarted{TurnID: id, Model: strings.Clone(r.Model), Provider: r.Provider, Streamed: r.Streamed},
		func(o *Observer) func(context.Context, CallStarted) context.Context { return o.CallStarted })
	c.env.cancel.caller, c.env.cancel.ctx = ctx, ctx
}

// startTurn reports that the request of the current turn is about to be sent, and
// returns the ctx to send it with.
func (c *call) startTurn(ctx context.Context) context.Context {
	o := c.env.observed
	if o == nil {
		return ctx
	}
	o.times = Times{Began: o.clock.Now()}
	o.parts.Begin()
	o.ctx = begin(ctx, &c.env.mw.options.reporter, c.turn.TurnID, TurnStarted{TurnID: c.turn.TurnID, Wait: o.wait},
		func(o *Observer) func(context.Context, TurnStarted) context.Context { return o.TurnStarted })
	o.wait = 0
	return o.ctx
}

// callEnded reports the end of the call, once.
func (c *call) callEnded() {
	if o := c.env.observed; o != nil && !o.over {
		o.over = true
		id := continuation.TurnID{Session: c.env.session.name(), Call: c.turn.Call, Turn: c.turn.Turn}
		c.env.mw.options.reporter.callEnded(c.env.cancel.caller, CallEnded{TurnID: id, Outcome: c.Outcome()})
	}
}

// rememberList makes the todo source remember the list in the request of the call, if
// the turn before has written it.
func (c *call) rememberList() {
	source, session := &c.env.mw.source, c.env.session.name()
	if source.memory == nil || session == "" || c.env.request.history == nil || !source.writings.takeUnread(session) {
		return
	}
	source.remember(c.env.withRequest(scope.WithSession(c.env.cancel.caller, session)))
}

// noteListWriting notes that the turn, which has ended in tool calls, wrote the list.
func (c *call) noteListWriting() {
	if c.turn.read.WroteList {
		c.env.mw.source.writings.add(c.env.session.name(), c.env.session.userTurn)
	}
}
