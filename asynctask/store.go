package asynctask

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/carryon-go/carryon/internal/lru"
	"github.com/carryon-go/carryon/internal/recordtable"
	"github.com/carryon-go/carryon/internal/scope"
	"github.com/carryon-go/carryon/records"
)

// store keeps the accounts of sessions under their names. The name "" is for tasks
// without a session, and for the one conversation of WithOneConversation.
type store interface {
	// look returns the account of the session, nil if there is none, and the store's
	// time, which may be zero without an account.
	look(ctx context.Context, session string) (*account, time.Time, error)
	// update replaces the account of the session by the result of f, atomically; now
	// is the store's time. f is pure and may run more than once: its last result
	// counts. If f fails, nothing is stored and update returns that error.
	update(ctx context.Context, session string, f func(now time.Time, a account) (account, error)) error
}

// format returns how accounts are encoded in an engine that processes share.
func format() recordtable.Format { return recordtable.Format{Kind: "tasks", Version: 1} }

// sharedStore keeps accounts as records of an engine.
type sharedStore struct {
	table     recordtable.Table[account]
	retention time.Duration
}

func newSharedStore(engine records.Records, retention time.Duration) *sharedStore {
	return &sharedStore{table: recordtable.Table[account]{Records: engine, Format: format()}, retention: retention}
}

func (s *sharedStore) look(ctx context.Context, session string) (found *account, at time.Time, err error) {
	err = s.update(ctx, session, func(now time.Time, a account) (account, error) {
		found, at = &a, now
		return a, nil
	})
	return found, at, err
}

func (s *sharedStore) update(
	ctx context.Context, session string, f func(now time.Time, a account) (account, error),
) error {
	return s.table.Update(ctx, session, func(now time.Time, a account) (account, time.Duration, error) {
		a, err := f(now, a.with(a.Tasks))
		if err != nil || a.isEmpty() {
			return account{}, recordtable.Forget, err
		}
		return a, a.keep(s.retention, now), nil
	})
}

// memoryStore is the store of one Manager. It is bounded in bytes: the least recently
// used sessions lose most of their outputs first, and are dropped if that is not
// enough. It runs no goroutine.
type memoryStore struct {
	now       func() time.Time
	size      int
	retention time.Duration

	mu    sync.Mutex
	whole *lru.Table[kept] // the sessions whose outputs may be cut
	cut   *lru.Table[kept] // the sessions whose outputs were cut
	bytes int
}

// kept is an account in a memoryStore.
type kept struct {
	account *account
	bytes   int
	used    time.Time
}

func newMemoryStore(o *options) *memoryStore {
	return &memoryStore{
		now: o.clock.Now, size: o.memory, retention: o.retention, whole: lru.New[kept](), cut: lru.New[kept](),
	}
}

func (s *memoryStore) look(_ context.Context, session string) (*account, time.Time, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.find(session)
	if k == nil {
		return nil, time.Time{}, nil
	}
	k.used = s.now()
	return k.account, k.used, nil
}

// update implements store. It ignores ctx, because nothing here blocks.
func (s *memoryStore) update(
	_ context.Context, session string, f func(now time.Time, a account) (account, error),
) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, before := s.now(), account{}
	if k := s.find(session); k != nil {
		before = *k.account
	}
	after, err := f(now, before)
	if err != nil {
		return err
	}
	s.remove(session)
	if !after.isEmpty() {
		s.put(s.whole, session, &after, now)
	}
	s.trim(now)
	return nil
}

// find returns the account of the session, nil if there is none.
func (s *memoryStore) find(session string) *kept {
	if k := s.whole.Get(session); k != nil {
		return k
	}
	return s.cut.Get(session)
}

func (s *memoryStore) put(table *lru.Table[kept], session string, a *account, used time.Time) {
	k := kept{account: a, bytes: len(session) + a.size(), used: used}
	*table.Put(session) = k
	s.bytes += k.bytes
}

func (s *memoryStore) remove(session string) {
	if k := s.find(session); k != nil {
		s.bytes -= k.bytes
		_ = s.whole.Remove(session) || s.cut.Remove(session)
	}
}

