package middleware

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"
	"unicode"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/description"
	"github.com/carryon-go/carryon/internal/prompt"
	"github.com/carryon-go/carryon/internal/reading"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/turnresult"
	"github.com/carryon-go/carryon/todo"
)

// endContinuation releases the claim of a continuation.
func (c *call) endContinuation(err error) {
	t, r := &c.turn, &c.turn.read
	called := err == nil && r.ShowedCall()
	paused := err == nil && r.Paused()
	if paused {
		c.env.record(func(o *Outcome) { o.Worth.Paused++ })
	}
	asked := c.decider.last.ClosingQuestion
	aboutCheck := c.decider.last.Checks
	if asked && err == nil {
		c.env.record(func(o *Outcome) { o.Worth.addAnswer(called) })
	}
	ended := decision.ContinuationResult{
		Answered: err == nil && !paused, ClosingQuestion: asked, Checked: aboutCheck,
		Called: called && !c.env.hasShortLoop(), Tokens: c.tokensOf(r, err), Result: c.resultOf(err, called),
		// One that the caller ends, or that was refused, uses its attempt.
		Unshown:         err != nil && !r.WasShown && !c.env.cancel.hasEnded() && !r.ModelRefused,
		ProviderRefused: isRefusal(err),
	}
	if ended.Called {
		ended.Calls = r.Identity()
	}
	if err == nil && !called {
		c.env.releaseLater(ended) // a decision follows
	} else {
		c.env.release(t.TurnID, ended)
	}
}

// endedAs returns how a continuation ended.
func (c *call) endedAs(err error) string {
	r := &c.turn.read
	switch {
	case err != nil && c.env.interruption() != nil:
		return turnresult.Interrupted
	case err != nil:
		return turnresult.Failed
	case r.ShowedCall():
		return turnresult.ToolCall
	case r.Paused():
		return turnresult.Paused
	case r.SaysNothingOpen():
		return turnresult.NothingOpen
	}
	return turnresult.Text
}

// resultOf returns the result of a continuation that the next prompt may tell the
// model.
func (c *call) resultOf(err error, called bool) decision.PromptResult {
	switch {
	case err != nil && c.env.cancel.hasEnded():
		return decision.ResultNone // the caller ended it
	case err != nil:
		return failureOf(err)
	case called:
		return decision.ResultNone
	case c.repeats():
		return decision.ResultSameAnswer
	}
	return decision.ResultNoProgress
}

// tokensOf returns how many tokens a continuation has used. Counts that are not
// reported are estimated from the texts: the request, the earlier turns, the prompt
// and the answer. A request that the provider has refused costs nothing.
func (c *call) tokensOf(r *reading.Turn, err error) int {
	if statusOf(err) > 0 {
		return 0
	}
	usage := r.LastUsage()
	if reportsInput(usage) {
		return usage.Tokens()
	}
	usage.Total, usage.Prompt = 0, estimate(c.env.request.size+r.From()+promptSize())
	if usage.Completion <= 0 {
		usage.Completion = estimate(c.textLen())
	}
	return usage.Tokens()
}

// reportsInput reports whether a usage says what the request had. Every request has
// something.
func reportsInput(u adapter.Usage) bool { return u.Prompt > 0 || u.Total > max(u.Completion, 0) }

// failureOf returns the result of a continuation that failed.
func failureOf(err error) decision.PromptResult {
	switch status := statusOf(err); {
	case status > 0:
		return decision.PromptResult(status)
	case errors.Is(err, ErrFirstByteTimeout), errors.Is(err, ErrResponseTimeout),
		errors.Is(err, ErrDeadlineNear), errors.Is(err, context.DeadlineExceeded):
		return decision.ResultTimeout
	}
	return decision.ResultTransport
}

// blankAnswerText replaces an answer without text, which providers refuse.
const blankAnswerText = "(no answer)"

