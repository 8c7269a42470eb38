package todo

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/carryon-go/carryon/internal/lru"
	"github.com/carryon-go/carryon/internal/origins"
	"github.com/carryon-go/carryon/internal/recordtable"
	"github.com/carryon-go/carryon/internal/scope"
	"github.com/carryon-go/carryon/records"
)

// Memory keeps one todo list per session: in memory or, with [WithRecords], on an
// engine that several processes share. It is a [Provider], and its method Handle
// answers the tool calls of a model that works on the list. A Memory is safe for
// concurrent use and starts no goroutine. Use [NewMemory]: the zero value is not ready.
//
// Each method uses the session of its ctx, which continuation.WithSession sets. Without
// a session there is no list: Todos and Write return [ErrNoSession]. A program with one
// conversation and no sessions uses [WithOneConversation].
//
// Without WithRecords, methods ignore the end of their ctx; they wait only for
// subscribers. A nil ctx panics.
type Memory struct {
	options memoryOptions
	shared  *recordtable.Table[sharedList] // nil: lists are in memory

	mu    sync.Mutex
	lists *lru.Table[storedList]
	bytes int // of all of them
	feed  feed
}

// storedList is the list of a session. Its todos are never changed, so that they
// can be read without the lock.
type storedList struct {
	todos []Todo
	bytes int
}

var _ Locator = (*Memory)(nil)

// NewMemory returns an empty Memory. It panics if a limit in opts is neither positive
// nor [Off], and if the engine of [WithRecords] is nil.
func NewMemory(opts ...MemoryOption) *Memory {
	options := newMemoryOptions(opts)
	return &Memory{options: options, shared: options.table(), lists: lru.New[storedList]()}
}

// IsShared reports whether the lists are kept on an engine, so that reading one may
// take long; see [WithRecords].
func (m *Memory) IsShared() bool { return m.shared != nil }

// Todos returns a copy of the session's list; a list that was cleared is empty. The
// error is [ErrNoSession] without a session, a [*NoListError] if nothing was written in
// the session, or the error of the engine of [WithRecords].
func (m *Memory) Todos(ctx context.Context) ([]Todo, error) {
	list, _, err := m.Locate(ctx)
	return list, err
}

// Locate implements [Locator].
func (m *Memory) Locate(ctx context.Context) ([]Todo, Origin, error) {
	from := Origin{Place: origins.Memory}
	session, err := m.session(ctx)
	if err != nil {
		return nil, from, err
	}
	if m.shared != nil {
		list, err := m.lookShared(ctx, session)
		return list, from, err
	}
	list, others, written := m.look(session)
	if !written {
		return nil, from, &NoListError{OtherSessions: others}
	}
	return slices.Clone(list), from, nil
}

// look returns the session's stored list, whether there is one, and how many
// sessions have one.
func (m *Memory) look(session string) (list []Todo, sessions int, written bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if stored := m.lists.Get(session); stored != nil {
		list, written = stored.todos, true
	}
	return list, m.lists.Len(), written
}

// Read returns a copy of the session's list, or nil if there is none. With
// [WithRecords], use Todos, which returns the engine's errors.
func (m *Memory) Read(ctx context.Context) []Todo {
	list, _, _ := m.Locate(ctx) // without a list there is nothing to read
	return list
}

// session returns the key of the list of ctx.
func (m *Memory) session(ctx context.Context) (string, error) {
	checkContext(ctx)
	if m.options.oneConversation {
		return "", nil
	}
	session := scope.Session(ctx)
	if session == "" {
		return "", ErrNoSession
	}
	return session, nil
}

// list returns the session's stored list. The caller holds the lock.
func (m *Memory) list(session string) []Todo {
	if stored := m.lists.Get(session); stored != nil {
		return stored.todos
	}
	return nil
}

