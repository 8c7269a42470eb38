package asynctask

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/carryon-go/carryon/internal/clock"
	"github.com/carryon-go/carryon/internal/guard"
	"github.com/carryon-go/carryon/records"
)

// Func is the work of a task. Its ctx has the values of the ctx that started the task,
// and is cancelled when the task is cancelled. A Func must honour its ctx: until it
// returns, it keeps its slot under the limit, and Close waits for it. If it returns an
// error, the task has failed, and the Output is ignored.
type Func func(ctx context.Context) (*Output, error)

// Manager runs tasks in the background of conversations and keeps account of them; see
// the package documentation. It is safe for concurrent use. Use [NewManager]: the zero
// value is not ready.
//
// Every method with a ctx panics if the ctx is nil. With [WithRecords], each of them
// may return an error of the engine.
type Manager struct {
	lifecycle   *lifecycle
	accounts    *accounts
	runner      *runner
	subscribers *subscribers
	poller      *poller

	summaryInSystem bool
}

// NewManager returns a Manager without tasks. It starts no goroutine. It panics if an
// option is invalid.
func NewManager(opts ...Option) *Manager {
	o, err := newOptions(opts)
	if err != nil {
		panic("carryon/" + err.Error())
	}
	l := &lifecycle{
		accounts:    &accounts{store: o.store(), rules: o.rules, oneConversation: o.oneConversation},
		runner:      newRunner(o.limit, o.rules.limit),
		subscribers: &subscribers{onError: o.onError},
		clock:       o.clock,
		retention:   o.retention,
	}
	l.accounts.lost = l.lost
	l.poller = &poller{lifecycle: l, isShared: o.engine != nil, watches: map[string][]*watch{}}
	l.poller.notifier, _ = o.engine.(records.Notifier)
	return &Manager{
		lifecycle: l, accounts: l.accounts, runner: l.runner, subscribers: l.subscribers, poller: l.poller,
		summaryInSystem: o.summaryInSystem,
	}
}

// Start runs f as a task in the session of ctx, on a goroutine of its own. The task
// goes on when ctx ends. If f panics, the task fails with a *middleware.PanicError.
//
// The name is for people and models. White space in it is collapsed, and it is cut to
// 100 characters. The error is [ErrInvalid] if the name is blank, or [ErrLimit],
// [ErrClosed] or the engine's error. Start panics if f is nil.
func (m *Manager) Start(ctx context.Context, name string, f Func) (Ticket, error) {
	return m.lifecycle.start(ctx, name, f)
}

// Begin records a task in the session of ctx that runs elsewhere: in another process,
// or under the program's own control. It returns a ticket that names the task there.
// The task ends with Finish, Fail or Cancel; a worker can call Attach.
//
// The id must be unique in the session. It has up to 128 printable ASCII characters
// without spaces, double quotes and backslashes. It can be used again once the ended
// task is no longer kept. The name is as in Start. The error is [ErrInvalid],
// [ErrDuplicate], [ErrLimit], [ErrClosed] or the engine's error.
func (m *Manager) Begin(ctx context.Context, id, name string) (Ticket, error) {
	return m.lifecycle.begin(ctx, id, name)
}

// Attach connects the caller's work to the task of the ticket, which another process
// may have begun. It returns a ctx that is cancelled when the given ctx ends, when any
// process ends or cancels the task, and when the Manager is closed. After a
// cancellation, its cause is [ErrCancelled].
//
// Until detach is called, the task does not count as lost; see [WithTaskLife]. The
// caller must call detach. That does not end the task.
//
// The error is [ErrUnknown], [ErrEnded], [ErrClosed] or the engine's error.
func (m *Manager) Attach(ctx context.Context, t Ticket) (own context.Context, detach func(), err error) {
	requireContext(ctx)
	t.Session = m.accounts.key(t.Session)
	own, cancel := context.WithCancelCause(ctx)
	j := &job{ticket: t, cancel: cancel, begun: true}
	err = m.runner.attach(j)
	if err == nil {
		err = m.requireRunning(ctx, t)
	}
	detach = func() {
		m.runner.detach(j)
		cancel(context.Canceled)
	}
	if err != nil {
		detach()
		return nil, nil, err
	}
	m.poller.start()
	return own, detach, nil
}

func (m *Manager) requireRunning(ctx context.Context, t Ticket) error {
	task, err := m.Get(ctx, t)
	if err == nil && task.State != Running {
		return fmt.Errorf("%w: %s is %s", ErrEnded, t.ID, task.State)
	}
	return err
}

// Finish ends a task as completed with its output, which may be nil. The error is
// [ErrUnknown], or [ErrEnded] if the task has already ended; a job that may run twice
// can treat that as success.
//
// Finish, Fail and Cancel may be called in any process that shares the engine. They are
// for tasks of Begin. They also end a task of Start early: its ctx is cancelled, and
// the result of its function is ignored.
func (m *Manager) Finish(ctx context.Context, t Ticket, output *Output) error {
	return m.lifecycle.end(ctx, t, completed(output), context.Canceled)
}

