package asynctask

import (
	"context"
	"errors"
	"time"

	"github.com/carryon-go/carryon/internal/clock"
	"github.com/carryon-go/carryon/internal/guard"
	"github.com/carryon-go/carryon/records"
)

// lifecycle begins and ends tasks: in the account, in this process, and for
// subscribers and watchers.
type lifecycle struct {
	accounts    *accounts
	runner      *runner
	subscribers *subscribers
	lookout     *lookout
	clock       clock.Clock
	retention   time.Duration // of accounts
}

// start starts a task, in the place of the reservation if there is one.
func (l *lifecycle) start(ctx context.Context, r *Reservation, name string, f Func) (Ticket, error) {
	if f == nil {
		panic("carryon/asynctask: nil function")
	}
	j := &job{ticket: Ticket{Session: l.accounts.session(ctx), ID: newID()}, isFunction: true, done: make(chan struct{})}
	own, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	j.cancel = cancel
	if r != nil && r.session != j.ticket.Session {
		return Ticket{}, ErrReservation
	}
	if err := l.runner.add(j, r, l.clock.Now()); err != nil {
		return Ticket{}, err
	}
	if err := l.record(ctx, r, j.ticket, name, l.lookout.ownerLife()); err != nil {
		l.runner.refused(j, r)
		if !isRefusal(err) { // the engine may have stored it anyway, and nobody else knows its id
			_, _ = l.accounts.end(context.WithoutCancel(ctx), j.ticket, cancelled())
		}
		return Ticket{}, err
	}
	l.runner.began(j)
	if own.Err() != nil || l.runner.isClosed() { // Close ran in between, too early to end the task
		_ = l.end(context.WithoutCancel(ctx), j.ticket, l.closing(), ErrClosed)
	}
	l.lookout.start()
	go l.run(own, j, f)
	return j.ticket, nil
}

// begin begins a task that runs elsewhere, in the place of the reservation if
// there is one.
func (l *lifecycle) begin(ctx context.Context, r *Reservation, id, name string) (Ticket, error) {
	if err := checkID(id); err != nil {
		return Ticket{}, err
	}
	t := Ticket{Session: l.accounts.session(ctx), ID: id}
	switch {
	case l.runner.isClosed():
		return Ticket{}, ErrClosed
	case r != nil && r.session != t.Session:
		return Ticket{}, ErrReservation
	}
	if err := l.record(ctx, r, t, name, l.accounts.rules.life); err != nil {
		return Ticket{}, err
	}
	if r != nil {
		l.runner.release(r)
	}
	return t, nil
}

// record records the task of the ticket in the account.
func (l *lifecycle) record(ctx context.Context, r *Reservation, t Ticket, name string, life time.Duration) error {
	name, err := cleanName(name)
	if err != nil {
		return err
	}
	var reserved uint64
	if r != nil {
		reserved = r.token
	}
	return l.accounts.updateLive(ctx, t.Session, func(now time.Time, a account, rules rules) (account, error) {
		return a.begin(record{ID: t.ID, Name: name, Until: until(now, life)}, reserved, now, rules)
	})
}

// isRefusal reports whether the account, and not the engine, refused a task.
func isRefusal(err error) bool {
	for _, refusal := range []error{ErrInvalid, ErrDuplicate, ErrReservation, ErrLimit, ErrBacklog} {
		if errors.Is(err, refusal) {
			return true
		}
	}
	return false
}

// run runs the function of a task, on the task's own goroutine.
func (l *lifecycle) run(ctx context.Context, j *job, f Func) {
	defer l.runner.leave()
	output, err := (*Output)(nil), ErrExited
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

// settle tries again to end the task of a function that has returned.
func (l *lifecycle) settle(ctx context.Context, j *job, r *result) error {
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
	if l.lookout.isShared {
		return failed(ErrClosed)
	}
	return cancelled()
}

// cancelAll cancels every running task of the session, changes the account with then
// in the same update, and returns how many tasks there were.
func (l *lifecycle) cancelAll(ctx context.Context, session string, then func(account) account) (int, error) {
	requireContext(ctx)
	if l.accounts.isSilent(session) {
		return 0, nil
	}
	var ended []record
	err := l.accounts.update(ctx, session, func(now time.Time, a account, rules rules) (account, error) {
		a, ended = a.endEach(func(*record) bool { return true }, cancelled(), now, rules)
		return then(a), nil
	})
	if err != nil {
		return 0, err
	}
	l.endedEach(ctx, session, ended, ErrCancelled)
	return len(ended), nil
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
	l.lookout.ended(ctx, t.Session, t.Ended)
}

// isOver reports whether a task could not be ended because it has already ended and
// may be gone.
func isOver(err error) bool { return errors.Is(err, ErrEnded) || errors.Is(err, ErrUnknown) }
