package asynctask

import (
	"context"
	"errors"
	"fmt"

	"github.com/carryon-go/carryon/records"
)

// Func is the work of a task. Its ctx has the values of the ctx that started the
// task, and ends when the task is cancelled. It must honour ctx: until it returns, it
// keeps its place under the limit, and Close waits for it. If it returns an error,
// the task has failed and the Output is dropped.
type Func func(ctx context.Context) (*Output, error)

// Manager runs tasks in the background of conversations and keeps account of them;
// see the package documentation. It is safe for concurrent use. Use NewManager: the
// zero value is not ready.
//
// With [WithRecords], every method with a ctx may return an error of the engine. All
// of them panic if ctx is nil.
type Manager struct {
	lifecycle
}

// NewManager returns a Manager without tasks. It starts nothing. It panics if an
// option is not valid.
func NewManager(opts ...Option) *Manager {
	o, err := newOptions(opts)
	if err != nil {
		panic("carryon/" + err.Error())
	}
	m := &Manager{lifecycle{
		accounts:    &accounts{store: o.store(), rules: o.rules, oneConversation: o.oneConversation},
		runner:      newRunner(o.limit, o.rules.limit),
		subscribers: &subscribers{onError: o.onError},
		clock:       o.clock,
		retention:   o.retention,
	}}
	m.accounts.lost = m.lost
	m.lookout = &lookout{lifecycle: &m.lifecycle, isShared: o.engine != nil, watches: map[string][]*watch{}}
	m.lookout.notifier, _ = o.engine.(records.Notifier)
	return m
}

// Start runs f as a task of the session of ctx, on a goroutine of its own. The end of
// ctx does not end the task. If f panics, the task fails with a *PanicError.
//
// The name is for people and models: white space in it is collapsed, and it is cut to
// 100 characters. Start fails with ErrInvalid if the name is blank, and with
// ErrLimit, ErrBacklog, ErrClosed or the engine's error. It panics if f is nil.
func (m *Manager) Start(ctx context.Context, name string, f Func) (Ticket, error) {
	return m.start(ctx, nil, name, f)
}

// Begin records a task of the session of ctx that runs elsewhere: in another process,
// or under the program's own control. The ticket names the task there. Finish, Fail
// or Cancel end it; a worker can call Attach.
//
// The id names the task in its session; it has up to 128 ASCII letters, digits and
// signs, but no quotes and no backslash. It can be used again once the ended task is
// no longer kept. The name is as in Start. Begin fails with ErrInvalid, ErrDuplicate,
// ErrLimit, ErrBacklog, ErrClosed or the engine's error.
func (m *Manager) Begin(ctx context.Context, id, name string) (Ticket, error) {
	return m.begin(ctx, nil, id, name)
}

