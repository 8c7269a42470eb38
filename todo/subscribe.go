package todo

import (
	"slices"
	"sync/atomic"
)

// maxUndelivered is how many changes of one session may wait for subscribers
// that are slower than the writers.
const maxUndelivered = 1000

type subscriber struct {
	notify    func(session string, todos []Todo)
	cancelled atomic.Bool
}

// feed holds the subscribers and the changes that they have not received yet.
// The Memory's mutex guards it.
type feed struct {
	subscribers []*subscriber // replaced, never changed in place
	// waiting has a key for each session whose changes some goroutine is
	// delivering. One goroutine per session keeps the changes in order.
	waiting map[string][][]Todo
}

// add queues a change and reports whether the caller has to deliver it.
func (f *feed) add(session string, list []Todo) bool {
	if len(f.subscribers) == 0 {
		return false
	}
	queue, busy := f.waiting[session]
	if len(queue) >= maxUndelivered {
		queue = slices.Delete(queue, 0, 1)
	}
	if f.waiting == nil {
		f.waiting = map[string][][]Todo{}
	}
	f.waiting[session] = append(queue, list)
	return !busy
}

// take returns the next change of session. If there is none, it ends the
// delivery and returns false.
func (f *feed) take(session string) (list []Todo, to []*subscriber, ok bool) {
	queue := f.waiting[session]
	if len(queue) == 0 {
		delete(f.waiting, session)
		return nil, nil, false
	}
	list = queue[0]
	f.waiting[session] = slices.Delete(queue, 0, 1)
	return list, f.subscribers, true
}

// Subscribe calls f after each change of a list by Write, Forget or a todo_write call.
// f receives the session and a copy of the new list, which it may keep. Subscribe does
// not report lists that are dropped because there are too many.
//
// f runs on the goroutine that made the change, which waits for it. No lock is held, so
// f may call the Memory. f receives the changes of a session one at a time and in
// order, but may run concurrently for different sessions. Changes that are made while f
// runs, even by f, are queued and reported on the same goroutine; whoever makes them
// does not wait. If 1,000 changes are queued, the oldest is dropped. A panic of f does
// not reach the writer or other subscribers; see [OnPanic].
//
// After cancel has returned, f is not called again, though a call may still be running.
// cancel may be called several times, and by f. Subscribe panics if f is nil.
func (m *Memory) Subscribe(f func(session string, todos []Todo)) (cancel func()) {
	if f == nil {
		panic("carryon/todo: Subscribe: nil function")
	}
	s := &subscriber{notify: f}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.feed.subscribers = append(slices.Clip(m.feed.subscribers), s)
	return func() {
		s.cancelled.Store(true)
		m.mu.Lock()
		defer m.mu.Unlock()
		m.feed.subscribers = slices.DeleteFunc(slices.Clone(m.feed.subscribers),
			func(other *subscriber) bool { return other == s })
	}
}

// deliver passes all waiting changes of session to the subscribers.
func (m *Memory) deliver(session string) {
	done := false
	defer func() {
		if done {
			return
		}
		// A subscriber called runtime.Goexit. Without this, no goroutine would
		// ever deliver changes of the session again.
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.feed.waiting, session)
	}()
	for {
		m.mu.Lock()
		list, to, ok := m.feed.take(session)
		m.mu.Unlock()
		if !ok {
			break
		}
		for _, s := range to {
			m.notify(s, session, list)
		}
	}
	done = true
}

func (m *Memory) notify(s *subscriber, session string, list []Todo) {
	if s.cancelled.Load() {
		return
	}
	defer func() {
		if r := recover(); r != nil && m.options.onPanic != nil {
			m.options.onPanic(session, r)
		}
	}()
	s.notify(session, slices.Clone(list))
}