// trim drops old accounts, and cuts and drops accounts to save memory. It keeps
// accounts with running tasks.
func (s *memoryStore) trim(now time.Time) {
	isOld := func(k *kept) bool { return s.retention != Off && now.Sub(k.used) >= s.retention }
	tooMuch := func(*kept) bool { return s.bytes > s.size }
	for _, table := range []*lru.Table[kept]{s.whole, s.cut} {
		drop := func(session string, k kept) {
			if k.account.Running > 0 {
				s.put(table, session, k.account, now)
			}
		}
		shrink := func(session string, k kept) {
			shrunk := k.account.shrink(0)
			s.put(s.cut, session, &shrunk, k.used)
		}
		s.each(table, isOld, drop)
		if table == s.cut {
			shrink = drop
		}
		s.each(table, tooMuch, shrink)
	}
}

// each takes the least recently used accounts out of a table, as long as match
// returns true for them, and passes them to then. It takes only a few, so that no update takes
// long, but more than one update adds.
func (s *memoryStore) each(table *lru.Table[kept], match func(*kept) bool, then func(session string, k kept)) {
	for range min(table.Len(), 32) {
		session, k := table.Oldest()
		if !match(k) {
			return
		}
		taken := *k
		s.remove(session)
		then(session, taken)
	}
}

// accounts reads and changes the accounts of sessions in the store.
type accounts struct {
	store           store
	rules           rules
	oneConversation bool
	none            account // of sessions that have none

	// lost is called with tasks that were ended because they were lost.
	lost func(ctx context.Context, session string, ended []record)
}

// key returns the name of the session in the store.
func (s *accounts) key(session string) string {
	if s.oneConversation {
		return ""
	}
	return session
}

// session returns the session of a task that is started under ctx.
func (s *accounts) session(ctx context.Context) string {
	requireContext(ctx)
	return s.key(scope.Session(ctx))
}

// isSilent reports whether the model is never told about the session's tasks.
func (s *accounts) isSilent(session string) bool { return session == "" && !s.oneConversation }

// look returns the account of the session as others may see it, and the store's time.
func (s *accounts) look(ctx context.Context, session string) (*account, time.Time, error) {
	requireContext(ctx)
	if s.isSilent(session) {
		return &s.none, time.Time{}, nil
	}
	return s.read(ctx, s.key(session))
}

// read returns the account under that key, after ending its lost tasks.
func (s *accounts) read(ctx context.Context, key string) (*account, time.Time, error) {
	a, now, err := s.store.look(ctx, key)
	switch {
	case err != nil || a == nil:
		return &s.none, now, err
	case a.hasLost(now):
		return s.revise(ctx, key)
	}
	return a, now, nil
}

// revise ends the lost tasks of the account, and returns the account.
func (s *accounts) revise(ctx context.Context, key string) (a *account, now time.Time, err error) {
	err = s.updateLive(ctx, key, func(at time.Time, live account, _ rules) (account, error) {
		a, now = &live, at
		return live, nil
	})
	if err != nil {
		a = &s.none
	}
	return a, now, err
}

// task returns the task of the ticket. It fails with ErrUnknown.
func (s *accounts) task(ctx context.Context, t Ticket) (Task, error) {
	requireContext(ctx)
	session := s.key(t.Session)
	a, _, err := s.read(ctx, session)
	if err != nil {
		return Task{}, err
	}
	if r := a.find(t.ID); r != nil {
		return r.view(session), nil
	}
	return Task{}, fmt.Errorf("%w: %.64q", ErrUnknown, t.ID)
}

// update changes the account of the session. The store may run f more than once.
func (s *accounts) update(
	ctx context.Context, session string, f func(time.Time, account, rules) (account, error),
) error {
	requireContext(ctx)
	rules := s.rules
	rules.silent = s.isSilent(session)
	return s.store.update(ctx, s.key(session), func(now time.Time, a account) (account, error) { return f(now, a, rules) })
}

// updateLive is update of an account whose lost tasks are ended first.
func (s *accounts) updateLive(
	ctx context.Context, session string, f func(time.Time, account, rules) (account, error),
) error {
	var lost []record
	err := s.update(ctx, session, func(now time.Time, a account, rules rules) (account, error) {
		a, lost = a.endLost(now, rules)
		return f(now, a, rules)
	})
	if err == nil && len(lost) > 0 {
		s.lost(ctx, session, lost)
	}
	return err
}

// end ends a task, and returns the ended task.
func (s *accounts) end(ctx context.Context, t Ticket, r *result) (ended record, err error) {
	err = s.update(ctx, t.Session, func(now time.Time, a account, rules rules) (_ account, err error) {
		a, ended, err = a.end(t.ID, r, now, rules)
		return a, err
	})
	return ended, err
}

func requireContext(ctx context.Context) {
	if ctx == nil {
		panic("carryon/asynctask: nil context")
	}
}
