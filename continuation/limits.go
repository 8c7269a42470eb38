package continuation

import (
	"cmp"
	"fmt"
	"time"
)

// Off in a field of [Limits] means no limit.
const Off = -1

// Limits bound what carryon may add to a call. A zero field means its default, which
// [DefaultLimits] returns, and [Off] means no limit. Other negative values are errors.
type Limits struct {
	// MaxAttempts is the number of continuations since the last progress, without those
	// that called a tool. A call is none if one of the latest eight continuations with
	// calls made the same one, with the same arguments. Progress is a todo list with more
	// completed or fewer active todos than ever before in the user turn; of the todos
	// added during the user turn, only the first 20 count.
	//
	// A continuation that fails before the caller sees any of it uses no attempt.
	//
	// A model that gives the same answer twice gets one more attempt, not all of them. In
	// two cases there is only one: until the list makes progress, if in
	// [ApprovalDefault] a turn neither asks anything nor shows that the model has
	// stalled; and until the list changes, if the user turn before ended paused,
	// cancelled or out of budget.
	MaxAttempts int
	// MaxWithoutProgress is the number of continuations in a user turn since the todo
	// list last made progress. Tool calls do not reset it.
	MaxWithoutProgress int
	// MinInterval is the least time between two prompts of a session. A continuation
	// that comes sooner waits.
	MinInterval time.Duration
	// ResponseTimeout is the longest silence in a continuation's stream after its first
	// chunk. It is measured only while the consumer is reading. A stream that sends
	// nothing but comments or empty chunks is cut off after ten times as long.
	ResponseTimeout time.Duration
	// FirstByteTimeout is the longest time from sending a continuation to its first
	// chunk or, if it is not streamed, to its answer.
	FirstByteTimeout time.Duration
	// TokenBudget is the number of tokens that continuations may use in a user turn. It
	// is checked before each continuation, so the last one may exceed it. If the provider
	// reports no usage, carryon estimates it from the texts, on the high side. The
	// default is Off.
	TokenBudget int
	// ClaimLife is how long a session counts as being continued if carryon never
	// learns that the continuation has ended, because a stream was dropped without
	// Close or a replica died. It must be longer than any continuation takes.
	ClaimLife time.Duration
	// MaxTaskAge is the age at which an unfinished background task no longer keeps its
	// session from being continued, so that a task that hangs does not block it forever.
	// Work that the agent itself has begun, whose age nobody knows, counts from the first
	// turn that awaits it.
	MaxTaskAge time.Duration

	// TodoTimeout is how long a todo source may take. Then its ctx ends, and the call is
	// not continued. A source that ignores its ctx delays the call until it returns.
	// After a timeout, carryon does not ask the source for a few seconds. It cannot be
	// Off.
	TodoTimeout time.Duration
	// StoreTimeout is how long a turn may wait for shared state: the store of
	// middleware.WithRecords, shared todo lists and background tasks. A call waits for
	// at most one timeout: after that it is not continued, and asks for no shared state
	// again. After a timeout or an error, no call does for a few seconds. It cannot be
	// Off.
	StoreTimeout time.Duration
	// MaxSessions is the number of sessions that are kept in memory; beyond it, the
	// least recently used session is forgotten. It does not apply to a shared store. It
	// cannot be Off.
	MaxSessions int
	// SessionLife is how long a session is kept after its last use. A session that is
	// being continued is kept at least until its [Claim] lapses. In a shared store, a session
	// with settings of its own is kept forever.
	SessionLife time.Duration
}

// Check returns an error that names the first limit with an invalid value. Use it for
// limits from a configuration: middleware.New panics on invalid limits.
func (l Limits) Check() error {
	_, err := l.WithDefaults()
	return err
}

// DefaultLimits returns the limits that a zero [Limits] stands for.
func DefaultLimits() Limits {
	return Limits{
		MaxAttempts:        4,
		MaxWithoutProgress: 10,
		MinInterval:        time.Second,
		ResponseTimeout:    30 * time.Second,
		FirstByteTimeout:   5 * time.Minute,
		TokenBudget:        Off,
		ClaimLife:          10 * time.Minute,
		MaxTaskAge:         30 * time.Minute,
		TodoTimeout:        time.Second,
		StoreTimeout:       500 * time.Millisecond,
		MaxSessions:        100_000,
		SessionLife:        24 * time.Hour,
	}
}

// WithDefaults returns the limits with every zero field set to its default. It returns
// an error for a negative value other than [Off], and for Off in a field that cannot be
// Off.
func (l Limits) WithDefaults() (Limits, error) {
	d := DefaultLimits()
	err := cmp.Or(
		resolve("MaxAttempts", &l.MaxAttempts, d.MaxAttempts),
		resolve("MaxWithoutProgress", &l.MaxWithoutProgress, d.MaxWithoutProgress),
		resolve("TokenBudget", &l.TokenBudget, d.TokenBudget),
		resolve("MinInterval", &l.MinInterval, d.MinInterval),
		resolve("ResponseTimeout", &l.ResponseTimeout, d.ResponseTimeout),
		resolve("FirstByteTimeout", &l.FirstByteTimeout, d.FirstByteTimeout),
		resolve("ClaimLife", &l.ClaimLife, d.ClaimLife),
		resolve("MaxTaskAge", &l.MaxTaskAge, d.MaxTaskAge),
		resolve("SessionLife", &l.SessionLife, d.SessionLife),
		resolveBound("TodoTimeout", &l.TodoTimeout, d.TodoTimeout),
		resolveBound("StoreTimeout", &l.StoreTimeout, d.StoreTimeout),
		resolveBound("MaxSessions", &l.MaxSessions, d.MaxSessions),
	)
	if err != nil {
		return Limits{}, err
	}
	return l, nil
}

// resolve sets a zero field to its default, and returns an error for a negative one.
func resolve[T int | time.Duration](name string, field *T, standard T) error {
	switch {
	case *field == 0:
		*field = standard
	case *field < 0 && *field != Off:
		return fmt.Errorf("limit %s is negative: %v (use continuation.Off for no limit)", name, *field)
	}
	return nil
}

// resolveBound is resolve for a field that cannot be Off.
func resolveBound[T int | time.Duration](name string, field *T, standard T) error {
	if *field < 0 {
		return fmt.Errorf("limit %s is negative: %v (it cannot be continuation.Off)", name, *field)
	}
	return resolve(name, field, standard)
}
