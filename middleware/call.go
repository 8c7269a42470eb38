package middleware

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/scope"
	"github.com/carryon-go/carryon/pause"
	"github.com/carryon-go/carryon/todo"
)

// Call is one call of the caller's that may be continued, from the request to
// the end of the answer. Adapters get it from [Middleware.Begin] and hand it
// to [NewSplice] or [Unary], which do the rest. It belongs to that one call and
// is driven by one goroutine at a time; DeclaresPause, OpenContext, Outcome and
// PauseTool may be called by any.
type Call struct {
	mw      *Middleware
	caller  context.Context
	ctx     context.Context // the caller's; once guarded, inside this layer and ends with the call
	brake   brake
	request traits
	began   time.Time     // set if the caller has a deadline
	took    time.Duration // from the request to the end of turn 1, if so

	key      string              // of the session's state, "" if it lives with the call
	local    *continuation.State // the state if it lives with the call and was changed
	arrival  continuation.UserTurn
	userTurn uint64

	place  Place
	sink   Sink
	said   transcript
	turnAt int // where in the transcript this turn's text begins
	prevAt int // and the text of the turn before it

	plainFinish string // this provider's word for a plain stop, for turns that were nothing but a pause
	printed     *string
	todos       []todo.Todo
	last        *continuation.Evaluation // the last decision, or room for it; else nil
	attempt     atomic.Pointer[attempt]  // the last, if there was one
	inTurn      bool                     // a turn is under way
	declares    bool                     // todo_pause is declared in the caller's own request
	emptyUsed   bool
	known       bool // the state knows of the call
	lost        bool // the store has failed
	unread      bool // the source has failed: todos says nothing of the list
	rejections  uint8
	rejection   *rejection
	result      *pause.Result
	callbackErr error
	listeners   []listener
	notes       *notes                      // nil if there is nothing to say of background tasks
	outcome     atomic.Pointer[outcomeCell] // nil as long as the call has but begun, unless outcomes are collected
}

// storeTime is how long a store may take.
const storeTime = 5 * time.Second

// rejection is a pause whose reason will not do.
type rejection struct {
	reason string
	err    error
	answer *PauseAnswer // nil if the call was printed
}

// Begin takes note of a request that is about to be sent. It returns nil if
// carryon has nothing to do with it: then the adapter passes the call through,
// untouched; [Middleware.Passed] says why. It panics if ctx is nil.
//
// The adapter sends the request with [Call.Context].
func (mw *Middleware) Begin(ctx context.Context, r Request) *Call {
	notNil(ctx != nil, "context")
	switch reason := mw.scopeOf(ctx, &r); reason {
	case continuation.ReasonNone:
	case continuation.ReasonNested:
		return nil // the outer layer reports the call
	default:
		mw.passed(ctx, reason)
		return nil
	}
	c := &Call{
		mw: mw, caller: ctx, request: r.traits(), place: Place{Session: mw.session(ctx)}, plainFinish: "stop", ctx: ctx,
	}
	c.began = c.pace()
	if outcomes := capture(ctx); outcomes != nil {
		c.keepOutcome(outcomes.add())
	}
	if r.Reasoning {
		c.said.reasoning = new([]byte)
	}
	c.sink.keep = &c.said
	c.declares = mw.options.pauseTool == Always && !mw.options.dryRun && r.takesPause() &&
		mw.settings.For(c.place.Session).TodoContinuation
	c.arrive(&r)
	c.beginTurn(0)
	c.takeNotes()
	return c
}

// Context returns the ctx for the caller's own request. It ends with the
// caller's and with the call.
func (c *Call) Context() context.Context { return c.guarded().ctx }

// guarded gives the call a ctx of its own, which ends with it, unless it has one.
func (c *Call) guarded() *Call {
	if ctx, fresh := c.brake.tie(c.caller); fresh {
		c.ctx = ctx
	}
	return c
}

// ended reports whether the caller has ended the call, or has ended it for
// whatever else of it still runs.
func (c *Call) ended() bool { return c.caller.Err() != nil || c.brake.wasPulled() }

// OpenContext returns the ctx for a caller's own request whose answer may be
// of no interest to the call, and outlive it: it is inside this layer too, but
// ends with the caller's ctx alone.
func (c *Call) OpenContext() context.Context { return scope.EnterLayer(c.caller) }

// DeclaresPause reports whether todo_pause is to be appended to the tools of
// the caller's own request; see [Always].
func (c *Call) DeclaresPause() bool { return c.declares }

// PauseTool returns todo_pause as it is to be declared beside the caller's
// tools.
func (c *Call) PauseTool() PauseTool {
	return NewPauseTool(c.request.strictTools)
}

// arrive finds the state that the call belongs to and tells it the user turn.
func (c *Call) arrive(r *Request) {
	switch {
	case c.place.Session != "":
		c.key = c.place.Session
	case r.FirstCall != "":
		loop := continuation.LoopKey(r.loopUser(), r.FirstCall)
		c.key = "\x00loop/" + strconv.FormatUint(loop, 16)
	}
	if c.key != "" { // else there is but this call, and it is in one user turn
		c.arrival = r.userTurn(c.caller)
	}
	if err := c.enter(); err != nil {
		c.storeFailed(err)
	}
}

// enter tells the state the user turn of the call.
func (c *Call) enter() error {
	if c.key == "" {
		return nil
	}
	if c.mw.options.dryRun {
		state, err := c.peek()
		c.userTurn = state.UserTurn
		return err
	}
	return c.inStoreTime(c.ctx, func(ctx context.Context) error {
		return c.mw.apply(ctx, c.key, c.entered, &c.known)
	})
}

