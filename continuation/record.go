package continuation

import (
	"math"
	"time"
)

// record is a State as the memory store keeps it: small, because there may be
// a million of them. Times are nanoseconds since 1970, 0 for none.
type record struct {
	userTurn      uint64
	stale         uint64
	lastPrompt    int64
	used          int64
	tokens        int64
	claim         *Claim // nil for most sessions most of the time
	paused        *Pause
	attempts      int32
	continuations int32
	completed     int32
	active        int32 // -1: no watermarks yet
	textLength    int32
	lastResult    int16
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
	return r.claim != nil && r.claim.Active(now)
}

func (r *record) pack(s State, now int64) {
	*r = record{
		userTurn:      s.UserTurn,
		stale:         s.Stale,
		used:          now,
		tokens:        int64(s.Tokens),
		attempts:      small(s.Attempts),
		continuations: small(s.Continuations),
		active:        -1,
		textLength:    small(s.TextLength),
		lastResult:    int16(min(max(s.LastResult, math.MinInt16), math.MaxInt16)), //nolint:gosec // bounded
	}
	if !s.LastPrompt.IsZero() {
		r.lastPrompt = s.LastPrompt.UnixNano()
	}
	if s.Watermarks.Set {
		r.completed, r.active = small(s.Watermarks.Completed), small(s.Watermarks.Active)
	}
	if s.Claim != (Claim{}) {
		r.claim = copied(s.Claim)
	}
	if s.Paused != (Pause{}) {
		r.paused = copied(s.Paused)
	}
}

// copied returns a copy that outlives the call. It is a function of its own so
// that only the few states that need one cost an allocation.
func copied[T any](value T) *T { return &value }

func (r *record) unpack() State {
	s := State{
		UserTurn:      r.userTurn,
		TextLength:    int(r.textLength),
		Attempts:      int(r.attempts),
		Continuations: int(r.continuations),
		Tokens:        int(r.tokens),
		Stale:         r.stale,
		LastResult:    Result(r.lastResult),
	}
	if r.lastPrompt != 0 {
		s.LastPrompt = time.Unix(0, r.lastPrompt)
	}
	if r.active >= 0 {
		s.Watermarks = Watermarks{Set: true, Completed: int(r.completed), Active: int(r.active)}
	}
	if r.claim != nil {
		s.Claim = *r.claim
	}
	if r.paused != nil {
		s.Paused = *r.paused
	}
	return s
}

// small keeps a count that has run away within its field.
func small(n int) int32 {
	const most = 1<<31 - 1
	return int32(min(max(n, 0), most)) //nolint:gosec // bounded
}
