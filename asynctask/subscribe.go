package asynctask

import (
	"slices"
	"sync/atomic"
)

type subscriber struct {
	notify    func(Task)
	cancelled atomic.Bool
}

// Subscribe calls f each time a task ends, with the task as it ended, of
// whatever session. f runs on the goroutine that ended the task (its own, or
// that of whoever called Finish, Fail, Cancel, Forget or Close), with no lock
// held, so it may call the Manager, and may be called concurrently. A panic of f
// reaches nobody, see OnPanic.
//
// After cancel has returned f is not called any more, though a call may still
// be running. cancel may be called twice, and from f. Subscribe panics if f is
// nil.
func (m *Manager) Subscribe(f func(Task)) (cancel func()) {
	if f == nil {
		panic("asynctask: Subscribe: nil function")
	}
	s := &subscriber{notify: f}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.subscribers = append(slices.Clip(m.subscribers), s)
	return func() {
		s.cancelled.Store(true)
		m.mu.Lock()
		defer m.mu.Unlock()
		m.subscribers = slices.DeleteFunc(slices.Clone(m.subscribers),
			func(other *subscriber) bool { return other == s })
	}
}

// tell tells the subscribers of a task that has ended.
func (m *Manager) tell(t *Task) {
	if t == nil {
		return
	}
	m.mu.Lock()
	subscribers := m.subscribers
	m.mu.Unlock()
	for _, s := range subscribers {
		m.notify(s, *t)
	}
}

func (m *Manager) notify(s *subscriber, t Task) {
	if s.cancelled.Load() {
		return
	}
	defer func() {
		if value := recover(); value != nil && m.options.onPanic != nil {
			m.options.onPanic(value)
		}
	}()
	s.notify(t)
}
