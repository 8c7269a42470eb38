package middleware

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/description"
	"github.com/carryon-go/carryon/internal/goon"
	"github.com/carryon-go/carryon/internal/prompt"
	"github.com/carryon-go/carryon/internal/scope"
	"github.com/carryon-go/carryon/internal/session"
)

// Call is one of the caller's calls that carryon may continue, from the request to
// the end of the answer. Adapters get it from [Middleware.Begin] and give it to
// [NewStream] or [Unary], which do the rest. One goroutine at a time drives it;
// Additions, OpenContext and Outcome may be called from any.
type Call struct {
	callScope

	turn      turn
	text      transcript
	decider   decider
	pauses    pauses
	reminders reminders
	additions adapter.Additions // to the caller's own request, and with it to every turn's
}

// Begin begins a call with the request that is about to be sent. If carryon leaves
// the call alone, Begin returns a nil Call and the final Outcome, which says why, and
// the adapter sends the request as it is. Otherwise the adapter sends the request
// with the ctx and the additions of the Call. Begin panics if ctx is nil.
func (mw *Middleware) Begin(ctx context.Context, r adapter.Request) (*Call, Outcome) {
	mustHave(ctx)
	if reason := mw.scopeOf(ctx, &r); reason != continuation.ReasonNone {
		return nil, mw.passed(ctx, &r, reason)
	}
	c := newCall(ctx, mw, &r)
	c.observeCall(&r)
	c.patience = patienceOf(ctx, mw.options.clock, &r)
	if outcomes := capture(ctx); outcomes != nil {
		c.outcome.Store(outcomes.add(c.firstOutcome()))
	}
	if err := c.session.registerUserTurn(c.cancel.caller, &r); err != nil {
		c.storeFailed(c.turn.TurnID, err)
	}
	c.recordUserTurn(&r)
	c.rememberList()
	if mw.options.pauseTool == PauseToolAlways && !mw.options.dryRun && !c.session.heldOut && c.request.takesPause &&
		c.session.settings().TodoContinuation {
		c.additions.PauseTool = adapter.NewPauseTool(r.StrictTools)
	}
	c.beginTurn(0)
	c.additions.Attachments = c.reminders.attachments(&c.turn)
	c.explain(&r)
	c.startTurn(c.cancel.caller, r.Sent)
	return c, Outcome{}
}

func newCall(ctx context.Context, mw *Middleware, r *adapter.Request) *Call {
	c := &Call{callScope: callScope{mw: mw, request: traitsOf(r), cancel: canceller{caller: ctx, ctx: ctx}}}
	c.decider.fixed = r.FixedPrefix
	name := mw.session(ctx)
	c.session.heldOut = mw.options.holdsOut(name)
	c.session.mw, c.session.key = mw, keyOf(ctx, name, r)
	c.turn.Session, c.turn.reader.text.transcript = name, &c.text
	if r.Reasoning {
		c.text.reasoning = new([]byte)
	}
	c.decider.callScope, c.decider.turn = &c.callScope, &c.turn
	c.pauses.decider = &c.decider
	c.reminders.callScope = &c.callScope
	c.decider.list = &noList
	return c
}

// recordUserTurn records whether the user has written, and whether that only says go on.
func (c *Call) recordUserTurn(r *adapter.Request) {
	if !c.session.wrote {
		return
	}
	goesOn := goon.Is(r.User)
	c.record(func(o *Outcome) { o.Wrote, o.GoOn = true, goesOn })
}

// Context returns the ctx for the caller's own request. It ends with the caller's ctx
// and with the call.
func (c *Call) Context() context.Context { return c.observed.turnCtx(c.cancel.derive()) }

// OpenContext returns the ctx for a caller's request whose answer may outlive the
// call. Like Context, it marks what runs inside this layer, but only the caller's ctx
// ends it.
func (c *Call) OpenContext() context.Context {
	return c.observed.turnCtx(scope.EnterLayer(c.cancel.caller))
}

