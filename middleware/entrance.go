package middleware

import (
	"context"
	"strings"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/engine"
	"github.com/carryon-go/carryon/internal/pausetool"
	"github.com/carryon-go/carryon/internal/reading"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/scope"
	"github.com/carryon-go/carryon/pause"
)

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
	mustHave(ctx)
	if scope.InLayer(ctx) {
		return
	}
	mw := (*Middleware)(e)
	mw.explainLeftAlone(ctx, nil, reason)
	if outcomes := capture(ctx); outcomes != nil {
		outcomes.add(mw.outcomeOf(mw.session(ctx), reason))
	}
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
	if mw.options.pauseTool == PauseToolAlways && !c.env.rules().DryRun && !c.env.session.heldOut && c.env.request.takesPause &&
		c.env.session.settings().TodoContinuation {
		c.additions = &adapter.Additions{PauseTool: newPauseTool(r.StrictTools)}
	}
	c.beginTurn(0)
	if attachments := c.reminders.attachments(&c.turn); attachments != nil {
		c.additions = &adapter.Additions{Attachments: attachments, PauseTool: c.Additions().PauseTool}
	}
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
	c.decider.noNewTools = r.FixedPrefix
	name := mw.session(ctx)
	c.env.session.rules = mw.rules.Load()
	c.env.session.heldOut = c.env.rules().holdsOut(name)
	c.env.session.store, c.env.session.key = &mw.sessions, keyOf(ctx, name, r)
	c.turn.Session = name
	if r.Reasoning {
		c.text.Reasoning = new([]byte)
	}
	c.env.answer = c.handle.Answer()
	c.handle.Set(c, engine.Answer{
		Turn: &c.turn.read, Text: &c.text, Usage: mw.options.usage,
		NoFinish: r.NoFinish, SaysDone: r.SaysDone,
	})
	c.pauses.decider = &c.decider
	c.reminders.env = &c.env
	c.decider.inputs = inputs{&c.env, &c.turn, &noList}
	if c.env.rules().Check != nil && !mw.isSubAgents(r) {
		c.decider.check = &callCheck{env: &c.env}
		c.env.session.checked = true
	}
	if c.env.outcome.Load() != nil {
		c.env.outcome.Load().o = c.env.firstOutcome()
	}
	return c
}

// leaveAlone reports a call that carryon leaves alone, and returns its outcome. If the
// call runs inside another layer, that layer reports it.
func (mw *Middleware) leaveAlone(ctx context.Context, r *adapter.Request, reason continuation.Reason) Outcome {
	id := continuation.TurnID{Session: mw.session(ctx), Turn: 1}
	settings := mw.options.settings.withOverrides(id.Session, decision.Overrides{}) // it is not worth asking a store
	v := decision.Judge(decision.Input{Settings: settings, Scope: reason})
	outcome := mw.outcomeOf(id.Session, v.Reason)
	if reason == reasons.Nested {
		return outcome
	}
	if v.Reason == reasons.Suppressed {
		r = nil // which adapters need not have read
	}
	mw.explainLeftAlone(ctx, r, v.Reason)
	if len(mw.options.reporter.observers) > 0 {
		event := newDecision(id, &v)
		event.DryRun, event.Holdout = outcome.DryRun, outcome.Holdout
		emit(ctx, &mw.options.reporter, event)
	}
	emit(ctx, &mw.options.reporter, CallEnded{TurnID: id, Outcome: outcome})
	if outcomes := capture(ctx); outcomes != nil {
		outcomes.add(outcome)
	}
	return outcome
}

// outcomeOf returns the outcome of a call that carryon leaves alone.
func (mw *Middleware) outcomeOf(session string, reason continuation.Reason) Outcome {
	rules := mw.rules.Load()
	return Outcome{Session: session, Turns: 1, Reason: reason, DryRun: rules.DryRun, Holdout: rules.holdsOut(session), Ended: true}
}

// scopeOf returns why the request is out of scope, the zero Reason if it is not.
func (mw *Middleware) scopeOf(ctx context.Context, r *adapter.Request) continuation.Reason {
	switch {
	case scope.Suppressed(ctx):
		return reasons.Suppressed
	case scope.InLayer(ctx), isNested(r), mw.plugins.isCalling():
		return reasons.Nested
	case r.Legacy:
		return reasons.LegacyFunctions
	case r.Tools == 0 && !r.TextAgent && !r.Toolless && !mw.options.toolless:
		return reasons.NoTools
	case r.Choice != adapter.ToolChoiceAuto:
		return reasons.ToolChoice
	case r.N > 1:
		return reasons.ManyChoices
	case r.JSON:
		return reasons.JSON
	}
	return r.LeaveAlone
}

// isNested reports whether another carryon, in another process, has sent the request
// as a continuation. Then its last message is a prompt and it offers todo_pause, or
// it answers a rejected pause. Where a continuation cannot offer todo_pause, the
// beginning of the prompt is enough.
func isNested(r *adapter.Request) bool {
	if !r.OwnPause && !r.FixedPrefix && r.Tools > 0 && r.Tools < maxTools {
		return false
	}
	return strings.HasPrefix(r.User, continuation.PromptPreamble) || r.OwnPause && answersPause(r)
}

// answersPause reports whether the latest call of the request is a todo_pause
// whose reason carryon has rejected.
func answersPause(r *adapter.Request) bool {
	if r.History == nil || r.Unanswered {
		return false
	}
	rejected := pausetool.InvalidReasonError{} // the result begins with its text
	for call := range reading.CallsOf(r.History) {
		return pause.Is(call.Name) && strings.HasPrefix(call.Result, rejected.Error())
	}
	return false
}

// isSubAgents reports whether a request is of a sub-agent's conversation.
func (mw *Middleware) isSubAgents(r *adapter.Request) bool {
	return r.SubAgent || mw.assignments.isBeginning(r.FirstUser)
}

// explainLeftAlone writes why carryon leaves a request alone. r is nil if it was not read.
func (mw *Middleware) explainLeftAlone(ctx context.Context, r *adapter.Request, reason continuation.Reason) {
	x := explaining(ctx)
	if x == nil {
		return
	}
	e := newExplanation()
	if r != nil {
		e.request(mw.session(ctx), r)
	}
	e.line("decision", "left alone: %s", reason)
	x.write(e.String())
}

// explain writes what carryon sees in the request of a call.
func (c *call) explain(r *adapter.Request) {
	x := explaining(c.env.cancel.caller)
	if x == nil {
		return
	}
	e := newExplanation()
	e.request(c.env.session.name(), r)
	stopped := turn{TurnID: c.turn.TurnID, read: c.turn.read.IfStopped()}
	d := decider{inputs: inputs{&c.env, &stopped, &noList}, check: c.decider.check}
	v := d.preview()
	e.list(&v, d.list)
	e.decision(&v)
	x.write(e.String())
}
