package middleware

import (
	"context"
	"strings"

	"github.com/carryon-go/carryon/adapter"
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
	additions *adapter.Additions // to the caller's own request, and with it to every turn's; nil for none
}

// recordUserTurn records whether the user has written, and whether that only says go on.
func (c *call) recordUserTurn(r *adapter.Request) {
	if !c.env.session.newUserTurn {
		return
	}
	goesOn := handback.SaysGoOn(automatic.Own(r.User))
	c.env.record(func(o *Outcome) { o.Wrote, o.GoOn = true, goesOn })
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

// interrupted records that the caller ended the call during a wait or a
// continuation.
func (c *call) interrupted(err error) {
	c.env.record(func(o *Outcome) { o.Err, o.Reason = err, reasons.BrokeOff })
	c.decider.recordCancel()
}

// observeCall begins the observation of a call, if anybody observes.
func (c *call) observeCall(r *adapter.Request) {
	reporter := c.env.reporter()
	if len(reporter.observers) == 0 {
		return
	}
	c.turn.Call = c.env.mw.calls.Add(1)
	c.env.observed = &observation{clock: c.env.options().clock}
	c.env.observed.parts.Clock = c.env.options().clock
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
	o.ctx = begin(ctx, c.env.reporter(), c.turn.TurnID, TurnStarted{TurnID: c.turn.TurnID, Wait: o.wait},
		func(o *Observer) func(context.Context, TurnStarted) context.Context { return o.TurnStarted })
	o.wait = 0
	return o.ctx
}

// rememberList makes the todo source remember the list in the request of the call, if
// the turn before has written it.
func (c *call) rememberList() {
	source, session := c.env.source(), c.env.session.name()
	if source.memory == nil || session == "" || c.env.request.history == nil || !source.writings.takeUnread(session) {
		return
	}
	source.remember(c.env.withRequest(scope.WithSession(c.env.cancel.caller, session)))
}

// noteListWriting notes that the turn, which has ended in tool calls, wrote the list.
func (c *call) noteListWriting() {
	if c.turn.read.WroteList {
		c.env.source().writings.add(c.env.session.name(), c.env.session.userTurn)
	}
}
