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

// Tasks returns the tasks of the session, in order of start: those that are
// running, and those that have ended and are still kept. Without a session
// there are none, unless there is one conversation.
func (m *Manager) Tasks(ctx context.Context, session string) (tasks []Task, err error) {
	a, err := m.accounts.look(ctx, session)
	for i := range a.Tasks {
		tasks = append(tasks, a.Tasks[i].view(m.accounts.key(session)))
	}
	return tasks, err
}

// Find returns the task of the session that has the id, or else the only one
// whose id begins with it. It fails with ErrUnknown if there is none, and with
// an *AmbiguousError if there are several.
func (m *Manager) Find(ctx context.Context, session, idOrPrefix string) (Task, error) {
	a, err := m.accounts.look(ctx, session)
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
func (a *Account) withPrefix(prefix string) (found []*Record) {
	if t := a.find(prefix); t != nil {
		return []*Record{t}
	}
	for i := range a.Tasks {
		if t := &a.Tasks[i]; prefix != "" && strings.HasPrefix(t.ID, prefix) {
			found = append(found, t)
		}
	}
	return found
}

// Wait waits until the function of the task has returned, or until the task has
// ended if it has none, and returns the task as it ended. It fails with
// ErrUnknown, with ErrElsewhere if it runs under another Manager, and with the
// cause of ctx if that ends first. It does not notice that a task of Begin ends
// through another Manager.
func (m *Manager) Wait(ctx context.Context, t Ticket) (Task, error) {
	requireContext(ctx)
	t.Session = m.accounts.key(t.Session)
	j := m.runner.job(t)
	if j == nil {
		task, err := m.Get(ctx, t)
		if err == nil && task.State == Running {
			return Task{}, fmt.Errorf("%w: %s", ErrElsewhere, t.ID)
		}
		return task, err
	}
	if err := await(ctx, j.done); err != nil {
		return Task{}, fmt.Errorf("asynctask: waiting for %s: %w", t.ID, err)
	}
	if j.ended.ID == "" { // whoever ended it has not said so yet
		return m.Get(ctx, t)
	}
	return j.ended, nil
}

// Pending is the work of a session.
type Pending struct {
	Unfinished int       // tasks that are running, or have a place reserved
	Oldest     time.Time // since when the oldest of these is; zero if there is none

	Undelivered int // tasks that have ended and the model was not told of
	Unclaimed   int // of these, those that no delivery tells of
}

// Pending returns the work of the session. Tasks that have been unfinished for
// maxAge do not count; a maxAge of zero or less is no limit. Nor do cancelled
// tasks whose functions have not returned. Places count that are reserved of
// this Manager.
func (m *Manager) Pending(ctx context.Context, session string, maxAge time.Duration) (p Pending, err error) {
	a, err := m.accounts.look(ctx, session)
	if err != nil || m.accounts.isSilent(session) {
		return p, err
	}
	now := m.clock.Now()
	unfinished := m.runner.reservedSince(m.accounts.key(session), now)
	for i := range a.Tasks {
		if a.Tasks[i].Result == nil {
			unfinished = append(unfinished, a.Tasks[i].Started)
		}
	}
	for _, since := range unfinished {
		if maxAge > 0 && now.Sub(since) >= maxAge {
			continue
		}
		if p.Unfinished++; p.Unfinished == 1 || since.Before(p.Oldest) {
			p.Oldest = since
		}
	}
	p.Undelivered, p.Unclaimed = a.Undelivered, a.unclaimed(m.clock)
	return p, nil
}

// Summary returns the status summary of the session, "" if it has no tasks; see
// [MaxSummary].
func (m *Manager) Summary(ctx context.Context, session string) (string, error) {
	a, err := m.accounts.look(ctx, session)
	return summarize(a.Tasks), err
}