// Additions returns what carryon adds to the caller's own request. It must not be
// changed.
func (c *Call) Additions() *adapter.Additions { return &c.additions }

// Outcome returns the outcome of the call, or what is known of it so far.
func (c *Call) Outcome() Outcome {
	if cell := c.outcome.Load(); cell != nil {
		return cell.get()
	}
	return c.firstOutcome()
}

// Abort ends the call because the caller's own request could not be sent or was
// refused. Adapters of streams call it where they have no stream to give to
// [NewStream].
func (c *Call) Abort(err error) {
	c.breakOff(err)
	c.endTurn(err)
	c.end()
	c.cancel.cancel()
}

// beginTurn begins the next turn.
func (c *Call) beginTurn(attempt int) {
	later, ours := c.turn.Turn > 0, !c.request.ownPause
	if later {
		c.decider.continued.begin(c)
		c.session.waited.beginTurn()
	}
	c.turn = c.turn.next(attempt, ours && (later || c.additions.PauseTool != nil), ours && later)
	c.turn.reader.totals = c.mw.options.usage.shown()
	if c.request.noSeparator {
		c.turn.reader.text.separator = ""
	}
	if _, remembers := c.mw.todos.(rememberer); remembers && c.session.name() != "" {
		c.turn.reader.listTools = c.mw
	}
	if later {
		c.record(func(o *Outcome) { o.Turns = c.turn.Turn })
	}
	for _, f := range c.callbacks.all() {
		f.begin(c.callbacks, &c.turn.reader)
	}
}

// deadlinesOf returns the deadlines of a continuation that is about to be sent.
func (c *Call) deadlinesOf(k *adapter.Continuation) *deadlines {
	ctx := c.startTurn(scope.WithTurn(c.cancel.ctx, scope.TurnID(k.TurnID)), time.Time{})
	return newDeadlines(ctx, c.mw.drain.begun, c.mw.options.clock, &c.mw.options.limits, c.patience)
}

// endTurn reports that all of the turn was read. If the turn was a continuation,
// endTurn ends that too.
func (c *Call) endTurn(err error) {
	t, r := &c.turn, &c.turn.reader
	r.ended = true
	c.decider.fixed = c.decider.fixed || r.signed
	c.reminders.markRead(t)
	if r.first {
		c.patience.endFirstTurn()
	}
	if err == nil && !r.first { // the end of turn 1 is added with the first continuation
		c.decider.continued.ends = append(c.decider.continued.ends, c.text.len())
	}
	if err == nil {
		c.noteListWriting()
	}
	c.outcomeCell().addUsage(r.usage(), !r.first)
	c.mw.options.report.turnEnded(c.observed.turnCtx(c.cancel.caller), TurnEnded{
		TurnID: t.TurnID, Finish: r.finish, ToolCalls: int(r.calls.others), Usage: r.usage(), Err: err, Times: c.observed.turnTimes(err),
	})
	if !r.first {
		c.endContinuation(err)
	}
}

// endContinuation releases the claim of a continuation, and says how it ended.
func (c *Call) endContinuation(err error) {
	t, r := &c.turn, &c.turn.reader
	called := err == nil && r.showedCall()
	paused := err == nil && r.paused()
	if paused {
		c.record(func(o *Outcome) { o.Worth.Paused++ })
	}
	ending := session.Ending{
		Answered: err == nil && !paused,
		Called:   called && !c.hasShortLoop(), Tokens: c.tokensOf(r, err), Result: c.resultOf(err, called),
		Unshown: err != nil && !c.decider.continued.shown, Refused: isRefusal(err),
	}
	if ending.Called && !r.otherCall {
		ending.Calls = r.calls.identity()
	}
	if err == nil && !called {
		c.releaseLater(ending) // a decision follows
	} else {
		c.releaseAs(t.TurnID, ending)
	}
	c.mw.options.report.continuationEnded(c.cancel.caller, ContinuationEnded{
		TurnID: t.TurnID, Result: c.resultWord(err), ToolCalls: int(r.calls.others), Usage: r.usage(), Err: err,
	})
}

