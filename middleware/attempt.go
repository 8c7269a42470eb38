package middleware

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/scope"
)

// attempt is a continuation under way: the claim on the session that it
// holds. The claim is given up once, by whoever comes first: the end of the
// continuation, the end of the call, or the end of the caller's ctx.
type attempt struct {
	mu     sync.Mutex
	token  uint64 // 0 once somebody gives it up
	unhook func() bool
	given  chan struct{} // closed once it has been given up
}

// end gives the claim up, if it is still held. Whoever comes second returns
// once it has been given up.
func (a *attempt) end(giveUp func(token uint64) error) error {
	a.mu.Lock()
	token := a.token
	a.token = 0
	a.mu.Unlock()
	if token == 0 {
		<-a.given
		return nil
	}
	defer close(a.given)
	a.unhook()
	return giveUp(token)
}

// next returns the continuation that is to be sent now, after a wait if there
// has to be one, or nil if there is none after all. The error is what
// interrupted the wait.
func (c *Call) next() (*Continuation, error) {
	for {
		if !c.timeFor(c.last.Wait) {
			c.refuse(continuation.ReasonDeadline)
			return nil, nil
		}
		if c.last.Reason == continuation.ReasonTooSoon {
			if err := c.wait(c.last.Wait); err != nil {
				return nil, err
			}
			if !c.decide() {
				return nil, nil
			}
			continue
		}
		if !c.passesGate() {
			return nil, nil
		}
		switch c.commit(); {
		case c.last.Continue:
			return c.start(), nil
		case c.last.Reason != continuation.ReasonTooSoon:
			return nil, nil
		}
	}
}

// timeFor reports whether the caller's deadline, if there is one, leaves as
// much time after the wait as the caller's own turn took.
func (c *Call) timeFor(wait time.Duration) bool {
	deadline, ok := c.caller.Deadline()
	return !ok || deadline.Sub(c.mw.clock.Now())-wait > c.took
}

// wait waits on the consumer's own goroutine.
func (c *Call) wait(d time.Duration) error {
	over := make(chan struct{})
	timer := c.mw.clock.AfterFunc(d, func() { close(over) })
	defer timer.Stop()
	select {
	case <-over:
		return nil
	case <-c.ctx.Done():
		return c.interruption()
	}
}

func (c *Call) passesGate() bool {
	if c.mw.options.gate == nil {
		return true
	}
	place := c.place
	place.Turn, place.Attempt = place.Turn+1, c.last.Attempt
	turn := Turn{Place: place, Todo: c.last.Todo, Text: string(c.said.bytes())}
	// Inside this layer, so that a gate may ask a model itself.
	ctx := scope.WithSession(c.ctx, c.place.Session)
	err := guard(func() error { return c.mw.options.gate(ctx, turn) })
	if err == nil {
		return true
	}
	var panicked *PanicError
	if errors.As(err, &panicked) {
		c.fault("gate", err)
	}
	c.note(func(o *Outcome) { o.Err = err })
	c.refuse(continuation.ReasonGate)
	return false
}

// commit claims the session for a continuation, if everything still speaks for
// it: the last look and the claim are one step.
func (c *Call) commit() {
	in := continuation.Input{
		Settings: c.mw.settings.For(c.place.Session), Turn: c.facts(), UserTurn: c.userTurn,
		Todos: c.todos, TodosKnown: true, Background: c.background(),
		Limits: c.limits(), Now: c.mw.clock.Now(),
	}
	token := rand.Uint64() | 1 //nolint:gosec // tells claims apart, guards nothing
	var ev continuation.Evaluation
	err := c.update(func(s continuation.State) continuation.State {
		in.State = s
		if ev = continuation.Evaluate(in); !ev.Continue {
			return s
		}
		return ev.State.Begin(token, in.Now)
	})
	switch {
	case err != nil:
		if ev.Continue { // it may have been stored all the same
			_ = c.settle(func(s continuation.State) continuation.State { return s.End(token, continuation.Ending{}) })
		}
		c.storeFailed(err)
		c.refuse(continuation.ReasonStore)
	case !ev.Continue:
		c.conclude(ev)
	default:
		c.remember(ev)
		c.hold(token)
	}
}

// hold keeps the token of a claim until the attempt ends.
func (c *Call) hold(token uint64) {
	place := c.place
	a := &attempt{token: token, given: make(chan struct{})}
	a.mu.Lock() // so that nobody ends it before there is a hook
	defer a.mu.Unlock()
	c.attempt.Store(a)
	a.unhook = context.AfterFunc(c.ctx, func() { c.release(place) })
}

// release gives up the claim of an attempt that did not end by itself.
func (c *Call) release(at Place) {
	if c.key == "" {
		return // nobody else sees the claim, and only the call itself touches its state
	}
	c.endClaim(at, continuation.Ending{})
}

