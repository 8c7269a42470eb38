package continuation

import (
	"math"
	"time"
)

// record is a State as the memory store keeps it: small, because there may be
// a million of them. Times are nanoseconds since 1970, 0 for none.
type record struct {
	message       uint64
	previous      uint64
	lastPrompt    int64
	used          int64
	tokens        int64
	rare          *rareRecord // nil for most sessions most of the time
	userTurn      int32
	users         int32
	attempts      int32
	continuations int32
	completed     int32
	active        int32 // -1: no watermarks yet
	textLength    int32
	lastResult    int16
	flags         flags
}

// flags are the facts of a State that are true.
type flags uint8

const (
	answered flags = 1 << iota
	refused
	touched
	cancelled
)

func flagsOf(s State) (f flags) {
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
	return f
}

// rareRecord is the part of a State that most sessions do not have.
type rareRecord struct {
	claim  Claim
	paused Pause
	loop   Loop
	stale  uint64
	own    Overrides
	list   uint64
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
	return r.rare != nil && r.rare.claim.Active(now)
}

func (r *record) pack(s State, now int64) {
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
	}
	if !s.LastPrompt.IsZero() {
		r.lastPrompt = s.LastPrompt.UnixNano()
	}
	if s.Watermarks.Set {
		r.completed, r.active = small(s.Watermarks.Completed), small(s.Watermarks.Active)
	}
	if rare := (rareRecord{claim: s.Claim, paused: s.Paused, loop: s.Loop, stale: s.Stale, list: s.List, own: s.Overrides}); rare != (rareRecord{}) {
		r.rare = copied(rare)
	}
}

// copied returns a copy that outlives the call. It is a function of its own so
// that only the few states that need one cost an allocation.
func copied[T any](value T) *T { return &value }

func (r *record) unpack() State {
	s := State{
		UserTurn:      int(r.userTurn),
		Message:       r.message,
		Users:         int(r.users),
		Answered:      r.flags&answered != 0,
		Refused:       r.flags&refused != 0,
		Touched:       r.flags&touched != 0,
		Cancelled:     r.flags&cancelled != 0,
		TextLength:    int(r.textLength),
		Attempts:      int(r.attempts),
		Continuations: int(r.continuations),
		Tokens:        int(r.tokens),
		Previous:      r.previous,
		LastResult:    Result(r.lastResult),
	}
	if r.lastPrompt != 0 {
		s.LastPrompt = time.Unix(0, r.lastPrompt)
	}
	if r.active >= 0 {
		s.Watermarks = Watermarks{Set: true, Completed: int(r.completed), Active: int(r.active)}
	}
	if r.rare != nil {
		s.Claim, s.Paused, s.Loop = r.rare.claim, r.rare.paused, r.rare.loop
		s.Stale, s.List = r.rare.stale, r.rare.list
		s.Overrides = r.rare.own
	}
	return s
}

// small keeps a count that has run away within its field.
func small(n int) int32 {
	const most = 1<<31 - 1
	return int32(min(max(n, 0), most)) //nolint:gosec // bounded
}
