package asynctask

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/carryon-go/carryon/internal/scope"
)

// The times of an [AutoTrigger].
const (
	// TriggerWindow is how long after the end of a task others are waited for,
	// so that tasks that end together are told together.
	TriggerWindow = 200 * time.Millisecond
	// BusyInterval is how often a busy agent is looked at. [AutoTrigger.Idle]
	// makes that at once.
	BusyInterval = time.Second
	// RetryDelay is how long a Trigger that failed is left alone, doubled with
	// each failure in a row up to MaxRetryDelay.
	RetryDelay = 30 * time.Second
	// MaxRetryDelay is the longest of these times.
	MaxRetryDelay = 10 * time.Minute
	// MaxTriggerFailures is how many failures in a row it takes until only the
	// end of another task leads to another try.
	MaxTriggerFailures = 5
)

// Host is what an [AutoTrigger] needs of the program. All of it is called on
// the goroutine of the AutoTrigger, one at a time.
type Host struct {
	// Busy reports whether the agent is at work, so that no turn may be
	// started now. A panic counts as busy.
	Busy func() bool
	// Trigger starts a turn of the agent with the message and waits for its
	// end: nil means that the model has been told. Its ctx belongs to the
	// session, is marked as not asked for by the user (see
	// continuation.Automatic), and ends with the AutoTrigger. ErrBusy says
	// that the agent has become busy, and is no failure. While Trigger runs
	// nobody else tells of the tasks in the message.
	Trigger func(ctx context.Context, message string) error
	// OnError, if it is set, is told of errors and panics of Trigger and of
	// panics of Busy.
	OnError func(err error)
}

// AutoTrigger starts a turn of the agent when a task of one session ends while
// the agent is idle. What ends while it is busy is told when it is idle again,
// unless a request of the turn has carried it meanwhile. A failed Trigger loses
// nothing: the tasks are in the next request of the session, or in the next
// Trigger.
//
// Turns that start tasks whose ends start turns may go on for ever. A Trigger
// that returns an error is the place for a limit.
type AutoTrigger struct {
	manager *Manager
	host    Host
	session string
	cancel  context.CancelCauseFunc
	wake    chan struct{}
	done    chan struct{} // closed once the goroutine has ended

	mu        sync.Mutex
	notBefore time.Time // the end of a window, or of the time after a failure
	resting   bool      // until another task ends
	failures  int       // in a row
}

// NewAutoTrigger starts an AutoTrigger for the session of ctx, with a goroutine
// that lives until Stop, the end of ctx, or Close of the Manager. What has
// ended and was not delivered is told too. It panics if ctx has no session,
// unless there is one conversation, and if Busy or Trigger is nil.
func NewAutoTrigger(ctx context.Context, m *Manager, host Host) *AutoTrigger {
	switch {
	case m == nil:
		panic("asynctask: nil manager")
	case host.Busy == nil || host.Trigger == nil:
		panic("asynctask: a Host needs Busy and Trigger")
	}
	session := m.sessionOf(ctx)
	if session == "" && !m.options.oneConversation {
		panic("asynctask: an AutoTrigger needs a session (see continuation.WithSession)")
	}
	ctx, cancel := context.WithCancelCause(scope.Automatic(ctx))
	a := &AutoTrigger{
		manager: m, host: host, session: session, cancel: cancel,
		wake: make(chan struct{}, 1), done: make(chan struct{}),
	}
	unsubscribe := m.Subscribe(a.ended)
	if !m.join(a) {
		cancel(ErrClosed)
		unsubscribe()
		close(a.done)
		return a
	}
	go a.run(ctx, unsubscribe)
	return a
}

// Idle says that the agent has become idle. It is not needed, but quicker than
// to be asked.
func (a *AutoTrigger) Idle() {
	select {
	case a.wake <- struct{}{}:
	default: // it is awake already
	}
}

// Stop ends the AutoTrigger, the ctx of a Trigger that is running, and waits
// until that has returned. If ctx ends first it returns the cause of that,
// wrapped. It may be called more than once; from Trigger or Busy it waits for
// itself, until ctx ends.
func (a *AutoTrigger) Stop(ctx context.Context) error {
	if ctx == nil {
		panic("asynctask: nil context")
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
		return fmt.Errorf("asynctask: stopping the auto-trigger: %w", context.Cause(ctx))
	}
}

