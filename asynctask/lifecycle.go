package asynctask

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/carryon-go/carryon/internal/clock"
	"github.com/carryon-go/carryon/internal/guard"
)

// lifecycle begins and ends tasks: in the account, in this process, and for the
// subscribers.
type lifecycle struct {
	accounts    *accounts
	runner      *runner
	subscribers *subscribers
	clock       clock.Clock
}

// start starts a task, in the place of the reservation if there is one.
func (l *lifecycle) start(ctx context.Context, r *Reservation, name string, f Func) (Ticket, error) {
	if f == nil {
		panic("carryon/asynctask: nil function")
	}
	j := &job{ticket: Ticket{Session: l.accounts.session(ctx), ID: newID()}, isFunction: true}
	own, err := l.add(ctx, r, j, name)
	if err != nil {
		return Ticket{}, err
	}
	go l.run(own, j, f)
	return j.ticket, nil
}

// begin begins a task that runs elsewhere.
func (l *lifecycle) begin(ctx context.Context, r *Reservation, id, name string) (context.Context, Ticket, error) {
	if err := checkID(id); err != nil {
		return nil, Ticket{}, err
	}
	j := &job{ticket: Ticket{Session: l.accounts.session(ctx), ID: id}}
	own, err := l.add(ctx, r, j, name)
	if err != nil {
		return nil, Ticket{}, err
	}
	l.runner.leave()
	return own, j.ticket, nil
}

// add makes j a task of its session, in the place of the reservation if there is
// one, and returns the task's ctx.
func (l *lifecycle) add(ctx context.Context, r *Reservation, j *job, name string) (context.Context, error) {
	name, err := cleanName(name)
	if err != nil {
		return nil, err
	}
	own, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	j.cancel, j.done = cancel, make(chan struct{})
	if err := l.enter(ctx, r, j); err != nil {
		return nil, err
	}
	err = l.accounts.update(ctx, j.ticket.Session, func(now time.Time, a Account, _ rules) (Account, error) {
		return a.begin(j.ticket.ID, name, now)
	})
	if err != nil {
		l.runner.remove(j, r)
		if j.isFunction { // the store may have taken it all the same, and nobody else knows its id
			_, _ = l.accounts.end(context.WithoutCancel(ctx), j.ticket, cancelled())
		}
		return nil, err
	}
	if own.Err() != nil { // Close came in between, and was too early to end the task
		_ = l.end(context.WithoutCancel(ctx), j.ticket, cancelled(), ErrClosed)
	}
	return own, nil
}

// enter takes a place for j. If there is none it looks for tasks that have ended
// through another Manager.
func (l *lifecycle) enter(ctx context.Context, r *Reservation, j *job) error {
	if r == nil {
		if err := l.accounts.backlog(); err != nil {
			return err
		}
	}
	err := l.runner.add(j, r, l.clock.Now())
	if !errors.Is(err, ErrLimit) {
		return err
	}
	if _, err := l.accounts.task(ctx, j.ticket); err == nil {
		return fmt.Errorf("%w: %s", ErrDuplicate, j.ticket.ID)
	}
	for _, other := range l.runner.open() {
		if other.isFunction {
			continue
		}
		if t, err := l.accounts.task(ctx, other.ticket); err == nil && t.State != Running {
			l.runner.end(t, context.Canceled)
		}
	}
	return l.runner.add(j, r, l.clock.Now())
}

// run runs the function of a task, on the task's own goroutine.
func (l *lifecycle) run(ctx context.Context, j *job, f Func) {
	defer l.runner.leave()
	output, err := (*Output)(nil), ErrExited
	defer func() { l.returned(ctx, j, output, err) }() // also if f ends the goroutine
	err = guard.Run(func() (err error) { output, err = f(ctx); return err })
}

// returned ends the task of a function that has returned, unless it has ended
// already.
func (l *lifecycle) returned(ctx context.Context, j *job, output *Output, err error) {
	result := completed(output)
	if err != nil {
		result = failed(err)
	}
	t, err := l.accounts.end(context.WithoutCancel(ctx), j.ticket, result)
	l.runner.returned(j, t)
	switch {
	case err == nil:
		l.subscribers.notify(t)
	case !isOver(err):
		l.subscribers.report(err)
	}
}

// end ends a task; cause is that of its ctx.
func (l *lifecycle) end(ctx context.Context, t Ticket, r *Result, cause error) error {
	task, err := l.accounts.end(ctx, t, r)
	if err == nil {
		l.ended(task, cause)
	}
	return err
}

// cancelAll cancels every task of the session that is running, changes the
// account by then, and returns how many there were.
func (l *lifecycle) cancelAll(ctx context.Context, session string, then func(Account) Account) (int, error) {
	requireContext(ctx)
	if l.accounts.isSilent(session) {
		return 0, nil
	}
	var ended []Record
	err := l.accounts.update(ctx, session, func(now time.Time, a Account, rules rules) (Account, error) {
		a, ended = a.endEach(func(*Record) bool { return true }, cancelled(), now, rules)
		return then(a), nil
	})
	if err != nil {
		return 0, err
	}
	for i := range ended {
		l.ended(ended[i].view(l.accounts.key(session)), ErrCancelled)
	}
	return len(ended), nil
}

// ended tells this process of a task that has ended.
func (l *lifecycle) ended(t Task, cause error) {
	l.runner.end(t, cause)
	l.subscribers.notify(t)
}

// isOver reports whether a task could not be ended because it has ended, and may
// be gone.
func isOver(err error) bool { return errors.Is(err, ErrEnded) || errors.Is(err, ErrUnknown) }
