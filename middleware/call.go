package middleware

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/handback"
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
	c.startTurn(c.cancel.caller)
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
	goesOn := handback.SaysGoOn(r.User)
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

// interrupted records that the caller ended the call during a wait or a
// continuation.
func (c *Call) interrupted(err error) {
	c.record(func(o *Outcome) { o.Err, o.Reason = err, continuation.ReasonBrokeOff })
	c.decider.cancelled()
}

// callScope is what stays the same for a whole call: its request, its session, what
// ends it, and its outcome.
type callScope struct {
	mw      *Middleware
	request traits
	cancel  canceller
	session sessionHandle

	observed *observation // nil without observers

	patience *patience // of the caller; nil if it is unlimited

	callbacks *callbacks // that are filtered; nil for none

	claim   atomic.Pointer[claim]       // of the last continuation, if there was one
	outcome atomic.Pointer[outcomeCell] // nil as long as there is nothing to record
}

// interruption returns the error with which the caller, or a callback that failed,
// ended the call, or nil.
func (s *callScope) interruption() error {
	if err := s.callbacks.failure(); err != nil {
		return err
	}
	return s.cancel.interruption()
}

// fault reports a failure that does not cost the caller the answer.
func (s *callScope) fault(id continuation.TurnID, op Op, err error) {
	s.mw.options.report.failed(s.cancel.caller, Failed{TurnID: id, Op: op, Err: err})
}

// faultOnce is fault for the store and the background tasks, whose failures are
// reported once, until they work again.
func (s *callScope) faultOnce(id continuation.TurnID, op Op, err error) {
	if err != nil && isNews(err) {
		s.fault(id, op, err)
	}
}

// storeFailed reports a failure of the store, after which nothing is continued.
func (s *callScope) storeFailed(id continuation.TurnID, err error) {
	s.session.failure = err
	s.faultOnce(id, OpStore, err)
}

// storeReason returns the reason for not continuing a call whose store has failed.
func (s *callScope) storeReason() continuation.Reason {
	if errors.Is(s.session.failure, ErrStoreSkipped) {
		return continuation.ReasonStoreSkipped
	}
	return continuation.ReasonStore
}

// updateInUserTurn changes the session's state, unless a newer user turn has
// begun or the store has failed before.
func (s *callScope) updateInUserTurn(id continuation.TurnID, f func(continuation.State) continuation.State) {
	if s.session.failure != nil {
		return // it was reported
	}
	err := s.session.updateDetached(s.cancel.ctx, s.withRelease(func(state continuation.State) continuation.State {
		if state.UserTurn != s.session.userTurn {
			return state
		}
		return f(state)
	}))
	if err != nil {
		s.storeFailed(id, err)
		return
	}
	s.released()
}

// hasShortLoop reports whether the call may have only one continuation in a row; see
// [adapter.Request].ShortLoop.
func (s *callScope) hasShortLoop() bool { return s.request.shortLoop && !s.mw.options.attemptsSet }

// firstOutcome is the outcome of a call that has only begun.
func (s *callScope) firstOutcome() Outcome {
	return Outcome{Session: s.session.name(), Turns: 1, DryRun: s.mw.options.dryRun, Holdout: s.session.heldOut}
}

// record changes the outcome.
func (s *callScope) record(f func(*Outcome)) { s.outcomeCell().edit(f) }

// outcomeCell returns the cell that holds the outcome, and makes it if necessary.
func (s *callScope) outcomeCell() *outcomeCell {
	if s.outcome.Load() == nil {
		s.outcome.Store(&outcomeCell{o: s.firstOutcome()})
	}
	return s.outcome.Load()
}

// traits are the parts of a request that are needed until the end of its call.
type traits struct {
	ownPause    bool
	strictTools bool
	takesPause  bool // todo_pause may be added
	noFinish    bool
	saysDone    bool
	shortLoop   bool
	noSeparator bool

	shortMessage bool // the user's newest message is short and asks nothing

	size       int   // of its texts
	messages   int32 // how many there are
	system     int32 // the number of the system message, 0 for none
	attachable func(message int) (string, bool)
	history    iter.Seq[adapter.Entry]
	toolNames  adapter.ToolNamer
}

