package middleware

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/automatic"
	"github.com/carryon-go/carryon/internal/clock"
	"github.com/carryon-go/carryon/internal/decision"
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
	own.Prompt = decision.AddTokens(decision.AddTokens(own.Prompt, own.Completion), estimate(promptSize()))
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
	c.env.observed.chunkTimes.Clock = c.env.options().clock
	c.env.answer.Times = &c.env.observed.chunkTimes
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
	o.chunkTimes.Begin()
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

// turn is one turn of a call. When the next one begins, another value replaces it.
type turn struct {
	continuation.TurnID

	read      reading.Turn
	rejection *rejection
}

// rejection is a pause whose reason was not accepted.
type rejection struct {
	reason         string
	err            error
	asksPermission bool                 // the reason only asked for permission to go on
	answer         *adapter.PauseAnswer // nil if the call was printed
}

// asRead describes the turn for the decision.
func (t *turn) asRead() decision.Turn {
	r := &t.read
	as := decision.Turn{
		ToolCalls:      r.ShowedCall(),
		ManyChoices:    r.ManyChoices,
		ModelRefused:   r.ModelRefused,
		Unknown:        r.HasUnknown,
		Finish:         r.FinishReason,
		Rejected:       t.rejection != nil,
		AsksPermission: t.rejection != nil && t.rejection.asksPermission,
		NothingOpen:    r.SaysNothingOpen(),
	}
	if r.FinishWasEarly {
		as.Finish = "" // the finish was not the end
	}
	return as
}

// retryPoint is what a call keeps from its first continuation on: above all, the point
// it returns to if a continuation fails before anything of it was shown.
type retryPoint struct {
	turnEnds []int // the length of the text at the end of each turn that ended well

	prevTurn              turn // the turn before the current continuation
	prevStart             int  // where the text of the last turn that was shown begins in the transcript
	textLen, reasoningLen int  // lengths of the transcript at its end
	failed                int  // tries of it that have failed

	failure   error     // of the last try, until the next is sent
	notBefore time.Time // when the next may be sent; zero for any time
}

// begin notes that a continuation is about to be sent, after this turn.
func (p *retryPoint) begin(from *turn, text *reading.Transcript) {
	if !p.hasFailed() {
		p.failed = 0
	}
	p.failure = nil
	if !from.read.IsHidden() {
		p.prevStart = from.read.From()
	}
	p.prevTurn, p.textLen, p.reasoningLen = *from, text.Len(), text.ReasoningLen()
}

// hasFailed reports whether the last try has failed and another may follow it.
func (p *retryPoint) hasFailed() bool { return p != nil && p.failure != nil }

// Context implements [engine.Call].
func (c *call) Context() context.Context { return c.env.observed.turnCtx(c.env.cancel.derive()) }

// OpenContext implements [engine.Call].
func (c *call) OpenContext() context.Context {
	return c.env.observed.turnCtx(scope.EnterLayer(c.env.cancel.caller))
}

// Additions implements [engine.Call].
func (c *call) Additions() *adapter.Additions {
	if c.additions == nil {
		return &noAdditions
	}
	return c.additions
}

var noAdditions adapter.Additions //nolint:gochecknoglobals // nobody changes it

// Outcome implements [engine.Call].
func (c *call) Outcome() Outcome {
	if cell := c.env.outcome.Load(); cell != nil {
		return cell.get()
	}
	return c.env.firstOutcome()
}

// Clock implements [engine.Call].
func (c *call) Clock() clock.Clock { return c.env.options().clock }

// Limits implements [engine.Call].
func (c *call) Limits() *continuation.Limits { return &c.env.rules().Limits }

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
	return c.startTurn(scope.WithTurn(c.env.cancel.ctx, scope.TurnID(k.TurnID))), c.env.drain().begun
}

// TurnRead implements [engine.Call].
func (c *call) TurnRead() {
	if c.env.rules().Check != nil {
		c.noteAssignments()
	}
}

