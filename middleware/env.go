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
	"github.com/carryon-go/carryon/internal/automatic"
	"github.com/carryon-go/carryon/internal/clock"
	"github.com/carryon-go/carryon/internal/engine"
	"github.com/carryon-go/carryon/internal/handback"
	"github.com/carryon-go/carryon/internal/reading"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/scope"
	"github.com/carryon-go/carryon/todo"
)

// callEnv is what stays the same for a whole call: its request, its session, what
// ends it, and its outcome.
type callEnv struct {
	mw      *Middleware
	request traits
	cancel  canceller
	session sessionHandle

	observed *observation // nil without observers

	answer *engine.Answer

	claim   atomic.Pointer[claim]       // of the last continuation, if there was one
	outcome atomic.Pointer[outcomeCell] // nil as long as there is nothing to record
}

// interruption returns the error with which the caller, or a callback that failed,
// ended the call, or nil.
func (e *callEnv) interruption() error {
	if err := e.cancel.callbackFailure(); err != nil {
		return err
	}
	return e.cancel.interruption()
}

// What the program has set, and what the calls of a Middleware share.

func (e *callEnv) options() *options          { return &e.mw.options }
func (e *callEnv) rules() *callRules          { return e.session.rules }
func (e *callEnv) source() *todoSource        { return &e.mw.source }
func (e *callEnv) drain() *drain              { return e.mw.drain }
func (e *callEnv) timeouts() *engine.Timeouts { return e.answer.Timeouts }
func (e *callEnv) now() time.Time             { return e.mw.options.clock.Now() }

// reporter returns what tells the observers.
func (e *callEnv) reporter() *reporter { return &e.mw.options.reporter }

// reportFailure reports a failure that does not cost the caller the answer.
func (e *callEnv) reportFailure(id continuation.TurnID, op string, err error) {
	emit(e.cancel.caller, e.reporter(), Failed{TurnID: id, Op: op, Err: err})
}

// reportFailureOnce is reportFailure for the store and the background tasks, whose failures are
// reported once, until they work again.
func (e *callEnv) reportFailureOnce(id continuation.TurnID, op string, err error) {
	if err != nil && isUnreported(err) {
		e.reportFailure(id, op, err)
	}
}

// askTasks asks the background tasks a question. Tasks that are asked over a network
// share the time limit of the store, and are not asked for some seconds after a failure.
func (e *callEnv) askTasks(ctx context.Context, question func(context.Context) error) error {
	if !e.options().sharedTasks {
		return question(ctx)
	}
	if !e.mw.tasks.Allows(&e.session.remoteBudget, e.options().clock) {
		return errTasksSkipped
	}
	return e.askSharedTasks(ctx, question)
}

func (e *callEnv) askSharedTasks(ctx context.Context, question func(context.Context) error) error {
	limited, done := e.session.limitWait(ctx)
	defer done()
	watch := e.options().watch()
	err := question(limited)
	took, recovered := watch.read(), false
	switch {
	case err == nil:
		recovered = e.mw.tasks.Answered()
	case ctx.Err() == nil: // else it is the caller's doing
		if limited.Err() != nil {
			e.session.remoteBudget.End()
		}
		err = e.mw.tasks.Failed(e.now(), err)
	}
	if watch.runs() {
		id := continuation.TurnID{Session: e.session.name()}
		emit(ctx, e.reporter(), Answered{TurnID: id, Op: opTasks, Took: took, Err: err, Recovered: recovered})
	}
	return err
}

// storeFailed reports a failure of the store, after which nothing is continued.
func (e *callEnv) storeFailed(id continuation.TurnID, err error) {
	e.session.failure = err
	e.reportFailureOnce(id, opStore, err)
}

// storeReason returns the reason for not continuing a call whose store has failed with err.
func storeReason(err error) continuation.Reason {
	if errors.Is(err, errStoreSkipped) {
		return reasons.StoreSkipped
	}
	return reasons.Store
}

// hasShortLoop reports whether the call may have only one continuation in a row; see
// [adapter.Request].ShortLoop.
func (e *callEnv) hasShortLoop() bool { return e.request.shortLoop && !e.session.rules.attemptsSet }

// firstOutcome is the outcome of a call that has only begun.
func (e *callEnv) firstOutcome() Outcome {
	return Outcome{Session: e.session.name(), Turns: 1, DryRun: e.session.rules.DryRun, Holdout: e.session.heldOut}
}

// record changes the outcome.
func (e *callEnv) record(f func(*Outcome)) { e.outcomeCell().edit(f) }

// outcomeCell returns the cell that holds the outcome, and makes it if necessary.
func (e *callEnv) outcomeCell() *outcomeCell {
	if e.outcome.Load() == nil {
		e.outcome.Store(&outcomeCell{o: e.firstOutcome()})
	}
	return e.outcome.Load()
}

// withRequest returns ctx with what a todo source may read of the request: the
// conversation and the names of the tools.
func (e *callEnv) withRequest(ctx context.Context) context.Context {
	if e.request.history != nil {
		ctx = todo.WithConversation(ctx, reading.CallsOf(e.request.history))
	}
	if e.request.toolNames != nil {
		ctx = scope.WithTools(ctx, e.request.toolNames.ToolNames)
	}
	return ctx
}

// hasWrittenList reports whether the session has written the list in the user turn of
// the call, as far as this process knows.
func (e *callEnv) hasWrittenList() bool {
	return e.session.listWritten || e.session.name() != "" && e.mw.source.writings.isIn(e.session.name(), e.session.userTurn)
}

// traits are the parts of a request that are needed until the end of its call.
type traits struct {
	ownPause    bool
	strictTools bool
	takesPause  bool // todo_pause may be added
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

// offersTools reports whether the request has tools, as far as that is known.
func (t *traits) offersTools() bool {
	if t.toolNames == nil {
		return true
	}
	for range t.toolNames.ToolNames {
		return true
	}
	return false
}

// callsTools reports whether the model has called tools since the user's last message.
func (t *traits) callsTools() bool { return hasCalls(t.history) }

// traitsOf returns the traits of a request. To a request with a fixed prefix,
// nothing is joined. A request without tools never gets a first one: some models
// reject any tool.
func traitsOf(r *adapter.Request) traits {
	if r.FixedPrefix {
		r.Attachable = nil
	}
	return traits{
		ownPause: r.OwnPause, strictTools: r.StrictTools,
		takesPause: !r.OwnPause && r.Tools > 0 && r.Tools < maxTools,
		shortLoop:  r.ShortLoop, noSeparator: r.NoSeparator,
		shortMessage: handback.AnswersOnly(automatic.Own(r.User)),
		size:         max(0, min(r.Size, math.MaxInt/2)),
		messages:     int32(min(r.Messages, math.MaxInt32)), system: int32(min(r.System, math.MaxInt32)), //nolint:gosec // in range
		attachable: r.Attachable, history: r.History,
		toolNames: r.ToolNames,
	}
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

	callback atomic.Pointer[error] // with which a callback of the caller's failed
}

// callbackFailed records the error of a callback.
func (c *canceller) callbackFailed(err error) { c.callback.Store(&err) }

// callbackFailure returns the error of a callback, or nil.
func (c *canceller) callbackFailure() error {
	if err := c.callback.Load(); err != nil {
		return *err
	}
	return nil
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
func (c *canceller) wait(program context.Context, clock clock.Clock, d time.Duration) bool {
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