// forever is a wait that only a wake ends.
const forever = time.Duration(-1)

func (a *AutoTrigger) run(ctx context.Context, unsubscribe func()) {
	defer a.manager.leave()
	defer close(a.done)
	defer a.manager.retire(a)
	defer unsubscribe()
	defer a.cancel(ErrStopped)
	for wait := time.Duration(0); a.sleep(ctx, wait); {
		wait = a.step(ctx)
	}
}

// join has Close stop the AutoTrigger and wait for it, unless that is over.
func (m *Manager) join(a *AutoTrigger) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return false
	}
	m.triggers[a] = struct{}{}
	m.goroutines++
	return true
}

// retire undoes join, but for the goroutine.
func (m *Manager) retire(a *AutoTrigger) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.triggers, a)
}

// ended takes note of a task that has ended.
func (a *AutoTrigger) ended(t Task) {
	if t.Session != a.session {
		return
	}
	now := a.manager.clock.Now()
	a.mu.Lock()
	a.resting = false
	if a.notBefore.Before(now) {
		a.notBefore = now.Add(TriggerWindow)
	}
	a.mu.Unlock()
	a.Idle()
}

// sleep waits, and reports whether the AutoTrigger is still to go on.
func (a *AutoTrigger) sleep(ctx context.Context, wait time.Duration) bool {
	if wait == 0 {
		return ctx.Err() == nil
	}
	if wait != forever {
		timer := a.manager.clock.AfterFunc(wait, a.Idle)
		defer timer.Stop()
	}
	select {
	case <-a.wake:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

// step does what is to be done now, and returns how long to wait after it.
func (a *AutoTrigger) step(ctx context.Context) time.Duration {
	news, free := a.manager.news(a.session)
	a.mu.Lock()
	wait, resting := a.notBefore.Sub(a.manager.clock.Now()), a.resting
	a.mu.Unlock()
	switch {
	case !news || resting:
		return forever
	case wait > 0:
		return wait
	case !free || a.busy(): // what somebody else is telling may come back
		return BusyInterval
	}
	return a.fire(ctx)
}

// fire tells what there is to tell.
func (a *AutoTrigger) fire(ctx context.Context) time.Duration {
	r := a.manager.claim(a.session)
	if r == nil {
		return BusyInterval // somebody was quicker
	}
	defer r.Release()
	err := a.guard(func() error { return a.host.Trigger(ctx, r.Text()) })
	switch {
	case err == nil:
		r.Ack()
		a.mu.Lock()
		a.failures = 0
		a.mu.Unlock()
		return 0
	case errors.Is(err, ErrBusy):
		return BusyInterval
	}
	a.fail()
	return 0
}

// fail puts the next try off.
func (a *AutoTrigger) fail() {
	now := a.manager.clock.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	delay := RetryDelay
	for range a.failures {
		delay = min(2*delay, MaxRetryDelay)
	}
	a.notBefore = now.Add(delay)
	a.failures = min(a.failures+1, MaxTriggerFailures)
	a.resting = a.failures == MaxTriggerFailures
}

func (a *AutoTrigger) busy() bool {
	busy := true
	_ = a.guard(func() error { busy = a.host.Busy(); return nil }) // guard has told
	return busy
}

// guard runs f, turns a panic into an error, and tells the host of errors.
func (a *AutoTrigger) guard(f func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &PanicError{Value: value, Stack: debug.Stack()}
		}
		if err == nil || errors.Is(err, ErrBusy) || a.host.OnError == nil {
			return
		}
		defer func() { _ = recover() }() // there is nobody left to tell
		a.host.OnError(err)
	}()
	return f()
}

// news reports whether tasks of the session have ended and were not delivered,
// and whether there may be some that nobody is telling of.
func (m *Manager) news(session string) (some, free bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.look(session)
	if s == nil {
		return false, false
	}
	return len(s.news) > 0, s.hasFree(m.clock)
}

// claim returns a reminder of what nobody is telling, held until it is given
// up, nil if there is nothing.
func (m *Manager) claim(session string) *Reminder {
	m.mu.Lock()
	s := m.look(session)
	if s == nil {
		m.mu.Unlock()
		return nil
	}
	r, words := m.lease(s, m.clock.Now(), time.Time{})
	m.mu.Unlock()
	if len(r.tasks) == 0 {
		return nil
	}
	r.text = words.text()
	return r
}