// EndTurn implements [engine.Call]. If the turn was a continuation, EndTurn ends that
// too.
func (c *call) EndTurn(err error) {
	t, r := &c.turn, &c.turn.read
	r.Ended = true
	c.decider.noNewTools = c.decider.noNewTools || r.HasSigned
	c.reminders.markRead(t)
	if r.First {
		c.env.timeouts().EndFirstTurn()
	}
	if r.First && err != nil && !errors.Is(err, ErrClosed) {
		c.env.record(func(o *Outcome) { o.Err = err })
	}
	if err == nil && !r.First && !r.IsHidden() { // the end of turn 1 is added with the first continuation
		c.decider.retry.turnEnds = append(c.decider.retry.turnEnds, c.text.Len())
	}
	if err == nil {
		c.noteListWriting()
	}
	usage := r.LastUsage()
	c.env.outcomeCell().addUsage(usage, !r.First, statusOf(err) == 0 && !reportsInput(usage))
	id, model := r.Names()
	event := TurnEnded{
		TurnID: t.TurnID, ResponseID: id, ResponseModel: model, Finish: r.FinishReason, ToolCalls: int(r.Calls.ProgramCalls),
		Usage: usage, Err: err, Times: c.env.observed.turnTimes(err),
	}
	if !r.First {
		event.Result, event.Asked = c.endedAs(err), c.decider.last.ClosingQuestion
	}
	emit(c.env.observed.turnCtx(c.env.cancel.caller), c.env.reporter(), event)
	if !r.First {
		c.endContinuation(err)
	}
}

// DecideFirstTurn implements [engine.Call].
func (c *call) DecideFirstTurn(err error) {
	if err != nil {
		c.turn.read.Fail(err)
		c.env.record(func(o *Outcome) { o.Err = err })
	}
	c.decider.decide()
}

// DecideNext implements [engine.Call].
func (c *call) DecideNext(tailErr error) bool {
	if tailErr != nil {
		c.turn.read.Fail(tailErr)
		c.env.reportFailure(c.turn.TurnID, opTail, tailErr)
	}
	if !c.pauses.decideNext() {
		return false
	}
	c.reminders.reportRead(&c.turn)
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
	c.reminders.end(&c.turn)
	c.env.release(continuation.TurnID{Session: c.env.session.name()}, decision.ContinuationResult{})
	c.env.record(func(o *Outcome) {
		c.addUnsent(o)
		o.Ended = true
	})
	c.callEnded()
}

// Next implements [engine.Call].
func (c *call) Next(patience time.Duration) (*adapter.Continuation, error) {
	switch then, err := c.decider.next(patience); {
	case err != nil:
		c.interrupted(err)
		return nil, err
	case then == stepSend:
		return c.newContinuation(), nil
	case then == stepCheckRuns:
		return nil, engine.ErrCheckRuns
	}
	if !c.endTries() {
		c.pauses.acceptRejected()
	}
	return nil, nil //nolint:nilnil // nothing more is sent
}

// Failed implements [engine.Call].
func (c *call) Failed(err error, showedCall bool) (again bool, interrupted error) {
	if interrupted = c.recordFailure(err, showedCall); interrupted != nil {
		return false, interrupted
	}
	return c.tryAgain(err), nil
}

// beginTurn begins the next turn.
func (c *call) beginTurn(attempt int) {
	later, ours := c.turn.Turn > 0, !c.env.request.ownPause
	traits := reading.Traits{
		Watched: ours && (later || c.Additions().PauseTool != nil), Printable: ours && later, NeedsSeparator: !c.env.request.noSeparator,
		ClosingQuestion: later && c.decider.last.ClosingQuestion, ReportNames: c.env.observed != nil, KeepArguments: c.env.rules().Check != nil,
		Totals: c.env.options().usage,
	}
	if source := c.env.source(); source.memory != nil && c.env.session.name() != "" {
		traits.IsListTool = source.isListTool
	}
	next := turn{TurnID: continuation.TurnID{Session: c.turn.Session, Call: c.turn.Call, Turn: c.turn.Turn + 1, Attempt: attempt}}
	if !later {
		next.read = reading.Begin(&c.text, &traits)
		c.turn = next
		return
	}
	c.decider.retry.begin(&c.turn, &c.text)
	c.env.session.remoteBudget.BeginTurn()
	next.read = c.turn.read.Next(c.textUntil(c.text.Len()), &traits)
	c.turn = next
	c.env.record(func(o *Outcome) { o.Turns = c.turn.Turn })
}

// noteAssignments remembers what the turn that has ended gives to tools. What a sub-agent
// says counts as well: a summary of its conversation may begin the next one.
func (c *call) noteAssignments() {
	r := &c.turn.read
	if r.ShowedCall() {
		c.env.mw.toolCalls.Add(1)
	}
	for arguments := range r.Calls.Arguments() {
		c.env.mw.assignments.addArguments(arguments)
	}
	if !c.env.session.checked && !r.ShowedCall() {
		c.env.mw.assignments.add(string(r.OwnText()))
	}
}

// callEnded reports the end of the call, once.
func (c *call) callEnded() {
	if o := c.env.observed; o != nil && !o.over {
		o.over = true
		id := continuation.TurnID{Session: c.env.session.name(), Call: c.turn.Call, Turn: c.turn.Turn}
		emit(c.env.cancel.caller, c.env.reporter(), CallEnded{TurnID: id, Outcome: c.Outcome()})
	}
}
