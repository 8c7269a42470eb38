package records

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/carryon-go/carryon/internal/lru"
)

// turns lets one update per key run at a time. The zero value is ready for use.
type turns struct {
	mu   sync.Mutex
	keys map[string]*turn // the keys with an update that runs or waits
}

type turn struct {
	free  chan struct{} // holds a value while no update runs
	users int
}

// wait returns once it is this update's turn, or with the error of ctx.
func (t *turns) wait(ctx context.Context, key string) error {
	t.mu.Lock()
	own := t.keys[key]
	if own == nil {
		if t.keys == nil {
			t.keys = map[string]*turn{}
		}
		own = &turn{free: make(chan struct{}, 1)}
		own.free <- struct{}{}
		t.keys[key] = own
	}
	own.users++
	t.mu.Unlock()
	select {
	case <-own.free:
		return nil
	case <-ctx.Done():
		t.leave(key, own)
		return ctx.Err()
	}
}

// done ends the turn, which passes to the update that has waited longest.
func (t *turns) done(key string) {
	t.mu.Lock()
	own := t.keys[key]
	t.mu.Unlock()
	own.free <- struct{}{}
	t.leave(key, own)
}

func (t *turns) leave(key string, own *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	own.users--
	if own.users == 0 {
		delete(t.keys, key)
	}
}

const (
	// maxSeen is how many records a process remembers.
	maxSeen = 8192
	// maxSeenSize is the largest record that is remembered.
	maxSeenSize = 4 << 10
)

// seen caches the records of the keys used last. The zero value is ready for use.
type seen struct {
	mu    sync.Mutex
	table *lru.Table[sight]
}

// sight is a record as last seen.
type sight struct {
	Snapshot

	changed   time.Time // when this process changed it; zero if it did not
	contested time.Time // when this process found that another process had changed it
}

// get returns the record as last seen, or no record if it is not known.
func (s *seen) get(key string) sight {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.table != nil {
		if last := s.table.Get(key); last != nil {
			return *last
		}
	}
	return sight{}
}

// put stores the record as it is after an update. changed reports whether the update
// changed it.
func (s *seen) put(key string, now Snapshot, changed bool) {
	if now.Revision == "" || len(now.Record) > maxSeenSize {
		s.drop(key)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.table == nil {
		s.table = lru.New[sight]()
	}
	last := s.table.Put(key)
	last.Snapshot = now
	if changed {
		last.changed = time.Now()
	}
	s.table.Trim(maxSeen)
}

// contest records that another process has changed the record.
func (s *seen) contest(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.table != nil {
		if last := s.table.Get(key); last != nil {
			last.contested = time.Now()
		}
	}
}

func (s *seen) drop(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.table != nil {
		s.table.Remove(key)
	}
}

// clock is this machine's clock, adjusted to the engine's by learn.
type clock struct {
	set   atomic.Bool
	ahead atomic.Int64 // how far the engine's clock is ahead of this one
}

func (c *clock) isSet() bool { return c.set.Load() }

func (c *clock) now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

// learn adjusts the clock: the engine's time was read between asked and answered, two
// times of this machine's clock.
func (c *clock) learn(engine, asked, answered time.Time) {
	if !engine.IsZero() {
		c.ahead.Store(int64(engine.Sub(asked.Add(answered.Sub(asked) / 2))))
	}
	c.set.Store(true)
}
