// Package autotrigger starts a turn of an agent when a background task ends
// while the agent is idle.
package autotrigger

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/internal/clock"
	"github.com/carryon-go/carryon/internal/delivery"
	"github.com/carryon-go/carryon/internal/guard"
	"github.com/carryon-go/carryon/internal/scope"
)

// The times of an [AutoTrigger].
const (
	// window is how long after the end of a task the AutoTrigger waits for others, so
	// that one message reports tasks that end together.
	window = 200 * time.Millisecond
	// busyInterval is how often a busy agent is asked again.
	busyInterval = time.Second
	// retryDelay is the wait after a failed Trigger. It doubles with each failure in
	// a row, up to maxRetryDelay.
	retryDelay = 30 * time.Second
	// maxRetryDelay is the longest wait after a failed Trigger.
	maxRetryDelay = 10 * time.Minute
	// maxFailures is how many failures in a row end the retries. The end of another
	// task then leads to another try.
	maxFailures = 5
)

var (
	// ErrBusy is for [Host.Trigger] to return if the agent has become busy.
	ErrBusy = errors.New("autotrigger: the agent is busy")
	// ErrStopped is the cause of the ctx of a [Host.Trigger] that was stopped.
	ErrStopped = errors.New("autotrigger: stopped")
)

// Host is what an [AutoTrigger] needs of the program. The AutoTrigger calls its
// functions on its own goroutine, one at a time.
type Host struct {
	// Busy reports whether the agent is at work, so that no turn may be started now.
	// A panic counts as busy.
	Busy func() bool
	// Trigger starts a turn of the agent with the message and waits for its end; it
	// returns nil if the model has been told. Its ctx belongs to the session, is
	// marked as not started by the user (see continuation.Automatic), and ends with
	// the AutoTrigger. Trigger returns ErrBusy if the agent has become busy, which is
	// not a failure. While it runs, nothing else tells the model about the tasks in
	// the message.
	Trigger func(ctx context.Context, message string) error
	// OnError, if it is set, receives errors and panics of Trigger, panics of Busy,
	// and errors of the engine that keeps the tasks.
	OnError func(err error)
}

// AutoTrigger starts a turn of the agent when a task of one session ends, in this
// process or in another one, while the agent is idle. If a task ends while the agent
// is busy, the AutoTrigger reports it when the agent is idle again, unless a request
// of the turn has reported it by then. Tasks that end within 200 milliseconds share one
// message. A busy agent is asked again every second, or at once by Idle.
//
// A failed Trigger loses nothing: the next request of the session, or the next Trigger,
// reports the tasks. It is tried again after 30 seconds. The wait doubles with each
// failure in a row, up to ten minutes. After five failures, only the end of another task
// leads to another try.
//
// Turns that start tasks whose ends start turns may go on forever. To limit them, let
// Trigger return an error.
type AutoTrigger struct {
	tasks   delivery.Tasks
	host    Host
	clock   clock.Clock
	session string
	cancel  context.CancelCauseFunc
	wake    chan struct{}
	ended   atomic.Bool   // a task of the session has ended since the last look
	done    chan struct{} // closed once the goroutine has ended

	// Used only by the goroutine.
	notBefore time.Time // the end of a window, or of the delay after a failure
	resting   bool      // no retry until another task ends
	failures  int       // in a row
}

// New starts an AutoTrigger for the session of ctx, with a goroutine that runs until
// Stop, the end of ctx, or Close of the manager. It also reports tasks that ended
// before and were not delivered. It panics if ctx has no session, unless the manager
// has WithOneConversation, and if tasks, Busy or Trigger is nil.
func New(ctx context.Context, tasks *asynctask.Manager, host Host) *AutoTrigger {
	if tasks == nil {
		panic("carryon/asynctask/autotrigger: nil tasks")
	}
	if host.Busy == nil || host.Trigger == nil {
		panic("carryon/asynctask/autotrigger: a Host needs Busy and Trigger")
	}
	a := &AutoTrigger{tasks: tasks.Deliveries(), host: host, wake: make(chan struct{}, 1), done: make(chan struct{})}
	a.clock = a.tasks.Clock()
	var delivered bool
	a.session, delivered = a.tasks.Session(ctx)
	if !delivered {
		panic("carryon/asynctask/autotrigger: an AutoTrigger needs a session (see continuation.WithSession)")
	}
	ctx, a.cancel = context.WithCancelCause(scope.Automatic(ctx))
	unwatch := a.tasks.Watch(a.session, func() {
		a.ended.Store(true)
		a.Idle()
	})
	leave, err := a.tasks.Join(a.cancel)
	if err != nil {
		a.cancel(err)
		unwatch()
		close(a.done)
		return a
	}
	go a.run(ctx, unwatch, leave)
	return a
}