// resultWord returns the [ContinuationEnded.Result] of a continuation.
func (c *Call) resultWord(err error) string {
	switch r := &c.turn.reader; {
	case err != nil && c.interruption() != nil:
		return "interrupted"
	case err != nil:
		return "failed"
	case r.showedCall():
		return "tool_call"
	case r.paused():
		return "paused"
	}
	return "text"
}

// resultOf returns the result of a continuation that the next prompt may tell the
// model.
func (c *Call) resultOf(err error, called bool) continuation.PromptResult {
	switch {
	case err != nil && c.cancel.hasEnded():
		return continuation.ResultNone // the caller ended it
	case err != nil:
		return failureOf(err)
	case called:
		return continuation.ResultNone
	case c.turn.repeats():
		return continuation.ResultSameAnswer
	}
	return continuation.ResultNoProgress
}

// bytesPerToken is the estimated size of a token where no usage is reported: low
// rather than high, so that a budget is not overrun.
const bytesPerToken = 3

// tokensOf returns how many tokens a continuation has used. Counts that are not
// reported are estimated from the texts: the request, the earlier turns, the prompt
// and the answer. A request that the provider has refused costs nothing.
func (c *Call) tokensOf(r *turnReader, err error) int {
	var status *adapter.StatusError
	if errors.As(err, &status) && status.Status > 0 {
		return 0
	}
	usage := r.usage()
	if usage.Prompt > 0 || usage.Total > max(usage.Completion, 0) {
		return usage.Tokens()
	}
	usage.Total, usage.Prompt = 0, estimate(c.request.size+c.turn.from+promptSize())
	if usage.Completion <= 0 {
		usage.Completion = estimate(c.text.len() - c.turn.from)
	}
	return usage.Tokens()
}

// promptSize is roughly the size of a prompt in bytes.
func promptSize() int { return len(continuation.LongTemplates().Standard.Base) }

// addUnsent counts the continuation that the decision would have led to in a dry run,
// or outside of the control group. Its tokens are estimated: it would have read what
// the caller's turn read and wrote, and is taken to write as much.
func (c *Call) addUnsent(o *Outcome) {
	if o.Reason != continuation.ReasonHoldout && (!o.DryRun || o.Reason != continuation.ReasonSatisfied) {
		return
	}
	own := c.turn.reader.usage()
	if own.Prompt <= 0 {
		own.Prompt = estimate(c.request.size)
	}
	if own.Completion <= 0 {
		own.Completion = estimate(c.text.len())
	}
	o.Worth.Unsent = 1
	o.Worth.Estimate = Tokens{Input: addTokens(addTokens(own.Prompt, own.Completion), estimate(promptSize())), Output: own.Completion}
}

// estimate returns roughly how many tokens a text of that size has.
func estimate(bytes int) int { return max(bytes, 0)/bytesPerToken + 1 }

// failureOf returns the result of a continuation that failed.
func failureOf(err error) continuation.PromptResult {
	var status *adapter.StatusError
	switch {
	case errors.As(err, &status) && status.Status > 0:
		return continuation.PromptResult(status.Status)
	case errors.Is(err, ErrFirstByteTimeout), errors.Is(err, ErrResponseTimeout),
		errors.Is(err, ErrDeadlineNear), errors.Is(err, context.DeadlineExceeded):
		return continuation.ResultTimeout
	}
	return continuation.ResultTransport
}