func (c *Call) endClaim(at Place, e continuation.Ending) {
	a := c.attempt.Load()
	if a == nil {
		return
	}
	err := a.end(func(token uint64) error {
		return c.settle(func(s continuation.State) continuation.State { return s.End(token, e) })
	})
	if err != nil {
		c.mw.failed(c.caller, Failed{Place: at, Op: "store", Err: err})
	}
}

// start returns the continuation that has been committed.
func (c *Call) start() *Continuation {
	place := c.place
	place.Turn, place.Attempt = place.Turn+1, c.last.Attempt
	k := &Continuation{
		Place: place, Todo: c.last.Todo,
		Text:        strings.TrimRightFunc(string(c.said.bytes()), unicode.IsSpace),
		Reasoning:   c.said.thoughts(),
		OffersPause: c.request.takesPause,
		Notes:       c.Notes(),
		StrictPause: c.request.strictTools,
	}
	shown := c.addNews(k, c.address(k))
	c.emptyUsed = c.emptyUsed || len(bytes.TrimSpace(c.said.bytes()[c.turnAt:])) == 0
	if strings.TrimSpace(k.Text) == "" {
		k.Text = ""
		if k.Pause == nil {
			k.Text = placeholder
		}
	}
	c.note(func(o *Outcome) { o.Attempts++ })
	c.mw.started(c.caller, ContinuationStarted{Place: place, Todo: k.Todo, Prompt: shown})
	return k
}

// address words what the model is told, and returns it.
func (c *Call) address(k *Continuation) string {
	last := c.last.State.Last
	in := continuation.PromptInput{
		Task: k.Todo.Content, Attempt: k.Attempt,
		YOLO:     c.mw.settings.For(c.place.Session).ApprovalMode == continuation.ApprovalYOLO,
		Previous: last.Kind, Problem: last.Problem(),
	}
	if c.rejection != nil {
		if c.rejection.answer != nil {
			k.Pause = c.rejection.answer
			k.Pause.Result = c.rejection.err.Error() + "\n\nThe task that is still to be done:\n'" +
				continuation.Describe(k.Todo.Content) + "'"
			return k.Pause.Result
		}
		in.Previous, in.Problem = continuation.PreviousRejected, rejectionText(c.rejection.err)
	}
	k.Prompt = c.mw.prompter.Prompt(in)
	return k.Prompt
}

// endAttempt takes note of how the continuation at hand ended; in the caller's
// own turn there is none.
func (c *Call) endAttempt(err error) {
	if c.place.Turn == 1 {
		return
	}
	s := &c.sink
	called := err == nil && s.showedCall()
	ending := continuation.Ending{Called: called && !c.sparing(), Tokens: s.usage.Tokens(), Last: c.review(err, called)}
	c.endClaim(c.place, ending)
	c.mw.ended(c.caller, ContinuationEnded{
		Place: c.place, ToolCalls: s.calls.others, Usage: s.usage, Err: err,
	})
}

// review says what the next prompt may tell the model of this attempt.
func (c *Call) review(err error, called bool) continuation.Last {
	switch {
	case err != nil && c.ended():
		return continuation.Last{} // the caller ended it
	case err != nil:
		return continuation.Last{Kind: continuation.PreviousFailed, Status: statusOf(err)}
	case called:
		return continuation.Last{}
	case c.facts().SameText:
		return continuation.Last{Kind: continuation.PreviousSameAnswer}
	}
	return continuation.Last{Kind: continuation.PreviousNoProgress}
}

// statusOf returns the status of a failure for [continuation.Last].
func statusOf(err error) int {
	var status *StatusError
	switch {
	case errors.As(err, &status) && status.Status > 0:
		return status.Status
	case errors.Is(err, ErrFirstByteTimeout), errors.Is(err, ErrResponseTimeout),
		errors.Is(err, ErrDeadlineNear), errors.Is(err, context.DeadlineExceeded):
		return continuation.StatusTimeout
	}
	return continuation.StatusTransport
}

// noteFailed takes note that the continuation at hand failed, which costs it
// and nothing that came before: it returns an error for the caller only if the
// caller ended it, or if the caller was shown a part of a tool call.
func (c *Call) noteFailed(err error, showedCall bool) error {
	if interrupted := c.interruption(); interrupted != nil {
		c.noteInterrupted(interrupted)
		return interrupted
	}
	c.note(func(o *Outcome) { o.Err, o.Reason = err, continuation.ReasonFailed })
	c.fault("continuation", err)
	if showedCall {
		return err
	}
	return nil
}

// noteInterrupted takes note that the caller ended the call while carryon was
// at work on it.
func (c *Call) noteInterrupted(err error) {
	c.note(func(o *Outcome) { o.Err, o.Reason = err, continuation.ReasonBrokeOff })
}

// usageEdit says which usage a joined answer shows.
func (c *Call) usageEdit() UsageEdit {
	if c.mw.options.usage == LastTurn {
		return ShowLast
	}
	return ShowSum
}