// Idle reports that the agent has become idle, so that the AutoTrigger need not wait
// to ask again. It is optional.
func (a *AutoTrigger) Idle() {
	select {
	case a.wake <- struct{}{}:
	default: // it is already awake
	}
}

// Stop ends the AutoTrigger and the ctx of a running Trigger, and waits until that
// Trigger has returned. If ctx ends first, Stop returns an error that wraps its
// cause. It may be called more than once. Called from Trigger or Busy, it waits for
// itself until ctx ends.
func (a *AutoTrigger) Stop(ctx context.Context) error {
	if ctx == nil {
		panic("carryon/asynctask/autotrigger: nil context")
	}
	a.cancel(ErrStopped)
	select {
	case <-a.done:
		return nil
	default:
	}
	select {
	case <-a.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("autotrigger: stopping: %w", context.Cause(ctx))
	}
}

// forever is a wait that only Idle or the end of ctx ends.
const forever = time.Duration(-1)

func (a *AutoTrigger) run(ctx context.Context, unwatch, leave func()) {
	defer leave()
	defer close(a.done)
	defer unwatch()
	defer a.cancel(ErrStopped)
	for ctx.Err() == nil {
		a.sleep(ctx, a.step(ctx))
	}
}

// sleep waits that long, until Idle, or until ctx ends.
func (a *AutoTrigger) sleep(ctx context.Context, wait time.Duration) {
	if wait != forever {
		defer a.clock.AfterFunc(wait, a.Idle).Stop()
	}
	select {
	case <-a.wake:
	case <-ctx.Done():
	}
}

// step starts a turn if it is time to, and returns how long to wait after it. If a
// task has ended, it opens a window, unless one is open.
func (a *AutoTrigger) step(ctx context.Context) time.Duration {
	now := a.clock.Now()
	if a.ended.Swap(false) {
		a.resting = false
		if a.notBefore.Before(now) {
			a.notBefore = now.Add(window)
		}
	}
	var work delivery.Pending
	err := a.guard(func() (err error) { work, err = a.tasks.Pending(ctx, a.session, 0); return err })
	switch {
	case err != nil:
		return a.delay()
	case work.Undelivered == 0 || a.resting:
		return forever
	case now.Before(a.notBefore):
		return a.notBefore.Sub(now)
	case work.Unclaimed == 0 || a.busy(): // a delivery of somebody else may fail
		return busyInterval
	}
	return a.fire(ctx)
}

// fire starts a turn that reports the ended tasks.
func (a *AutoTrigger) fire(ctx context.Context) (wait time.Duration) {
	var d *delivery.Delivery
	err := a.guard(func() (err error) { d, err = a.tasks.Remind(ctx, a.session); return err })
	switch {
	case err != nil:
		return a.delay()
	case d == nil || len(d.Tasks) == 0:
		return busyInterval // somebody was quicker
	}
	outcome := delivery.Unread
	defer func() { // even if Trigger ends the goroutine
		settle := func() error { return a.tasks.Settle(context.WithoutCancel(ctx), d, outcome) }
		if a.guard(settle) != nil {
			wait = a.delay()
		}
	}()
	renewing, stop := context.WithCancel(ctx)
	defer stop()
	a.renewLater(renewing, d)
	err = a.guard(func() error { return a.host.Trigger(ctx, d.Text) })
	switch {
	case err == nil:
		outcome, a.failures = delivery.Delivered, 0
		a.Idle() // other tasks may have ended meanwhile
		return forever
	case errors.Is(err, ErrBusy):
		return busyInterval
	}
	return a.delay()
}

// renewLater keeps the lease of a delivery from lapsing until ctx ends. If a renewal
// fails, somebody else may report the tasks.
func (a *AutoTrigger) renewLater(ctx context.Context, d *delivery.Delivery) {
	a.clock.AfterFunc(delivery.Life/2, func() {
		if ctx.Err() == nil {
			_ = a.tasks.Renew(ctx, d)
			a.renewLater(ctx, d)
		}
	})
}

// delay puts off the next try, and returns for how long.
func (a *AutoTrigger) delay() time.Duration {
	delay := min(retryDelay<<a.failures, maxRetryDelay)
	a.notBefore = a.clock.Now().Add(delay)
	a.failures = min(a.failures+1, maxFailures)
	a.resting = a.failures == maxFailures
	if a.resting {
		return forever
	}
	return delay
}

func (a *AutoTrigger) busy() bool {
	busy := true
	_ = a.guard(func() error { busy = a.host.Busy(); return nil }) // guard reports it
	return busy
}

// guard runs f, turns a panic into an error, and gives errors to the host. A panic of
// OnError is dropped.
func (a *AutoTrigger) guard(f func() error) error {
	err := guard.Run(f)
	if err != nil && !errors.Is(err, ErrBusy) && a.host.OnError != nil {
		_ = guard.Run(func() error { a.host.OnError(err); return nil })
	}
	return err
}
