package todo

import (
	"slices"
	"sync/atomic"
)

// maxUndelivered bounds how many changes of one session wait for a subscriber
// that is slower than the writers.
const maxUndelivered = 1000

type subscriber struct {
	notify    func(session string, todos []Todo)
	cancelled atomic.Bool
}

// feed is who is told of changes, and what they have not been told yet. The
// mutex of the Memory guards it.
type feed struct {
	subscribers []*subscriber // replaced, never changed in place
	// waiting has a key for each session whose changes are being delivered, so
	// that one goroutine at a time does it and the order is kept.
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

// take returns the next change of session. After the last one it ends the
// delivery.
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

// Subscribe calls f after each Write and Forget that took effect, with the
// session and a copy of its new list, which is f's to keep. A list dropped by
// WithMaxSessions is not reported.
//
// f runs on the goroutine of the writer, which waits for it, with no lock held,
// so it may call the Memory. The changes of one session arrive one at a time
// and in order: while f is busy with one, those of concurrent writers, and of f
// itself, are left to the goroutine it runs on, and their writers do not wait.
// Should 1,000 be left, the oldest is skipped. f may run concurrently for
// different sessions. A panic of f reaches neither the writer nor other
// subscribers, see OnPanic.
//
// After cancel has returned f is not called any more, though a call may still
// be running. cancel may be called twice, and from f. Subscribe panics if f is
// nil.
func (m *Memory) Subscribe(f func(session string, todos []Todo)) (cancel func()) {
	if f == nil {
		panic("todo: Subscribe: nil function")
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

// deliver tells the subscribers of every change of session that waits.
func (m *Memory) deliver(session string) {
	done := false
	defer func() {
		if done {
			return
		}
		// runtime.Goexit in a subscriber: without this the session would count
		// as being delivered for ever.
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
		if r := recover(); r != nil && m.settings.onPanic != nil {
			m.settings.onPanic(session, r)
		}
	}()
	s.notify(session, slices.Clone(list))
}