// newContinuation returns the continuation that the session was claimed for.
func (c *call) newContinuation() *adapter.Continuation {
	if c.decider.retry == nil {
		c.decider.retry = &retryPoint{turnEnds: []int{c.text.Len()}}
	}
	k := &adapter.Continuation{
		TurnID: c.decider.nextID(), Todo: c.decider.last.Todo,
		Text:      strings.TrimRightFunc(string(c.text.Bytes()), unicode.IsSpace),
		TurnEnds:  c.decider.retry.turnEnds,
		Reasoning: c.text.ReasoningText(),
		Additions: adapter.Additions{Attachments: c.Additions().Attachments},
	}
	if c.offersPause() {
		k.PauseTool = newPauseTool(c.env.request.strictTools)
	}
	text := c.reminders.appendNew(&c.turn, k.TurnID, c.buildPrompt(k))
	if k.Pause != nil {
		k.Pause.Result = text
	} else {
		k.Prompt = text
	}
	if k.Text == "" && k.Pause == nil {
		k.Text = blankAnswerText
	}
	c.env.record(func(o *Outcome) { o.Attempts++ })
	emit(c.env.cancel.caller, c.env.reporter(), ContinuationStarted{
		TurnID: k.TurnID, Todo: k.Todo, Asks: c.decider.last.ClosingQuestion, Prompt: text,
	})
	return k
}

// offersPause reports whether a continuation's request has todo_pause among its
// tools.
func (c *call) offersPause() bool {
	return c.env.request.takesPause && (!c.decider.noNewTools || c.Additions().PauseTool != nil)
}

// buildPrompt returns the prompt. After a rejected pause it sets k.Pause and returns
// the answer to that call instead, unless the reasoning would have to be sent back
// with the call.
func (c *call) buildPrompt(k *adapter.Continuation) string {
	in := c.promptInput(k)
	if c.decider.last.ClosingQuestion {
		return prompt.Question(in)
	}
	checks := c.decider.last.Checks
	var failure prompt.Failure
	if checks {
		failure = c.decider.check.failure()
		in.Task = failure.Task()
	}
	if r := c.turn.rejection; r != nil {
		if r.answer != nil && !c.decider.noNewTools {
			k.Pause = r.answer
			return r.err.Error() + "\n\nThe task that is still to be done:\n'" + description.Of(in.Task) + "'"
		}
		in.Rejection = errors.New(rejectionText(r.err))
	}
	if checks {
		return c.env.mw.prompter.Check(in, failure)
	}
	return c.env.mw.prompter.Prompt(in)
}

// promptInput returns what the prompt of a continuation depends on, but for a rejected
// pause.
func (c *call) promptInput(k *adapter.Continuation) prompt.Input {
	in := prompt.Input{
		Task: k.Todo.Content, Attempt: k.Attempt, Last: c.decider.last.State.LastResult,
		Mode: c.env.session.settings().ApprovalMode, End: c.turn.read.TextEnd(), BreaksOff: c.turn.read.StopsMidSentence(),
		InWords: !c.offersPause() && !c.env.request.ownPause,
	}
	if k.Todo != (todo.Todo{}) {
		read := c.decider.list
		list, upcoming := &c.decider.last.List, decision.Upcoming(read.todos, read.othersTodos)
		in.List = prompt.List{
			Todos: list.Todos - list.Others, Open: list.Active - list.Others,
			Tool: c.env.source().doneTool(list.Origin, c.env.request.toolNames),
		}
		copy(in.List.Next[:], upcoming[1:])
	}
	return in
}

// recordFailure records that a continuation failed; the earlier turns stay valid. It
// returns an error only if the caller ended the call, or saw a part of a tool call.
func (c *call) recordFailure(err error, showedCall bool) error {
	if interrupted := c.env.interruption(); interrupted != nil {
		c.interrupted(interrupted)
		return interrupted
	}
	c.env.record(func(o *Outcome) { o.Err, o.Reason = err, reasons.Failed })
	c.env.reportFailure(c.turn.TurnID, opContinuation, err)
	if showedCall {
		return err
	}
	return nil
}

// maxRetryDelay is the longest delay that a provider may ask for before a
// continuation is sent once more. If it asks for a longer one, the answer ends,
// because the caller would be shown nothing meanwhile.
const maxRetryDelay = 10 * time.Second

// A continuation that fails before anything of it was shown is tried maxTries times in
// all. Before each, carryon waits as long as the provider asks; before the last, for at
// least lastTryIntervals times the interval between prompts, because what made two tries
// in a row fail needs time to pass.
const (
	maxTries         = 3
	lastTryIntervals = 5
)