// FinishIn is Finish as part of a change that the program makes itself, for example in
// a transaction: engine takes the place of the engine of [WithRecords], and must have
// the same prefix. Call committed once the change is made, so that those in this
// process who wait for the task learn of it at once.
func (m *Manager) FinishIn(ctx context.Context, engine records.Records, t Ticket, output *Output) (committed func(), err error) {
	return m.lifecycle.endIn(ctx, engine, t, completed(output))
}

// Fail ends a task as failed with err. The model is told the text of err. Fail returns
// the same errors as Finish.
func (m *Manager) Fail(ctx context.Context, t Ticket, err error) error {
	return m.lifecycle.end(ctx, t, failed(err), context.Canceled)
}

// Cancel cancels a task: its ctx is cancelled, with [ErrCancelled] as the cause. Cancel
// does not wait for the task's function. It returns the same errors as Finish.
func (m *Manager) Cancel(ctx context.Context, t Ticket) error {
	return m.lifecycle.end(ctx, t, cancelled(), ErrCancelled)
}

// Forget cancels the session's running tasks and removes everything else that is kept
// about it, delivered or not. It is for conversations that are over.
func (m *Manager) Forget(ctx context.Context, session string) error {
	requireContext(ctx)
	if m.accounts.isSilent(session) {
		return nil
	}
	var ended []record
	err := m.accounts.update(ctx, session, func(now time.Time, a account, rules rules) (account, error) {
		a, ended = a.endEach(func(*record) bool { return true }, cancelled(), now, rules)
		return a.forget(), nil
	})
	if err == nil {
		m.lifecycle.endedEach(ctx, session, ended, ErrCancelled)
	}
	return err
}

// Close ends the Manager: nothing can be started any more, the tasks of its functions
// are cancelled, the ctx of each Attach is cancelled with [ErrClosed], and each
// AutoTrigger is stopped. Close waits until their goroutines have ended. If ctx ends first, Close returns an error that wraps the cause of ctx and gives the number of
// remaining goroutines; it may be called again. Tasks of Begin go on, and ended tasks
// can still be delivered and looked up.
//
// If processes share the engine, the tasks of the cancelled functions fail with
// ErrClosed instead of being cancelled, so that another process tells the model.
//
// Do not call Close from a task's function or a subscriber: it would wait for itself
// until ctx ends.
func (m *Manager) Close(ctx context.Context) error {
	requireContext(ctx)
	var failure error
	m.runner.close()
	for _, j := range m.runner.open() {
		failure = errors.Join(failure, m.shut(ctx, j))
	}
	return errors.Join(failure, m.runner.wait(ctx))
}

// shut ends the work of a job, and the task of a function.
func (m *Manager) shut(ctx context.Context, j *job) error {
	defer j.cancel(ErrClosed)
	if !j.isFunction {
		m.runner.detach(j)
		return nil
	}
	result := m.lifecycle.closing()
	if _, unsettled := m.runner.progress(j); unsettled != nil {
		return m.lifecycle.retryEnd(ctx, j, unsettled)
	}
	if err := m.lifecycle.end(ctx, j.ticket, result, ErrClosed); !isOver(err) { // it may be about to begin, and will see the Close then
		return err
	}
	return nil
}

// lifecycle begins and ends tasks: in the account, in this process, and for
// subscribers and watchers.
type lifecycle struct {
	accounts    *accounts
	runner      *runner
	subscribers *subscribers
	poller      *poller
	clock       clock.Clock
	retention   time.Duration // of accounts
}

// start starts a task.
func (l *lifecycle) start(ctx context.Context, name string, f Func) (Ticket, error) {
	if f == nil {
		panic("carryon/asynctask: nil function")
	}
	j := &job{ticket: Ticket{Session: l.accounts.session(ctx), ID: newID()}, isFunction: true, done: make(chan struct{})}
	own, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	j.cancel = cancel
	if err := l.runner.add(j); err != nil {
		return Ticket{}, err
	}
	if err := l.record(ctx, j.ticket, name, l.poller.ownerLife()); err != nil {
		l.runner.refused(j)
		if !isRefusal(err) { // the engine may have stored it anyway, and nobody else knows its id
			_, _ = l.accounts.end(context.WithoutCancel(ctx), j.ticket, cancelled())
		}
		return Ticket{}, err
	}
	l.runner.began(j)
	if own.Err() != nil || l.runner.isClosed() { // Close ran in between, too early to end the task
		_ = l.end(context.WithoutCancel(ctx), j.ticket, l.closing(), ErrClosed)
	}
	l.poller.start()
	go l.run(own, j, f)
	return j.ticket, nil
}

