// Package session keeps the states of sessions, in memory or in an engine that processes
// share. Package decision has what a state is.
package session

import (
	"context"
	"hash/maphash"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/scope"
)

const (
	memoryShards = 64
	// A store for at least this many sessions is split into shards.
	sharded = 16 * memoryShards
	// candidates is how many sessions are compared to choose one to forget. In a
	// shard with no more than that, it is exactly the least recently used one.
	candidates = 16
)

// MemoryStore is a [Store] in memory. It limits the number and the age of sessions and
// starts no goroutine: it drops a state that is too old when the session is next used.
// It is safe for concurrent use.
type MemoryStore struct {
	shards      []memoryShard
	seed        maphash.Seed
	maxSessions int64
	life        time.Duration
	now         func() time.Time
	sessions    atomic.Int64
}

type memoryShard struct {
	mu       sync.Mutex
	records  map[string]*record
	lastUsed int64
	scratch  decision.Packed // where states are packed
}

// NewMemoryStore returns an empty store. It keeps at most that many sessions, beyond
// that it forgets the least recently used, and each for the given life after its last
// use; [continuation.Off] is no limit of the life. now tells the time.
func NewMemoryStore(sessions int, life time.Duration, now func() time.Time) *MemoryStore {
	shards := 1
	if sessions >= sharded {
		shards = memoryShards
	}
	return &MemoryStore{
		shards: make([]memoryShard, shards), seed: maphash.MakeSeed(),
		maxSessions: int64(sessions), life: life, now: now,
	}
}

// Len returns the number of sessions in memory.
func (m *MemoryStore) Len() int {
	return int(m.sessions.Load())
}

// Update implements [Store]. It never fails, and ignores ctx, because it never waits.
func (m *MemoryStore) Update(_ context.Context, key string, f func(decision.State) decision.State) error {
	key = scope.Name(key)
	first := int(maphash.String(m.seed, key) % uint64(len(m.shards))) //nolint:gosec // at most memoryShards
	if m.shards[first].update(key, f, m) {
		m.evict(first, key)
	}
	return nil
}

// update reports whether a session was added beyond the limit.
func (s *memoryShard) update(key string, f func(decision.State) decision.State, m *MemoryStore) (full bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.tick(m.now().UnixNano())
	kept := s.records[key]
	var before decision.State
	if kept != nil {
		if before = kept.state.Unpack(); m.tooOld(time.Duration(now-kept.used), &before) {
			before = decision.State{}
		}
	}
	after := f(before)
	switch {
	case after == (decision.State{}): // nothing to remember
		if kept != nil {
			delete(s.records, key)
			m.sessions.Add(-1)
		}
		return false
	case kept == nil:
		if s.records == nil {
			s.records = make(map[string]*record)
		}
		kept = new(record)
		s.records[strings.Clone(key)] = kept // key may be a small part of a large request
		full = m.sessions.Add(1) > m.maxSessions
	}
	s.scratch = s.scratch[:0].Append(&after)
	*kept = record{used: now, claimed: claimedUntil(after.Claim), state: append(kept.state[:0], s.scratch...)}
	return full
}

// tick returns the time of a use: now, or a little later if the clock has hardly
// moved, so that no two uses in a shard have the same time.
func (s *memoryShard) tick(now int64) int64 {
	if ahead := s.lastUsed - now; ahead >= 0 && ahead < int64(time.Second) {
		now = s.lastUsed + 1
	}
	s.lastUsed = now
	return now
}

// tooOld reports whether a state is forgotten at that age.
func (m *MemoryStore) tooOld(age time.Duration, s *decision.State) bool {
	return m.life != continuation.Off && age > m.life || s.Loop != (decision.Loop{}) && age > decision.LoopLife
}

// evict forgets one session other than key: from shard first, or from the next shard
// that has one.
func (m *MemoryStore) evict(first int, key string) {
	now := m.now().UnixNano()
	for i := range m.shards {
		if m.shards[(first+i)%len(m.shards)].evict(key, now) {
			m.sessions.Add(-1)
			return
		}
	}
}

// evict forgets the least recently used of some sessions; those being
// continued go last. The order of a map's iteration is random, which makes the
// first few a sample.
func (s *memoryShard) evict(except string, now int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	var victim string
	var worst *record
	seen := 0
	for key, r := range s.records {
		if key == except {
			continue
		}
		if worst == nil || r.before(worst, now) {
			victim, worst = key, r
		}
		seen++
		if seen == candidates {
			break
		}
	}
	if worst == nil {
		return false
	}
	delete(s.records, victim)
	return true
}

// record is a state as the memory store keeps it: packed, because there may be a million
// of them.
type record struct {
	used    int64 // when the session was last used
	claimed int64 // until when the session is being continued
	state   decision.Packed
}

// before reports whether the store forgets r before o. A claim that has lapsed protects
// nothing: nobody may be left to clear it.
func (r *record) before(o *record, now int64) bool {
	if claimed := r.claimed > now; claimed != (o.claimed > now) {
		return !claimed
	}
	return r.used < o.used
}

// claimedUntil returns when a claim lapses, in nanoseconds since 1970.
func claimedUntil(c decision.Claim) int64 {
	switch {
	case c.Token == 0:
		return 0
	case c.Until.IsZero(), c.Until.After(time.Unix(0, math.MaxInt64)):
		return math.MaxInt64
	}
	return c.Until.UnixNano()
}
