package asynctask

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/carryon-go/carryon/internal/guard"
)

// subscribers are told of the ends of tasks.
type subscribers struct {
	onError func(error)

	mu   sync.Mutex
	list []*subscriber // replaced, never changed in place
}

type subscriber struct {
	notify    func(Task)
	cancelled atomic.Bool
}

// Subscribe calls f each time a task of any session ends through this Manager,
// with the task as it ended; see [Manager.Watch] for what ends elsewhere. f runs on the goroutine that ended the task (its
// own, or that of whoever called Finish, Fail, Cancel, Forget or Close), with no
// lock held, so it may call the Manager, and may be called concurrently. A panic
// of f reaches nobody but OnError.
//
// After cancel has returned f is not called any more, though a call may still
// be running. cancel may be called twice, and from f. Subscribe panics if f is
// nil.
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

// notify tells the subscribers of a task that has ended.
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

// report gives the program an error that nobody else is there to take. If that
// panics there is nobody left to tell.
func (s *subscribers) report(err error) {
	if s.onError != nil {
		_ = guard.Run(func() error { s.onError(err); return nil })
	}
}