// entered is the state once the call has arrived, whose user turn the call
// remembers.
func (c *Call) entered(s continuation.State) continuation.State {
	s = c.arrived(s)
	c.userTurn, c.known = s.UserTurn, true
	return s
}

// arrived is the state once the call has arrived.
func (c *Call) arrived(s continuation.State) continuation.State {
	return s.Arrive(c.arrival)
}

func (c *Call) storeFailed(err error) {
	c.lost = true
	c.fault("store", err)
}

// fault reports what went wrong without costing the caller the answer.
func (c *Call) fault(op string, err error) {
	c.mw.failed(c.caller, Failed{Place: c.place, Op: op, Err: err})
}

// update changes the state of the call's session; a dry run only pretends to.
func (c *Call) update(f func(continuation.State) continuation.State) error {
	if c.key != "" && !c.mw.options.dryRun {
		_, err := c.ask(c.ctx, f)
		return err
	}
	state, err := c.peek()
	if next := f(state); next != state && !c.mw.options.dryRun {
		c.local = &next
	}
	return err
}

// ask updates the state in the store.
func (c *Call) ask(
	ctx context.Context, f func(continuation.State) continuation.State,
) (state continuation.State, err error) {
	err = c.inStoreTime(ctx, func(ctx context.Context) error {
		state, err = c.mw.update(ctx, c.key, f)
		return err
	})
	return state, err
}

// inStoreTime has the store asked within the time that it has. Too late is too
// late, also for a store that does not look at its ctx.
func (c *Call) inStoreTime(ctx context.Context, f func(context.Context) error) error {
	if c.mw.options.store == nil {
		return f(ctx) // the default one never waits
	}
	limited, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	err := f(limited)
	if err == nil && ctx.Err() == nil {
		err = limited.Err()
	}
	return err
}

// settle is update for what ends something, which must get through although
// the call may have ended.
func (c *Call) settle(f func(continuation.State) continuation.State) error {
	if c.key == "" || c.mw.options.dryRun {
		return c.update(f)
	}
	_, err := c.ask(context.WithoutCancel(c.caller), f)
	return err
}

// peek returns the state of the call's session, as the call sees it.
func (c *Call) peek() (continuation.State, error) {
	if c.local != nil {
		return *c.local, nil
	}
	if c.key == "" {
		return c.arrived(continuation.State{}), nil
	}
	state, err := c.ask(c.ctx, func(s continuation.State) continuation.State { return s })
	if c.mw.options.dryRun {
		state = c.arrived(state)
	}
	return state, err
}

// beginTurn makes the call ready to read the next turn.
func (c *Call) beginTurn(attempt int) {
	c.inTurn = true
	c.place.Turn++
	c.place.Attempt = attempt
	first := c.place.Turn == 1
	watching := !c.request.ownPause && (!first || c.declares)
	c.prevAt, c.turnAt = c.turnAt, c.said.len()
	c.printed, c.rejection = nil, nil
	c.sink.begin(c.place.Turn, watching, !first && !c.request.ownPause, c.turnAt > 0)
	if !first {
		c.note(func(o *Outcome) { o.Turns = c.place.Turn })
	}
	for _, l := range c.listeners {
		l.begin(c)
	}
}

// endTurn takes note that all of the turn has been read, and ends the
// continuation that it was, if it was one.
func (c *Call) endTurn(err error) {
	c.inTurn = false
	c.noteSeen()
	if c.place.Turn == 1 {
		c.took = c.pace().Sub(c.began)
	}
	s := &c.sink
	c.kept().addUsage(s.usage)
	c.mw.turnEnded(c.caller, TurnEnded{
		Place: c.place, Finish: s.finish, ToolCalls: s.calls.others, Usage: s.usage, Err: err,
	})
	c.endAttempt(err)
}

// pace returns the time if the caller has a deadline. Otherwise nobody asks how
// long the turn took, and to read the clock is a good part of what a call costs.
func (c *Call) pace() time.Time {
	if _, ok := c.caller.Deadline(); !ok {
		return time.Time{}
	}
	return c.mw.clock.Now()
}

// broke reports that the caller's own turn did not end as it should have.
func (c *Call) broke(err error) {
	if err != nil {
		c.sink.Fail(err)
		c.note(func(o *Outcome) { o.Err = err })
	}
	c.decide()
}

// finish ends the call. It may be called more than once.
func (c *Call) finish() {
	if c.inTurn { // only a panic leaves a turn open
		c.noteInterrupted(errPanicked)
		c.endTurn(errPanicked)
	}
	c.settleNotes()
	c.release(Place{Session: c.place.Session})
	c.note(func(o *Outcome) { o.Ended = true })
}

// interruption returns what ended the call from outside, if anything did: the
// caller's ctx, Close, or a callback that wants no more.
func (c *Call) interruption() error {
	err := c.caller.Err()
	switch {
	case c.callbackErr != nil:
		return c.callbackErr
	case err == nil && c.brake.wasPulled():
		return ErrClosed
	case err == nil:
		return nil
	}
	if cause := context.Cause(c.caller); !errors.Is(cause, err) {
		return fmt.Errorf("%w: %w", err, cause)
	}
	return err
}

// Abort ends the call because the caller's own request could not be sent or
// was refused. Adapters of streams call it where they have no stream to give
// to [NewSplice].
func (c *Call) Abort(err error) {
	c.broke(err)
	c.endTurn(err)
	c.finish()
	c.brake.pull()
}
