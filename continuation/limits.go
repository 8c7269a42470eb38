package continuation

import (
	"cmp"
	"fmt"
	"time"

	"github.com/carryon-go/carryon/internal/todolist"
)

// Off in a field of [Limits] means that there is no such limit.
const Off = -1

// MaxAddedProgress is how many todos beyond those that the list had when carryon first
// saw it in a user turn can renew the budgets by being completed. Without a bound, a
// model that adds one finished todo after another would be continued for ever.
const MaxAddedProgress = todolist.MaxAdded

// Limits bound what carryon may add to a call. A zero field means its default
// and [Off] means no limit; other negative values are refused.
type Limits struct {
	// MaxAttempts is the number of continuations allowed in a row without progress. A
	// tool call is progress, unless an earlier continuation of the user turn made the
	// same call with the same arguments. So is a todo list with more todos completed or
	// fewer active than ever before in the user turn; but todos that were added to the
	// list in the user turn count only for the first [MaxAddedProgress] of them. A
	// continuation that fails before anything of it is shown uses no attempt.
	//
	// Only one attempt is allowed, until the list makes progress, if a turn of
	// [ApprovalDefault] neither asks for anything nor shows that the model has stalled.
	// The same is true, until the list changes, after a user turn that ended paused,
	// cancelled or out of budget.
	MaxAttempts int
	// MaxWithoutProgress is the number of continuations allowed in a user turn since
	// the todo list last made progress, even if they call tools.
	MaxWithoutProgress int
	// MinInterval is the time between two prompts of one session. A
	// continuation that comes too soon waits.
	MinInterval time.Duration
	// ResponseTimeout is the silence allowed in a continuation's stream after its
	// first chunk, measured only while the consumer is reading. A stream that sends
	// only comments, or chunks that add nothing, may do so for ten times as long.
	ResponseTimeout time.Duration
	// FirstByteTimeout is the time allowed from sending a continuation to its
	// first chunk, or to its answer if it is not streamed.
	FirstByteTimeout time.Duration
	// TokenBudget is the number of tokens that continuations may use in one user
	// turn. Usage that the provider does not report is estimated from the texts, on
	// the high side. The default is Off.
	TokenBudget int
	// ClaimLife is how long a session counts as being continued if carryon never
	// learns that the continuation has ended, because a stream was dropped without
	// Close or a replica died. It must be longer than a continuation takes.
	ClaimLife time.Duration
	// MaxTaskAge is the age from which a background task in [Input.Background]
	// no longer keeps its session from being continued, so that a hung task
	// cannot block it forever.
	MaxTaskAge time.Duration

	// TodoTimeout is how long a todo source may take. Its ctx ends then, and the call
	// is not continued; a source that ignores its ctx holds the call up until it
	// returns. After a time-out no call asks the source for some seconds; then one of
	// them tries again. It cannot be Off.
	TodoTimeout time.Duration
	// StoreTimeout is how long a turn may wait for what processes share: the engine of
	// middleware.WithRecords, shared todo lists and background tasks. A call waits for
	// only one time-out: after it, the call is not continued, and asks none of them
	// again. After a time-out or an error no call asks for some seconds; then one of
	// them tries again. It cannot be Off.
	StoreTimeout time.Duration
	// MaxSessions is the number of sessions kept in memory; beyond that the least
	// recently used one is forgotten. An engine has no such limit. It cannot be Off.
	MaxSessions int
	// SessionLife is how long a session is kept after its last use. A session with a
	// claim is kept at least until the claim lapses, and one that has settings of its
	// own stays on an engine for good.
	SessionLife time.Duration
}

// Check returns an error that names a limit with a value that is not allowed: limits
// may come from a configuration.
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

// WithDefaults returns the limits with every zero field set to its default.
// It fails on a negative value other than [Off], and on Off where there must be a limit.
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

// resolve sets a zero field to its default, and refuses a negative one.
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