// Write replaces the session's list by a normalized copy of todos. An empty list clears
// the session's list. Readers see either the old list or the new one; of several
// concurrent writers, the last one wins.
//
// Normalizing removes white space around texts, uses the position as the id of a todo
// without one, keeps the last of several todos with one id, sets a missing status to
// [Pending], and replaces other spellings of a known status ("done" by [Completed]). If
// several todos are in progress, the last one stays so, and the others become Pending.
// An unknown status is kept, and is not active.
//
// The error is [ErrNoSession] without a session, or that of the engine of
// [WithRecords]. It is an [*ArgumentsError], and the old list is kept, if a content is
// blank or longer than 64 KiB, if the list has more than 1,000 todos, or if any other text
// is longer than 1 KiB.
func (m *Memory) Write(ctx context.Context, todos []Todo) error {
	_, err := m.replace(ctx, slices.Clone(todos))
	return err
}

// replace stores list, which it takes over, and returns the stored list, which
// nobody may change.
func (m *Memory) replace(ctx context.Context, list []Todo) ([]Todo, error) {
	session, err := m.session(ctx)
	if err != nil {
		return nil, err
	}
	list, err = m.options.prepare(list)
	if err != nil {
		return nil, err
	}
	return m.update(ctx, session, func([]Todo) ([]Todo, error) { return list, nil })
}

// apply applies changes to the session's list and returns the stored list,
// which nobody may change. It refuses a change of a todo that the list does not
// have, unless the change has a content, which makes it a new todo.
func (m *Memory) apply(ctx context.Context, changes []Todo) ([]Todo, error) {
	session, err := m.session(ctx)
	if err != nil {
		return nil, err
	}
	if err := m.options.checkLength(changes); err != nil {
		return nil, err // before other writers have to wait for the merge
	}
	return m.update(ctx, session, func(before []Todo) ([]Todo, error) {
		if err := checkTargets(before, changes); err != nil {
			return nil, err
		}
		return m.options.prepare(merge(slices.Clone(before), changes))
	})
}

// update replaces the session's list with the result of next, notifies the
// subscribers, and returns the stored list. If next fails, the list stays. next is
// pure: it may run more than once.
func (m *Memory) update(
	ctx context.Context, session string, next func(before []Todo) ([]Todo, error),
) (list []Todo, err error) {
	var deliver bool
	if m.shared != nil {
		list, deliver, err = m.storeShared(ctx, session, next)
	} else {
		list, deliver, err = m.store(session, next)
	}
	if deliver {
		m.deliver(session)
	}
	return list, err
}

// store is update without notifying the subscribers: deliver reports whether the
// caller must call deliver.
func (m *Memory) store(session string, next func(before []Todo) ([]Todo, error)) (list []Todo, deliver bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	list, err = next(m.list(session))
	if err != nil {
		return nil, false, err
	}
	if len(list) > 0 || m.lists.Get(session) != nil { // a list that was cleared is an empty one
		m.put(session, list)
	}
	return list, m.feed.add(session, list), nil
}

// put stores the list of a session, and drops others to make room for it. The
// caller holds the lock.
func (m *Memory) put(session string, list []Todo) {
	stored := m.lists.Put(session)
	before := stored.bytes
	*stored = storedList{todos: list, bytes: len(session) + sizeOf(list)}
	m.bytes += stored.bytes - before
	for m.lists.Len() > 1 && m.isFull() {
		m.bytes -= m.lists.RemoveOldest().bytes
	}
}

// isFull reports whether there are too many sessions or bytes.
func (m *Memory) isFull() bool {
	o := &m.options
	return o.maxSessions != Off && m.lists.Len() > o.maxSessions || o.maxBytes != Off && m.bytes > o.maxBytes
}

// Forget removes the session's list, for example because the conversation is over. It
// does nothing if the session has no list. The error is [ErrNoSession] or that of the
// engine of [WithRecords].
func (m *Memory) Forget(ctx context.Context) error {
	session, err := m.session(ctx)
	if err != nil {
		return err
	}
	forget := m.forget
	if m.shared != nil {
		forget = m.forgetShared
	}
	deliver, err := forget(ctx, session)
	if deliver {
		m.deliver(session)
	}
	return err
}