// begin begins a task that runs elsewhere.
func (l *lifecycle) begin(ctx context.Context, id, name string) (Ticket, error) {
	if err := checkID(id); err != nil {
		return Ticket{}, err
	}
	if l.runner.isClosed() {
		return Ticket{}, ErrClosed
	}
	t := Ticket{Session: l.accounts.session(ctx), ID: id}
	if err := l.record(ctx, t, name, l.accounts.rules.life); err != nil {
		return Ticket{}, err
	}
	return t, nil
}

// record records the task of the ticket in the account.
func (l *lifecycle) record(ctx context.Context, t Ticket, name string, life time.Duration) error {
	name, err := cleanName(name)
	if err != nil {
		return err
	}
	return l.accounts.updateLive(ctx, t.Session, func(now time.Time, a account, rules rules) (account, error) {
		return a.begin(record{ID: t.ID, Name: name, Until: until(now, life)}, now, rules)
	})
}

// isRefusal reports whether the account, and not the engine, refused a task.
func isRefusal(err error) bool {
	for _, refusal := range []error{ErrInvalid, ErrDuplicate, ErrLimit} {
		if errors.Is(err, refusal) {
			return true
		}
	}
	return false
}

// run runs the function of a task, on the task's own goroutine.
func (l *lifecycle) run(ctx context.Context, j *job, f Func) {
	defer l.runner.workerEnded()
	output, err := (*Output)(nil), errExited
	defer func() { l.returned(ctx, j, output, err) }() // even if f ends the goroutine
	err = guard.Run(func() (err error) { output, err = f(ctx); return err })
}

// returned ends the task of a function that has returned, unless it has already
// ended. If the engine fails, another try follows later.
func (l *lifecycle) returned(ctx context.Context, j *job, output *Output, err error) {
	r := completed(output)
	if err != nil {
		r = failed(err)
	}
	ctx = context.WithoutCancel(ctx)
	ended, err := l.accounts.end(ctx, j.ticket, r)
	switch {
	case err == nil:
		t := ended.view(j.ticket.Session)
		l.runner.returned(j, t, nil) // first, because a subscriber may start the next task
		l.announce(ctx, t)
	case isOver(err):
		l.runner.returned(j, Task{}, nil)
	default:
		l.runner.returned(j, Task{}, r)
		l.subscribers.report(err)
	}
}

// retryEnd tries again to end the task of a function that has returned.
func (l *lifecycle) retryEnd(ctx context.Context, j *job, r *result) error {
	err := l.end(ctx, j.ticket, r, context.Canceled)
	if isOver(err) {
		l.runner.detach(j)
		return nil
	}
	return err
}

// end ends a task, and its ctx with this cause.
func (l *lifecycle) end(ctx context.Context, t Ticket, r *result, cause error) error {
	t.Session = l.accounts.key(t.Session)
	ended, err := l.accounts.end(ctx, t, r)
	if err == nil {
		l.ended(ctx, t.Session, ended, cause)
	}
	return err
}

// endIn ends a task in another engine than that of the accounts, and returns the
// function that reports it in this process.
func (l *lifecycle) endIn(ctx context.Context, engine records.Records, t Ticket, r *result) (committed func(), err error) {
	if engine == nil {
		panic("carryon/asynctask: nil engine")
	}
	t.Session = l.accounts.key(t.Session)
	there := *l.accounts
	there.store = newSharedStore(engine, l.retention)
	ended, err := there.end(ctx, t, r)
	if err != nil {
		return nil, err
	}
	return func() { l.ended(context.WithoutCancel(ctx), t.Session, ended, context.Canceled) }, nil
}

// closing returns the result of functions that Close cancels. If the account outlives
// the process, they fail, so that the model is told.
func (l *lifecycle) closing() *result {
	if l.poller.isShared {
		return failed(ErrClosed)
	}
	return cancelled()
}

// lost reports tasks that ended because they were lost.
func (l *lifecycle) lost(ctx context.Context, session string, ended []record) {
	l.endedEach(ctx, session, ended, ErrOwnerLost)
}

func (l *lifecycle) endedEach(ctx context.Context, session string, ended []record, cause error) {
	for _, r := range ended {
		l.ended(ctx, l.accounts.key(session), r, cause)
	}
}

// ended reports an ended task in this process and to the others.
func (l *lifecycle) ended(ctx context.Context, session string, r record, cause error) {
	t := r.view(session)
	l.runner.ended(t, cause)
	l.announce(ctx, t)
}

func (l *lifecycle) announce(ctx context.Context, t Task) {
	l.subscribers.notify(t)
	l.poller.ended(ctx, t.Session, t.Ended)
}

// isOver reports whether a task could not be ended because it has already ended and
// may be gone.
func isOver(err error) bool { return errors.Is(err, ErrEnded) || errors.Is(err, ErrUnknown) }
