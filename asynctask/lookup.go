package asynctask

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Get returns the task of the ticket. It fails with ErrUnknown.
func (m *Manager) Get(ctx context.Context, t Ticket) (Task, error) {
	return m.accounts.task(ctx, t)
}

// Tasks returns the tasks of the session, in order of start: the running ones, and
// the ended ones that are still kept. Without a session there are none, except with
// [WithOneConversation].
func (m *Manager) Tasks(ctx context.Context, session string) (tasks []Task, err error) {
	a, _, err := m.accounts.look(ctx, session)
	for i := range a.Tasks {
		tasks = append(tasks, a.Tasks[i].view(m.accounts.key(session)))
	}
	return tasks, err
}

// Find returns the task of the session that has the id, or else the only one
// whose id begins with it. It fails with ErrUnknown if there is none, and with
// an *AmbiguousError if there are several.
func (m *Manager) Find(ctx context.Context, session, idOrPrefix string) (Task, error) {
	a, _, err := m.accounts.look(ctx, session)
	if err != nil {
		return Task{}, err
	}
	var found []Task
	for _, t := range a.withPrefix(idOrPrefix) {
		found = append(found, t.view(m.accounts.key(session)))
	}
	switch len(found) {
	case 0:
		return Task{}, fmt.Errorf("%w: %.64q", ErrUnknown, idOrPrefix)
	case 1:
		return found[0], nil
	}
	return Task{}, &AmbiguousError{Prefix: idOrPrefix, Candidates: found}
}

// withPrefix returns the task that has the id, or else all whose ids begin with
// it.
func (a *account) withPrefix(prefix string) (found []*record) {
	if t := a.find(prefix); t != nil {
		return []*record{t}
	}
	for i := range a.Tasks {
		if t := &a.Tasks[i]; prefix != "" && strings.HasPrefix(t.ID, prefix) {
			found = append(found, t)
		}
	}
	return found
}

// Wait waits until the task has ended and, if its function runs in this process,
// until the function has returned. It returns the ended task. It fails with
// ErrUnknown, with ErrClosed, with the engine's error, and with an error that wraps
// the cause of ctx if ctx ends first.
func (m *Manager) Wait(ctx context.Context, t Ticket) (Task, error) {
	requireContext(ctx)
	t.Session = m.accounts.key(t.Session)
	j := m.runner.function(t)
	if j != nil {
		if err := await(ctx, j.done); err != nil {
			return Task{}, fmt.Errorf("asynctask: waiting for %s: %w", t.ID, err)
		}
		if task := m.runner.endOf(j); task.ID != "" {
			return task, nil
		}
	}
	changed := make(chan struct{}, 1)
	stop := m.Watch(t.Session, func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	})
	defer stop()
	for {
		task, err := m.Get(ctx, t)
		if err != nil || task.State != Running {
			return task, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return Task{}, fmt.Errorf("asynctask: waiting for %s: %w", t.ID, context.Cause(ctx))
		case <-m.runner.life.Done():
			return Task{}, ErrClosed
		}
	}
}

// Pending is the work of a session.
type Pending struct {
	Unfinished int       // running tasks and reserved places
	Oldest     time.Time // when the oldest of these began; zero if there is none

	Undelivered int // ended tasks that the model has not been told about
	Unclaimed   int // those of them that no delivery reports
}

// Pending returns the work of the session. If maxAge is positive, tasks that have
// been unfinished for that long do not count. Cancelled tasks whose functions have
// not returned do not count either.
func (m *Manager) Pending(ctx context.Context, session string, maxAge time.Duration) (p Pending, err error) {
	a, now, err := m.accounts.look(ctx, session)
	if err != nil {
		return p, err
	}
	count := func(since time.Time) {
		if maxAge > 0 && now.Sub(since) >= maxAge {
			return
		}
		if p.Unfinished++; p.Unfinished == 1 || since.Before(p.Oldest) {
			p.Oldest = since
		}
	}
	for i := range a.Tasks {
		if a.Tasks[i].Result == nil {
			count(a.Tasks[i].Started)
		}
	}
	for i := range a.Reserved {
		if !a.Reserved[i].lapsed(now) {
			count(a.Reserved[i].Since)
		}
	}
	p.Undelivered, p.Unclaimed = a.Undelivered, a.unclaimed(now)
	return p, nil
}

// Summary returns the status summary of the session, "" if it has no tasks; see
// [MaxSummary].
func (m *Manager) Summary(ctx context.Context, session string) (string, error) {
	a, _, err := m.accounts.look(ctx, session)
	return summarize(a.Tasks), err
}
