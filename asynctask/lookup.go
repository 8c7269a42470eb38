package asynctask

import (
	"context"
	"fmt"
	"strings"
)

// Get returns the task of that id, whatever its session.
func (m *Manager) Get(id string) (Task, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.tasks[id]
	if t == nil {
		return Task{}, false
	}
	return t.view(), true
}

// Tasks returns the tasks of the session, in order of start: those that are
// running, and those that have ended and are still kept. Without a session
// there are none, unless there is one conversation.
func (m *Manager) Tasks(session string) []Task {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.look(session)
	if s == nil {
		return nil
	}
	tasks := make([]Task, 0, len(s.tasks))
	for _, t := range s.tasks {
		tasks = append(tasks, t.view())
	}
	return tasks
}

// Find returns the task of the session that has the id, or else the only one
// whose id begins so. It fails with ErrUnknown if there is none, and with an
// *AmbiguousError if there are several.
func (m *Manager) Find(session, idOrPrefix string) (Task, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t, err := m.find(session, idOrPrefix)
	if err != nil {
		return Task{}, err
	}
	return t.view(), nil
}

func (m *Manager) find(session, prefix string) (*task, error) {
	var found []*task
	if s := m.look(session); s != nil && prefix != "" {
		if t := m.tasks[prefix]; t != nil && t.home == s {
			return t, nil
		}
		for _, t := range s.tasks {
			if strings.HasPrefix(t.id, prefix) {
				found = append(found, t)
			}
		}
	}
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("%w: %.64q", ErrUnknown, prefix)
	case 1:
		return found[0], nil
	}
	ambiguous := &AmbiguousError{Prefix: prefix}
	for _, t := range found {
		ambiguous.Candidates = append(ambiguous.Candidates, t.view())
	}
	return nil, ambiguous
}

// Wait waits until the function of the task has returned, or the task has ended
// if it runs elsewhere, and returns the task as it ended. It fails with
// ErrUnknown, and with the cause of ctx if that ends first.
func (m *Manager) Wait(ctx context.Context, id string) (Task, error) {
	if ctx == nil {
		panic("asynctask: nil context")
	}
	m.mu.Lock()
	t := m.tasks[id]
	m.mu.Unlock()
	if t == nil {
		return Task{}, fmt.Errorf("%w: %.64q", ErrUnknown, id)
	}
	select {
	case <-t.returned:
	case <-ctx.Done():
		return Task{}, fmt.Errorf("asynctask: waiting for %s: %w", id, context.Cause(ctx))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return t.view(), nil
}