// tryAgain reports whether the continuation that failed with err is sent once more. If
// so, it has put the call back to the end of the turn before, from which it goes on.
func (c *call) tryAgain(err error) bool {
	try := c.decider.retry
	try.failed++
	if c.turn.read.WasShown || try.failed == maxTries || c.turn.read.ModelRefused || !mayRecover(err) {
		return false
	}
	try.failure = err
	delay := retryOf(err).After
	if try.failed == maxTries-1 { // Off is negative, so that without an interval there is no delay
		delay = max(delay, lastTryIntervals*c.env.rules().Limits.MinInterval)
	}
	if delay > 0 {
		try.notBefore = c.env.now().Add(delay)
	}
	c.reminders.takeBack(&c.turn)
	c.text.Cut(try.textLen)
	c.text.CutReasoning(try.reasoningLen)
	id := c.turn.TurnID
	c.turn = try.prevTurn
	c.turn.TurnID = id // the failed turn keeps its number: the next one has another
	if !c.decider.decide() {
		c.endTries()
		return false
	}
	c.env.record(func(o *Outcome) { o.Err = nil })
	return true
}

// endTries records the failure of the last try, and reports whether there is one.
func (c *call) endTries() bool {
	try := c.decider.retry
	if !try.hasFailed() {
		return false
	}
	c.env.record(func(o *Outcome) { o.Err, o.Reason = try.failure, reasons.Failed })
	return true
}

// mayRecover reports whether another try may succeed: not if the provider refuses
// the request or asks not to be called again, and not if this try has used up the time
// for a continuation.
func mayRecover(err error) bool {
	for _, limit := range [...]error{ErrFirstByteTimeout, ErrResponseTimeout, ErrDeadlineNear, ErrShutdown} {
		if errors.Is(err, limit) {
			return false
		}
	}
	retry := retryOf(err)
	return !retry.Never && retry.After <= maxRetryDelay && isTransient(err)
}

// retryOf returns what the provider says about another try: in the header of its answer,
// or in the error that it reports.
func retryOf(err error) (retry adapter.Retry) {
	var status *adapter.StatusError
	if errors.As(err, &status) {
		retry = status.Retry
	}
	reported := reportedRetry(err)
	return adapter.Retry{After: cmp.Or(retry.After, reported.After), Never: retry.Never || reported.Never}
}

// reportedRetry returns what an error itself says about another try.
func reportedRetry(err error) adapter.Retry {
	var reported interface{ Retry() adapter.Retry }
	if errors.As(err, &reported) {
		return reported.Retry()
	}
	return adapter.Retry{}
}

// isTransient reports whether the failure may be temporary, judging by its HTTP
// status and by what the provider reports. Without either, it may.
func isTransient(err error) bool {
	if reportedRetry(err).Never {
		return false
	}
	switch status := statusOf(err); status {
	case 0, 408, 409, 429:
		return true
	default:
		return status >= 500
	}
}

// isRefusal reports whether the provider, not the model, refuses the conversation itself, so that it
// would refuse another continuation too.
func isRefusal(err error) bool {
	return statusOf(err) >= 400 && !isTransient(err) || reportedRetry(err).Never
}

// repeats reports whether the turn has the same words as the one before it.
func (c *call) repeats() bool {
	if c.turn.read.Repeats() {
		return true // its text may be hidden
	}
	return c.decider.retry != nil && reading.SameWords(c.turn.read.OwnText(), c.textBefore())
}

// textBefore returns the text of the turn before the current continuation.
func (c *call) textBefore() []byte { return c.textUntil(c.turn.read.From()) }

// textUntil returns the text from the beginning of the turn before the current
// continuation until there.
func (c *call) textUntil(end int) []byte { return c.text.Bytes()[c.decider.retry.prevStart:end] }

// textLen returns the length of the current turn's text, or of the same answer before it
// if the text is hidden.
func (c *call) textLen() int {
	if c.turn.read.Repeats() {
		return len(c.textBefore())
	}
	return len(c.turn.read.OwnText())
}
