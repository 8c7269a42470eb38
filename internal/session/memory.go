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
	if kept != nil && !m.tooOld(kept, now) {
		before = kept.unpack()
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
	kept.pack(after, now)
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

func (m *MemoryStore) tooOld(r *record, now int64) bool {
	age := time.Duration(now - r.used)
	return m.life != continuation.Off && age > m.life || r.isLoop() && age > decision.LoopLife
}

// evict forgets one session other than key: from shard first, or from the next shard
// that has one.
func (m *MemoryStore) evict(first int, key string) {
	now := m.now()
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
func (s *memoryShard) evict(except string, now time.Time) bool {
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

// record is a state as the memory store keeps it: small, because there may be a
// million of them. Fields that most sessions do not use are behind pointers.
type record struct {
	message       uint64
	previous      uint64
	lastPrompt    instant
	used          int64
	tokens        int64
	claim         *claimRecord // nil: not claimed
	rare          *rareRecord  // nil: nothing of it is set
	userTurn      int32
	users         int32
	attempts      int32
	continuations int32
	todos         int32
	completed     int32
	active        int32 // -1: no watermarks yet
	textLength    int32
	lastResult    int16
	flags         flags
}

// flags are the boolean fields of a state.
type flags uint8

const (
	answered flags = 1 << iota
	refused
	touched
	cancelled
	leaveDenied
	asked
	unjudged
	worked
)

func flagsOf(s decision.State) (f flags) {
	if s.Answered {
		f |= answered
	}
	if s.Refused {
		f |= refused
	}
	if s.Touched {
		f |= touched
	}
	if s.Cancelled {
		f |= cancelled
	}
	if s.LeaveDenied {
		f |= leaveDenied
	}
	if s.Asked {
		f |= asked
	}
	if s.Unassessed {
		f |= unjudged
	}
	if s.Check.Worked {
		f |= worked
	}
	return f
}

// instant is a time in eight bytes: nanoseconds since 1970, 0 for none.
type instant int64

func instantOf(t time.Time) instant {
	switch {
	case t.IsZero():
		return 0
	case t.After(time.Unix(0, math.MaxInt64)): // such as the end of a claim of 250 years
		return math.MaxInt64
	}
	return instant(t.UnixNano())
}

func (i instant) time() time.Time {
	if i == 0 {
		return time.Time{}
	}
	return time.Unix(0, int64(i))
}

// claimRecord is a [Claim].
type claimRecord struct {
	token        uint64
	since, until instant
}

func claimRecordOf(c decision.Claim) claimRecord {
	return claimRecord{c.Token, instantOf(c.Since), instantOf(c.Until)}
}

func (c *claimRecord) unpack() decision.Claim {
	if c == nil {
		return decision.Claim{}
	}
	return decision.Claim{Token: c.token, Since: c.since.time(), Until: c.until.time()}
}

// rareRecord is the part of a State that most sessions do not have.
type rareRecord struct {
	paused   continuation.Pause
	waiting  instant // since when; 0: it has not waited
	waits    int32
	repeats  int32
	loopSeen instant
	stale    uint64
	checked  uint64 // the user's message about whose turn the program's check was asked
	failure  uint64 // the last one of that check
	failed   int32  // how often it has failed
	calls    [8]uint64
	loopSize int32
	own      decision.Overrides
}

func rareRecordOf(s *decision.State) rareRecord {
	return rareRecord{
		paused:   s.Paused,
		waiting:  instantOf(s.Waiting.Since),
		waits:    small(s.Waiting.Turns),
		repeats:  small(s.Repeats),
		loopSeen: instantOf(s.Loop.Seen),
		stale:    s.Stale,
		checked:  s.Check.Message,
		failure:  s.Check.Last,
		failed:   small(s.Check.Failed),
		calls:    s.Calls,
		loopSize: small(s.Loop.Size),
		own:      s.Overrides,
	}
}

func (r *rareRecord) unpackTo(s *decision.State) {
	if r == nil {
		return
	}
	s.Paused, s.Repeats = r.paused, int(r.repeats)
	s.Waiting = decision.Waiting{Since: r.waiting.time(), Turns: int(r.waits)}
	s.Loop = decision.Loop{Size: int(r.loopSize), Seen: r.loopSeen.time()}
	s.Check.Message, s.Check.Failed, s.Check.Last = r.checked, int(r.failed), r.failure
	s.Stale, s.Calls, s.Overrides = r.stale, r.calls, r.own
}

// before reports whether the store forgets r before o.
func (r *record) before(o *record, now time.Time) bool {
	if claimed := r.claimed(now); claimed != o.claimed(now) {
		return !claimed
	}
	return r.used < o.used
}

// claimed reports whether the session is being continued. A claim that has
// lapsed protects nothing: nobody may be left to clear it.
func (r *record) claimed(now time.Time) bool {
	return r.claim != nil && r.claim.unpack().Active(now)
}

// isLoop reports whether the record is of a tool loop without a session.
func (r *record) isLoop() bool {
	return r.rare != nil && (r.rare.loopSize != 0 || r.rare.loopSeen != 0)
}

func (r *record) pack(s decision.State, now int64) {
	*r = record{
		message:       s.Message,
		userTurn:      small(s.UserTurn),
		users:         small(s.Users),
		flags:         flagsOf(s),
		previous:      s.Previous,
		used:          now,
		tokens:        int64(s.Tokens),
		attempts:      small(s.Attempts),
		continuations: small(s.Continuations),
		active:        -1,
		textLength:    small(s.TextLength),
		lastResult:    int16(min(max(s.LastResult, math.MinInt16), math.MaxInt16)), //nolint:gosec // bounded
		lastPrompt:    instantOf(s.LastPrompt),
	}
	if s.Watermarks.Set {
		r.todos, r.completed, r.active = small(s.Watermarks.Todos), small(s.Watermarks.Completed), small(s.Watermarks.Active)
	}
	if claim := claimRecordOf(s.Claim); claim != (claimRecord{}) {
		r.claim = copied(claim)
	}
	if rare := rareRecordOf(&s); rare != (rareRecord{}) {
		r.rare = copied(rare)
	}
}

// copied returns a copy that outlives the call. It is a function of its own so
// that only the few states that need one cost an allocation.
func copied[T any](value T) *T { return &value }

func (r *record) unpack() decision.State {
	s := decision.State{
		UserTurn:      int(r.userTurn),
		Message:       r.message,
		Users:         int(r.users),
		Answered:      r.flags&answered != 0,
		Refused:       r.flags&refused != 0,
		Touched:       r.flags&touched != 0,
		Cancelled:     r.flags&cancelled != 0,
		LeaveDenied:   r.flags&leaveDenied != 0,
		Asked:         r.flags&asked != 0,
		Unassessed:    r.flags&unjudged != 0,
		Check:         decision.CheckState{Worked: r.flags&worked != 0},
		TextLength:    int(r.textLength),
		Attempts:      int(r.attempts),
		Continuations: int(r.continuations),
		Tokens:        int(r.tokens),
		Previous:      r.previous,
		LastPrompt:    r.lastPrompt.time(),
		LastResult:    decision.PromptResult(r.lastResult),
		Claim:         r.claim.unpack(),
	}
	if r.active >= 0 {
		s.Watermarks = decision.Watermarks{Set: true, Todos: int(r.todos), Completed: int(r.completed), Active: int(r.active)}
	}
	r.rare.unpackTo(&s)
	return s
}

// small limits a count to what its field can hold.
func small(n int) int32 {
	const most = 1<<31 - 1
	return int32(min(max(n, 0), most)) //nolint:gosec // bounded
}
