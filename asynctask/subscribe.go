package asynctask

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/carryon-go/carryon/internal/guard"
)

// subscribers are called when tasks end.
type subscribers struct {
	onError func(error)

	mu   sync.Mutex
	list []*subscriber // replaced, never changed in place
}

type subscriber struct {
	notify    func(Task)
	cancelled atomic.Bool
}

// Subscribe calls f each time a task of any session ends through this Manager, with
// the ended task; for tasks that end elsewhere see [Manager.Watch]. f runs on the
// goroutine that ended the task (the task's own, or that of the caller of Finish,
// Fail, Cancel, Forget or Close), with no lock held, so it may call the Manager. It
// may be called concurrently. A panic of f reaches only OnError.
//
// After cancel has returned, f is not called again, though a call may still be
// running. cancel may be called twice, and from f. Subscribe panics if f is nil.
func (m *Manager) Subscribe(f func(Task)) (cancel func()) {
	if f == nil {
		panic("carryon/asynctask: Subscribe: nil function")
	}
	s, added := m.subscribers, &subscriber{notify: f}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(slices.Clip(s.list), added)
	return func() {
		added.cancelled.Store(true)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.list = slices.DeleteFunc(slices.Clone(s.list), func(other *subscriber) bool { return other == added })
	}
}

// notify calls the subscribers with an ended task.
func (s *subscribers) notify(t Task) {
	s.mu.Lock()
	list := s.list
	s.mu.Unlock()
	for _, subscriber := range list {
		if subscriber.cancelled.Load() {
			continue
		}
		if err := guard.Run(func() error { subscriber.notify(t); return nil }); err != nil {
			s.report(err)
		}
	}
}

// report gives the program an error that no caller gets. A panic of OnError is
// dropped.
func (s *subscribers) report(err error) {
	if s.onError != nil {
		_ = guard.Run(func() error { s.onError(err); return nil })
	}
}
