package asynctask

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// Store keeps the accounts of sessions. Managers in several processes that serve
// the same conversations can share one. It is safe for concurrent use.
type Store interface {
	// Look returns the account of the session, nil if there is none. It must not
	// be changed.
	Look(ctx context.Context, session string) (*Account, error)
	// Update replaces the account of the session by f of it, atomically; now is
	// the store's time, so that processes need not agree on theirs. f is pure
	// and may run more than once: its last result counts. If f fails, nothing
	// is stored and Update returns that error.
	//
	// Sessions have the names that the program gave them; "" is for tasks
	// without a session, and for the one conversation of WithOneConversation.
	Update(ctx context.Context, session string, f func(now time.Time, a Account) (Account, error)) error
}

// MaxUndelivered is how many ended tasks may wait for delivery, all sessions of
// a [MemoryStore] taken together, before no more are started.
const MaxUndelivered = 10_000

const (
	// maxHistory is how many delivered tasks are kept, all sessions taken
	// together, so that sessions that never come back cost nothing in the long
	// run.
	maxHistory = 10_000
	// shrunkSize is what is left of an output beyond the total size.
	shrunkSize = 2 << 10
)

// MemoryStore is the [Store] that is used by default. It lives in memory and is
// bounded: in ended tasks, those that were delivered and those that wait for it,
// and in the size of their outputs. It runs no goroutine.
type MemoryStore struct {
	now        func() time.Time
	outputSize int

	mu          sync.Mutex
	accounts    map[string]*Account
	ended       []ref // the tasks that have ended, in this order; some may not be kept any more
	large       []ref // of those, the ones whose output can be cut
	kept        int   // tasks that have ended
	undelivered int
	bytes       int // of outputs
}

// ref is where a task is kept.
type ref struct {
	session string
	number  uint64
}

// NewMemoryStore returns an empty store. Of the options, WithOutputSize and
// WithClock count. It panics if one is not valid.
func NewMemoryStore(opts ...Option) *MemoryStore {
	o, err := newOptions(opts)
	if err != nil {
		panic("carryon/" + err.Error())
	}
	return newMemoryStore(&o)
}

func newMemoryStore(o *options) *MemoryStore {
	return &MemoryStore{now: o.clock.Now, outputSize: o.outputSize, accounts: map[string]*Account{}}
}

// Look implements [Store]. It does not fail.
func (s *MemoryStore) Look(_ context.Context, session string) (*Account, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.accounts[session], nil
}

// backlog fails with ErrBacklog if the ends of MaxUndelivered tasks wait for
// delivery. A Manager asks before it starts one.
func (s *MemoryStore) backlog() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.undelivered < MaxUndelivered {
		return nil
	}
	return fmt.Errorf("%w: %d", ErrBacklog, s.undelivered)
}

// Update implements [Store]. It fails with the error of f alone; ctx is not
// looked at, because nothing here waits.
func (s *MemoryStore) Update(
	_ context.Context, session string, f func(now time.Time, a Account) (Account, error),
) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.get(session)
	after, err := f(s.now(), before)
	if err != nil {
		return err
	}
	session = strings.Clone(session) // it may be a small part of a large request
	s.put(session, after)
	if after.Version > before.Version {
		s.enqueue(session, &after, before.Version)
	}
	s.trim()
	return nil
}

// trim drops delivered tasks and cuts outputs for as long as there are too many:
// those first that ended first, and outputs that were delivered before others.
func (s *MemoryStore) trim() {
	tooMany := func() bool { return s.kept-s.undelivered > maxHistory }
	tooLarge := func() bool { return s.bytes > s.outputSize }
	isDelivered := func(t *Record) bool { return t.Delivered }
	isAny := func(*Record) bool { return true }
	drop := func(a Account, number uint64) Account {
		return a.drop(func(t Record) bool { return t.Number == number })
	}
	s.ended = s.sweep(s.ended, tooMany, isDelivered, drop)
	s.large = s.sweep(s.large, tooLarge, isDelivered, Account.shrink)
	s.large = s.sweep(s.large, tooLarge, isAny, Account.shrink)
}

func (s *MemoryStore) get(session string) Account {
	if a := s.accounts[session]; a != nil {
		return *a
	}
	return Account{}
}

// put replaces an account and brings the totals up to date.
func (s *MemoryStore) put(session string, after Account) {
	before := s.get(session)
	s.kept += len(after.Tasks) - after.Running - len(before.Tasks) + before.Running
	s.undelivered += after.Undelivered - before.Undelivered
	s.bytes += after.OutputBytes - before.OutputBytes
	if len(after.Tasks) == 0 {
		delete(s.accounts, session)
	} else {
		s.accounts[session] = &after
	}
}

// find returns the task that has ended and that r refers to, nil if it is not
// kept any more.
func (s *MemoryStore) find(r ref) *Record {
	a := s.get(r.session)
	if t := a.byNumber(r.number); t != nil && t.Result != nil {
		return t
	}
	return nil
}

// enqueue appends the tasks of the account that have ended since that version.
// Once most of those in the queues are not kept any more, these leave them.
func (s *MemoryStore) enqueue(session string, a *Account, since uint64) {
	for i := range a.Tasks {
		t := &a.Tasks[i]
		if t.Order <= since {
			continue
		}
		s.ended = append(s.ended, ref{session, t.Number})
		if t.Result.Bytes > shrunkSize {
			s.large = append(s.large, ref{session, t.Number})
		}
	}
	if len(s.ended) > 2*s.kept+16 {
		isGone := func(r ref) bool { return s.find(r) == nil }
		s.ended, s.large = slices.DeleteFunc(s.ended, isGone), slices.DeleteFunc(s.large, isGone)
	}
}

// sweep changes tasks of the queue that are meant, from the first on, for as
// long as there is an excess, and returns the queue without them.
func (s *MemoryStore) sweep(
	q []ref, excess func() bool, meant func(*Record) bool, change func(Account, uint64) Account,
) []ref {
	kept, i := 0, 0
	for ; i < len(q) && excess(); i++ {
		r := q[i]
		switch t := s.find(r); {
		case t == nil:
		case meant(t):
			s.put(r.session, change(s.get(r.session), r.number))
		default:
			q[kept] = r
			kept++
		}
	}
	copy(q[i-kept:i], q[:kept])
	return q[i-kept:]
}
