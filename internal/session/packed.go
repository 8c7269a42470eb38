package session

import (
	"math"
	"time"

	"github.com/carryon-go/carryon/continuation"
)

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
	unjudged
)

func flagsOf(s continuation.State) (f flags) {
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
	if s.Unjudged {
		f |= unjudged
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

func claimRecordOf(c continuation.Claim) claimRecord {
	return claimRecord{c.Token, instantOf(c.Since), instantOf(c.Until)}
}

func (c *claimRecord) unpack() continuation.Claim {
	if c == nil {
		return continuation.Claim{}
	}
	return continuation.Claim{Token: c.token, Since: c.since.time(), Until: c.until.time()}
}

// rareRecord is the part of a State that most sessions do not have.
type rareRecord struct {
	paused   continuation.Pause
	loopSeen instant
	stale    uint64
	calls    continuation.CallsSeen
	loopSize int32
	own      continuation.Overrides
}

func rareRecordOf(s *continuation.State) rareRecord {
	return rareRecord{
		paused:   s.Paused,
		loopSeen: instantOf(s.Loop.Seen),
		stale:    s.Stale,
		calls:    s.Calls,
		loopSize: small(s.Loop.Size),
		own:      s.Overrides,
	}
}

func (r *rareRecord) unpackTo(s *continuation.State) {
	if r == nil {
		return
	}
	s.Paused = r.paused
	s.Loop = continuation.Loop{Size: int(r.loopSize), Seen: r.loopSeen.time()}
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

func (r *record) pack(s continuation.State, now int64) {
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

func (r *record) unpack() continuation.State {
	s := continuation.State{
		UserTurn:      int(r.userTurn),
		Message:       r.message,
		Users:         int(r.users),
		Answered:      r.flags&answered != 0,
		Refused:       r.flags&refused != 0,
		Touched:       r.flags&touched != 0,
		Cancelled:     r.flags&cancelled != 0,
		LeaveDenied:   r.flags&leaveDenied != 0,
		Unjudged:      r.flags&unjudged != 0,
		TextLength:    int(r.textLength),
		Attempts:      int(r.attempts),
		Continuations: int(r.continuations),
		Tokens:        int(r.tokens),
		Previous:      r.previous,
		LastPrompt:    r.lastPrompt.time(),
		LastResult:    continuation.PromptResult(r.lastResult),
		Claim:         r.claim.unpack(),
	}
	if r.active >= 0 {
		s.Watermarks = continuation.Watermarks{Set: true, Todos: int(r.todos), Completed: int(r.completed), Active: int(r.active)}
	}
	r.rare.unpackTo(&s)
	return s
}

// small limits a count to what its field can hold.
func small(n int) int32 {
	const most = 1<<31 - 1
	return int32(min(max(n, 0), most)) //nolint:gosec // bounded
}