// breakOff decides on the caller's own turn, which did not end as it should have.
func (c *Call) breakOff(err error) {
	if err != nil {
		c.turn.reader.Fail(err)
		c.record(func(o *Outcome) { o.Err = err })
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
	c.reminders.settle(&c.turn)
	c.release(continuation.TurnID{Session: c.session.name()})
	c.record(func(o *Outcome) {
		c.addUnsent(o)
		o.Ended = true
	})
	c.callEnded()
}

// next waits until a continuation may be sent, and returns it. It returns nil if the
// decision has changed meanwhile. The error says what interrupted the wait.
func (c *Call) next() (*adapter.Continuation, error) {
	ok, err := c.decider.next()
	switch {
	case err != nil:
		c.interrupted(err)
		return nil, err
	case !ok:
		if !c.endTries() {
			c.pauses.acceptRejected()
		}
		return nil, nil
	}
	return c.newContinuation(), nil
}

// placeholder replaces an answer without text, which providers refuse.
const placeholder = "(no answer)"

// newContinuation returns the continuation that the session was claimed for.
func (c *Call) newContinuation() *adapter.Continuation {
	if c.decider.continued == nil {
		c.decider.continued = &continued{ends: []int{c.text.len()}}
	}
	k := &adapter.Continuation{
		TurnID: c.decider.nextID(), Todo: c.decider.last.Todo,
		Text:      strings.TrimRightFunc(string(c.text.bytes()), unicode.IsSpace),
		TurnEnds:  c.decider.continued.ends,
		Reasoning: c.text.reasoningText(),
		Additions: adapter.Additions{Attachments: c.additions.Attachments},
	}
	if c.offersPause() {
		k.PauseTool = adapter.NewPauseTool(c.request.strictTools)
	}
	said := c.reminders.appendNew(&c.turn, k.TurnID, c.buildPrompt(k))
	if k.Pause != nil {
		k.Pause.Result = said
	} else {
		k.Prompt = said
	}
	if strings.TrimSpace(k.Text) == "" {
		k.Text = ""
		if k.Pause == nil {
			k.Text = placeholder
		}
	}
	c.record(func(o *Outcome) { o.Attempts++ })
	c.mw.options.report.started(c.cancel.caller, ContinuationStarted{TurnID: k.TurnID, Todo: k.Todo, Prompt: said})
	return k
}

// offersPause reports whether a continuation's request has todo_pause among its
// tools.
func (c *Call) offersPause() bool {
	return c.request.takesPause && (!c.decider.fixed || c.additions.PauseTool != nil)
}

// buildPrompt returns the prompt. After a rejected pause it sets k.Pause and returns
// the answer to that call instead, unless the reasoning would have to be sent back
// with the call.
func (c *Call) buildPrompt(k *adapter.Continuation) string {
	in := prompt.Input{
		Task: k.Todo.Content, Attempt: k.Attempt, Last: c.decider.last.State.LastResult,
		Mode: c.session.settings().ApprovalMode, End: c.turn.textEnd(),
		InWords: c.decider.fixed && !c.offersPause() && !c.request.ownPause,
	}
	if r := c.turn.rejection; r != nil {
		if r.answer != nil && !c.decider.fixed {
			k.Pause = r.answer
			return r.err.Error() + "\n\nThe task that is still to be done:\n'" + description.Of(k.Todo.Content) + "'"
		}
		in.Rejection = errors.New(rejectionText(r.err))
	}
	return c.mw.prompter.Prompt(in)
}

// continuationFailed records that a continuation failed; the earlier turns
// stay valid. It returns an error only if the caller ended the call, or saw a
// part of a tool call.
func (c *Call) continuationFailed(err error, showedCall bool) error {
	if interrupted := c.interruption(); interrupted != nil {
		c.interrupted(interrupted)
		return interrupted
	}
	c.record(func(o *Outcome) { o.Err, o.Reason = err, continuation.ReasonFailed })
	c.fault(c.turn.TurnID, "continuation", err)
	if showedCall {
		return err
	}
	return nil
}

// interrupted records that the caller ended the call during a wait or a
// continuation.
func (c *Call) interrupted(err error) {
	c.record(func(o *Outcome) { o.Err, o.Reason = err, continuation.ReasonBrokeOff })
	c.decider.cancelled()
}