// traitsOf returns the traits of a request. Nothing is joined to the messages of one
// with a fixed prefix. A request without tools never gets a first one: some models
// reject any tool.
func traitsOf(r *adapter.Request) traits {
	if r.FixedPrefix {
		r.Attachable = nil
	}
	return traits{
		ownPause: r.OwnPause, strictTools: r.StrictTools,
		takesPause: !r.OwnPause && r.Tools > 0 && r.Tools < maxTools,
		noFinish:   r.NoFinish, saysDone: r.SaysDone, shortLoop: r.ShortLoop, noSeparator: r.NoSeparator,
		shortMessage: handback.AnswersOnly(r.User),
		size:         max(0, min(r.Size, math.MaxInt/2)),
		messages:     int32(min(r.Messages, math.MaxInt32)), system: int32(min(r.System, math.MaxInt32)), //nolint:gosec // in range
		attachable: r.Attachable, history: r.History,
		toolNames: r.ToolNames,
	}
}

// maxTools is how many tools providers accept in one request.
const maxTools = 128

func userTurnOf(ctx context.Context, r *adapter.Request) session.UserTurn {
	if scope.IsAutomatic(ctx) {
		return session.UserTurn{}
	}
	if id, ok := scope.UserTurn(ctx); ok {
		return session.NamedUserTurn(id)
	}
	if r.TextAgent {
		return session.GrowingUserTurnOf(r.Users, r.User)
	}
	turn := session.UserTurnOf(r.Users, r.User)
	if r.Unanswered {
		turn = turn.Unanswered(r.Previous)
	}
	return turn
}

// canceller cancels what a call has running, and knows what ended the call. It
// derives a ctx for the call only when there is something to cancel: most streams
// never need one.
type canceller struct {
	caller context.Context
	ctx    context.Context // the caller's, until derive was called

	mu        sync.Mutex
	stop      context.CancelCauseFunc // nil until derive was called
	cancelled bool
}

// derive returns the ctx of the call: inside this layer, and cancelled with the
// caller's ctx or by cancel.
func (c *canceller) derive() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stop == nil {
		c.ctx, c.stop = context.WithCancelCause(scope.EnterLayer(c.caller))
		if c.cancelled {
			c.stop(ErrClosed)
		}
	}
	return c.ctx
}

// cancel cancels the ctx of the call, even if it is derived later.
func (c *canceller) cancel() {
	c.mu.Lock()
	stop := c.stop
	c.cancelled = true
	c.mu.Unlock()
	if stop != nil {
		stop(ErrClosed)
	}
}

// hasEnded reports whether the caller ended the call: by its ctx, or by cancel.
func (c *canceller) hasEnded() bool { return c.interruption() != nil }

// interruption returns the error with which the caller ended the call, or nil.
func (c *canceller) interruption() error {
	c.mu.Lock()
	cancelled := c.cancelled
	c.mu.Unlock()
	err := c.caller.Err()
	if err == nil && cancelled {
		return ErrClosed
	}
	if cause := context.Cause(c.caller); err != nil && !errors.Is(cause, err) {
		return fmt.Errorf("%w: %w", err, cause)
	}
	return err
}

// wait waits on the consumer's own goroutine, until the time is over or the
// program ends. It reports false if the call was cancelled meanwhile.
func (c *canceller) wait(program context.Context, clock Clock, d time.Duration) bool {
	over := make(chan struct{})
	timer := clock.AfterFunc(d, func() { close(over) })
	defer timer.Stop()
	select {
	case <-over:
		return true
	case <-program.Done():
		return true
	case <-c.ctx.Done():
		return false
	}
}

// callbacks are the filtered callbacks of a call. A nil value has none.
type callbacks struct {
	filters []TurnFilter

	mu  sync.Mutex
	err error // with which one of them failed
}

// fail records the error of one of them.
func (c *callbacks) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
}

// failure returns the error of a callback, or nil.
func (c *callbacks) failure() error {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// all returns the filters.
func (c *callbacks) all() []TurnFilter {
	if c == nil {
		return nil
	}
	return c.filters
}
