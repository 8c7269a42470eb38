package asynctask

import (
	"cmp"
	"slices"
)

// history is the tasks that have ended, in order of end, and what their outputs
// take. It is a ring through first, which is no task itself.
type history struct {
	first task
	bytes int
	count int
	ends  uint64 // how many there ever were
}

func (h *history) init() { h.first.older, h.first.newer = &h.first, &h.first }

func (h *history) add(t *task) {
	t.older, t.newer = h.first.older, &h.first
	t.older.newer, t.newer.older = t, t
	h.bytes += t.result.bytes
	h.count++
	h.ends++
	t.place = h.ends
}

func (h *history) remove(t *task) {
	t.older.newer, t.newer.older = t.newer, t.older
	h.bytes -= t.result.bytes
	h.count--
}

// shrink makes outputs smaller, oldest first, until they take size bytes.
func (h *history) shrink(size int) {
	for _, delivered := range []bool{true, false} {
		for t := h.first.newer; t != &h.first && h.bytes > size; t = t.newer {
			if t.delivered == delivered && t.result.bytes > shrunkSize {
				h.bytes -= t.result.bytes
				t.result = t.result.shrink()
				h.bytes += t.result.bytes
			}
		}
	}
}

// trim keeps the bounds after a task of s has ended or was delivered.
func (m *Manager) trim(s *session) {
	m.trimSession(s)
	for m.history.count-m.undelivered > maxHistory {
		t := m.history.first.newer
		for !t.delivered {
			t = t.newer
		}
		m.drop(t)
		t.home.tidy()
		m.forgetEmpty(t.home)
	}
	m.history.shrink(m.options.outputSize)
}

// trimSession drops the oldest ends of s that were delivered, as long as it has
// more tasks that have ended than it is to have.
func (m *Manager) trimSession(s *session) {
	excess := len(s.tasks) - s.running - m.options.history()
	if excess <= 0 {
		return
	}
	var old []*task
	for _, t := range s.tasks {
		if t.delivered {
			old = append(old, t)
		}
	}
	slices.SortFunc(old, func(a, b *task) int { return cmp.Compare(a.place, b.place) })
	for _, t := range old[:min(excess, len(old))] {
		m.drop(t)
	}
	s.tidy()
}

// drop forgets a task that has ended.
func (m *Manager) drop(t *task) {
	if !t.delivered {
		m.undelivered--
		t.home.letGo(t)
	}
	t.gone = true
	m.history.remove(t)
	delete(m.tasks, t.id)
}

// forgetEmpty forgets a session without tasks.
func (m *Manager) forgetEmpty(s *session) {
	if len(s.tasks) == 0 && m.sessions[s.key] == s {
		delete(m.sessions, s.key)
	}
}

// Forget cancels what the session has running and drops all that is kept of it,
// delivered or not, as a program does when a conversation is over.
func (m *Manager) Forget(session string) {
	m.CancelAll(session)
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.look(session)
	if s == nil {
		return
	}
	for _, t := range s.tasks {
		if t.state != Running { // one may have been started meanwhile
			m.drop(t)
		}
	}
	s.tidy()
	s.standing, s.standingBytes = nil, 0
	m.forgetEmpty(s)
}
