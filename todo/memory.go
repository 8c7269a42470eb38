package todo

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/carryon-go/carryon/internal/lru"
	"github.com/carryon-go/carryon/internal/scope"
)

// Memory keeps a todo list per session, in memory only. It is a Provider, and
// Handle answers the calls of the model that works on the list.
//
// The session is the one of the ctx that a method gets, as set by
// continuation.WithSession. All calls without a session share one list, which
// suits a program with one conversation and no other.
//
// A Memory is safe for concurrent use and starts no goroutine. Its methods wait
// for nothing but subscribers, so they ignore the end of a ctx; a nil ctx
// panics. Use NewMemory: the zero value is not ready.
type Memory struct {
	settings memorySettings

	mu    sync.Mutex
	lists *lru.Table[[]Todo] // a stored list is never changed, so that it may be read without the lock
	feed  feed
}

var _ Provider = (*Memory)(nil)

// NewMemory returns a Memory without any list.
func NewMemory(opts ...MemoryOption) *Memory {
	return &Memory{settings: settingsOf(opts), lists: lru.New[[]Todo]()}
}

// Todos returns a copy of the session's list, nil if it has none. The error is
// always nil.
func (m *Memory) Todos(ctx context.Context) ([]Todo, error) {
	return m.Read(ctx), nil
}

// Read returns a copy of the session's list, nil if it has none.
func (m *Memory) Read(ctx context.Context) []Todo {
	session := sessionOf(ctx)
	m.mu.Lock()
	list := m.list(session)
	m.mu.Unlock()
	return slices.Clone(list)
}

// list returns the session's list as it is stored. It wants the lock held.
func (m *Memory) list(session string) []Todo {
	if list := m.lists.Get(session); list != nil {
		return *list
	}
	return nil
}

// Write replaces the session's list by a copy of todos. Readers see either the
// list before or the one after, and of concurrent writers the last one wins. An
// empty list clears.
//
// The copy is put in order: texts are trimmed, a todo without an id is named by
// its position, a second todo of the same id gets a new one, a missing status
// is Pending and one in another spelling ("done") becomes the usual one, and of
// several todos in progress the last stays so while the others become pending.
// An unknown status is kept, and is not active.
//
// A list is refused with an *ArgumentsError, and the one before it stays, if a
// content is blank, if it is beyond the limits of WithMaxItems and
// WithMaxContent, or if an id, a status or a priority has more than 1 KiB.
func (m *Memory) Write(ctx context.Context, todos []Todo) error {
	_, err := m.write(ctx, slices.Clone(todos))
	return err
}

// write makes list, which it owns from now on, the list of the session and
// returns it as stored; it must not be changed.
func (m *Memory) write(ctx context.Context, list []Todo) ([]Todo, error) {
	session := sessionOf(ctx)
	if err := m.settings.accept(list); err != nil {
		return nil, err
	}
	m.mu.Lock()
	deliver := m.put(session, list)
	m.mu.Unlock()
	if deliver {
		m.deliver(session)
	}
	return list, nil
}

// change applies changes to the list of the session and returns it as stored;
// it must not be changed. A change of a todo that is not there is refused,
// unless it has a content, which makes it a new one.
func (m *Memory) change(ctx context.Context, changes []Todo) ([]Todo, error) {
	session := sessionOf(ctx)
	if err := m.settings.checkLength(changes); err != nil {
		return nil, err // before it costs others the lock
	}
	list, deliver, err := m.merge(session, changes)
	if deliver {
		m.deliver(session)
	}
	return list, err
}

func (m *Memory) merge(session string, changes []Todo) (list []Todo, deliver bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.list(session)
	if err := checkTargets(before, changes); err != nil {
		return nil, false, err
	}
	list = merge(slices.Clone(before), changes)
	if err := m.settings.accept(list); err != nil {
		return nil, false, err
	}
	return list, m.put(session, list), nil
}

// put stores list, which is normalized, and reports whether the caller has to
// deliver the change. It wants the lock held.
func (m *Memory) put(session string, list []Todo) (deliver bool) {
	if len(list) == 0 {
		m.lists.Remove(session)
	} else {
		*m.lists.Put(session) = list
	}
	if m.settings.maxSessions > 0 {
		m.lists.Trim(m.settings.maxSessions)
	}
	return m.feed.add(session, list)
}

// Forget drops the session's list, as a program does when a conversation is
// over. Without a list it does nothing.
func (m *Memory) Forget(ctx context.Context) {
	session := sessionOf(ctx)
	m.mu.Lock()
	deliver := m.lists.Remove(session) && m.feed.add(session, nil)
	m.mu.Unlock()
	if deliver {
		m.deliver(session)
	}
}

// accept normalizes list in place and checks it against the limits.
func (s *memorySettings) accept(list []Todo) error {
	if err := s.checkLength(list); err != nil {
		return err
	}
	if err := normalize(list); err != nil {
		return err
	}
	return s.checkTexts(list)
}

func (s *memorySettings) checkLength(list []Todo) error {
	if s.maxItems == 0 || len(list) <= s.maxItems {
		return nil
	}
	return refuse(0, fmt.Sprintf("the list has %d todos", len(list)),
		fmt.Sprintf("send at most %d", s.maxItems))
}

// checkTexts wants list normalized, for that is what will be kept.
func (s *memorySettings) checkTexts(list []Todo) error {
	for i, t := range list {
		if s.maxContent > 0 && len(t.Content) > s.maxContent {
			return refuse(i+1, fmt.Sprintf("content has %d bytes", len(t.Content)),
				fmt.Sprintf("send at most %d", s.maxContent))
		}
		if max(len(t.ID), len(t.Status), len(t.Priority)) > maxLabel {
			return refuse(i+1, "id, status or priority is too long",
				fmt.Sprintf("send at most %d bytes in each", maxLabel))
		}
	}
	return nil
}

func sessionOf(ctx context.Context) string {
	if ctx == nil {
		panic("todo: nil context")
	}
	return scope.Session(ctx)
}
