package asynctask

import (
	"context"
	"sync"
	"time"

	"github.com/carryon-go/carryon/internal/lru"
)

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

// each takes the least recently used accounts out of a table, as long as meant
// selects them, and passes them to then. It takes only a few, so that no update takes
// long, but more than one update adds.
func (s *memoryStore) each(table *lru.Table[kept], meant func(*kept) bool, then func(session string, k kept)) {
	for range min(table.Len(), 32) {
		session, k := table.Oldest()
		if !meant(k) {
			return
		}
		taken := *k
		s.remove(session)
		then(session, taken)
	}
}