// forget is Forget without notifying the subscribers: deliver reports whether the
// caller must call deliver.
func (m *Memory) forget(_ context.Context, session string) (deliver bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if stored := m.lists.Get(session); stored != nil {
		m.bytes -= stored.bytes
	}
	return m.lists.Remove(session) && m.feed.add(session, nil), nil
}

// prepare normalizes list in place and checks it against the limits.
func (o *memoryOptions) prepare(list []Todo) ([]Todo, error) {
	if err := o.checkLength(list); err != nil {
		return nil, err
	}
	list, err := normalize(list)
	if err != nil {
		return nil, err
	}
	return list, o.checkTexts(list)
}

func (o *memoryOptions) checkLength(list []Todo) error {
	if o.maxItems == Off || len(list) <= o.maxItems {
		return nil
	}
	return refuse(0, fmt.Sprintf("the list has %d todos", len(list)),
		fmt.Sprintf("send at most %d", o.maxItems))
}

// checkTexts checks a normalized list, because that is what will be stored.
func (o *memoryOptions) checkTexts(list []Todo) error {
	for i, t := range list {
		if o.maxContent != Off && len(t.Content) > o.maxContent {
			return refuse(i+1, fmt.Sprintf("content has %d bytes", len(t.Content)),
				fmt.Sprintf("send at most %d", o.maxContent))
		}
		if max(len(t.ID), len(t.Status), len(t.Priority), len(t.Owner), len(t.BlockedBy)) > maxLabel {
			return refuse(i+1, "id, status, priority, owner or blockedBy is too long",
				fmt.Sprintf("send at most %d bytes in each", maxLabel))
		}
	}
	return nil
}

// sharedList is a list as it is kept on an engine. An incompatible change takes the
// next version of the format, which must decode the older ones too: version 1 had no
// owners and blockers.
type sharedList struct {
	Todos []Todo `json:"todos"`
}

func listFormat() recordtable.Format { return recordtable.Format{Kind: "todos", Version: 2} }

// table returns the table that keeps the lists, or nil to keep them in memory.
func (o *memoryOptions) table() *recordtable.Table[sharedList] {
	if o.records == nil {
		return nil
	}
	return &recordtable.Table[sharedList]{Records: o.records, Format: listFormat()}
}

// keep returns how long a list is kept from now on.
func (o *memoryOptions) keep() time.Duration {
	if o.maxAge == Off {
		return records.Off
	}
	return o.maxAge
}

// lookShared is look for lists on an engine, which cannot count the other sessions.
func (m *Memory) lookShared(ctx context.Context, session string) (list []Todo, err error) {
	err = m.shared.Update(ctx, session, func(_ time.Time, kept sharedList) (sharedList, time.Duration, error) {
		list = kept.Todos
		if list == nil {
			return kept, recordtable.Forget, nil
		}
		return kept, m.options.keep(), nil
	})
	switch {
	case err != nil:
		return nil, err
	case list == nil:
		return nil, &NoListError{}
	}
	return list, nil
}

// storeShared is store for lists on an engine.
func (m *Memory) storeShared(
	ctx context.Context, session string, next func(before []Todo) ([]Todo, error),
) (list []Todo, deliver bool, err error) {
	err = m.shared.Update(ctx, session, func(_ time.Time, kept sharedList) (sharedList, time.Duration, error) {
		var err error
		list, err = next(kept.Todos)
		switch {
		case err != nil:
			return kept, 0, err
		case len(list) == 0 && kept.Todos == nil:
			return kept, recordtable.Forget, nil
		case list == nil: // a list that was cleared is an empty one
			list = []Todo{}
		}
		return sharedList{list}, m.options.keep(), nil
	})
	if err != nil {
		return nil, false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return list, m.feed.add(session, list), nil
}

// forgetShared is forget for lists on an engine.
func (m *Memory) forgetShared(ctx context.Context, session string) (deliver bool, err error) {
	existed := false
	err = m.shared.Update(ctx, session, func(_ time.Time, kept sharedList) (sharedList, time.Duration, error) {
		existed = kept.Todos != nil
		return sharedList{}, recordtable.Forget, nil
	})
	if err != nil || !existed {
		return false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.feed.add(session, nil), nil
}