// Attach ties the caller's work to the task of the ticket, which another process may
// have begun. The returned ctx ends with the given one, when any process ends or
// cancels the task (a cancellation has ErrCancelled as its cause), and when the
// Manager is closed. Until detach is called, the task does not get lost; see
// [WithTaskLife]. The caller must call detach, which does not end the task.
//
// Attach fails with ErrUnknown, with ErrEnded if the task has ended, and with
// ErrClosed or the engine's error.
func (m *Manager) Attach(ctx context.Context, t Ticket) (own context.Context, detach func(), err error) {
	requireContext(ctx)
	t.Session = m.accounts.key(t.Session)
	own, cancel := context.WithCancelCause(ctx)
	j := &job{ticket: t, cancel: cancel, begun: true}
	if err = m.runner.attach(j); err == nil {
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
	m.lookout.start()
	return own, detach, nil
}

func (m *Manager) requireRunning(ctx context.Context, t Ticket) error {
	task, err := m.Get(ctx, t)
	if err == nil && task.State != Running {
		return fmt.Errorf("%w: %s is %s", ErrEnded, t.ID, task.State)
	}
	return err
}

// Finish ends a task as completed with its output, which may be nil. It fails with
// ErrUnknown, and with ErrEnded if the task has already ended; a job that may run
// twice can count that as success.
//
// Finish, Fail and Cancel may be called in any process that shares the engine. They
// are for tasks of Begin. They also end a task of Start early: its ctx ends, and the
// result of its function is ignored.
func (m *Manager) Finish(ctx context.Context, t Ticket, output *Output) error {
	return m.end(ctx, t, completed(output), context.Canceled)
}

// FinishIn is Finish as part of a change that the program makes itself: engine stands
// for the engine of [WithRecords], with the same prefix, for example within a
// transaction. Call committed once the change is made, to tell those in this process
// who wait for the task; without it they find out after a while.
func (m *Manager) FinishIn(ctx context.Context, engine records.Records, t Ticket, output *Output) (committed func(), err error) {
	return m.endIn(ctx, engine, t, completed(output))
}

// Fail ends a task as failed with err, whose text the model is told. It fails as
// Finish does.
func (m *Manager) Fail(ctx context.Context, t Ticket, err error) error {
	return m.end(ctx, t, failed(err), context.Canceled)
}

// Cancel cancels a task: its ctx ends, with ErrCancelled as the cause. It does
// not wait for the task's function. It fails as Finish does.
func (m *Manager) Cancel(ctx context.Context, t Ticket) error {
	return m.end(ctx, t, cancelled(), ErrCancelled)
}

// CancelAll cancels every running task of the session, and returns how many there
// were.
func (m *Manager) CancelAll(ctx context.Context, session string) (int, error) {
	return m.cancelAll(ctx, session, func(a account) account { return a })
}

// Forget cancels the session's running tasks and drops everything else that is kept
// of it, delivered or not. It is for conversations that are over.
func (m *Manager) Forget(ctx context.Context, session string) error {
	_, err := m.cancelAll(ctx, session, account.forget)
	return err
}

// Join registers work that runs beside the tasks, such as an AutoTrigger: Close calls
// stop with ErrClosed, and waits until leave was called. stop must not block, and
// must not call the Manager. Join fails with ErrClosed.
func (m *Manager) Join(stop func(cause error)) (leave func(), err error) {
	rest, err := m.runner.join()
	if err != nil {
		return nil, err
	}
	unhook := context.AfterFunc(m.runner.life, func() { stop(ErrClosed) })
	return func() { unhook(); rest() }, nil
}

// Close ends the Manager: nothing can be started any more, all its functions are
// cancelled, the ctx of Attach end with ErrClosed, and what has joined is stopped.
// Close waits until their goroutines have ended. If ctx ends first, it returns an
// error that wraps the cause of ctx and counts the remaining goroutines; it may be
// called again. Tasks of Begin go on, and ended tasks can still be delivered and
// looked up.
//
// The tasks of the cancelled functions are cancelled. If processes share the engine,
// they fail with ErrClosed instead, so that another process tells the model.
//
// If a task's function or a subscriber calls Close, it waits for itself until ctx
// ends.
func (m *Manager) Close(ctx context.Context) error {
	requireContext(ctx)
	var failure error
	for _, reserved := range m.runner.close() {
		failure = errors.Join(failure, reserved.Release(ctx))
	}
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
	result := m.closing()
	if _, unsettled := m.runner.progress(j); unsettled != nil {
		return m.settle(ctx, j, unsettled)
	}
	if err := m.end(ctx, j.ticket, result, ErrClosed); !isOver(err) { // it may be about to begin, and will see the Close then
		return err
	}
	return nil
}

// IsShared reports whether the Manager keeps its tasks in an engine, so that its
// methods may block and fail; see [WithRecords].
func (m *Manager) IsShared() bool { return m.lookout.isShared }

// Session returns the session of tasks started under ctx, and whether the model is
// told about them.
func (m *Manager) Session(ctx context.Context) (session string, told bool) {
	session = m.accounts.session(ctx)
	return session, !m.accounts.isSilent(session)
}
