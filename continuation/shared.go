package continuation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/carryon-go/carryon/internal/recordtable"
	"github.com/carryon-go/carryon/records"
)

// stateFormat says how a State is encoded. An incompatible change takes the next
// version, which must decode this one too.
func stateFormat() recordtable.Format { return recordtable.Format{Kind: "state", Version: 1} }

// SharedStore is a [Store] on an engine that several processes share, such as one of
// carryon/stores/redis or carryon/stores/postgres. It is safe for concurrent use. Use
// [NewSharedStore]: the zero value is not ready.
//
// A state expires a day after its last use (see [WithSharedMaxAge]); the state of a
// session with settings of its own never does. SharedStore does not change a record
// that a newer version of carryon, or another program, has written: Update fails with
// [ErrBadState] and [records.ErrNewer] or [records.ErrForeign], and the session is
// not continued.
type SharedStore struct {
	table recordtable.Table[State]
	age   time.Duration
}

var _ Store = (*SharedStore)(nil)

// SharedStoreOption configures a [SharedStore].
type SharedStoreOption func(*sharedStoreOptions)

type sharedStoreOptions struct {
	age time.Duration
	err error // of the refused options
}

// WithSharedMaxAge sets how long a session is kept after its last use; 0 means
// [DefaultMaxAge] and [Off] no limit. Other negative values are refused. A session
// with a claim is kept at least until the claim lapses.
func WithSharedMaxAge(age time.Duration) SharedStoreOption {
	return func(o *sharedStoreOptions) {
		if age < 0 && age != Off {
			o.err = errors.Join(o.err, fmt.Errorf("continuation: WithSharedMaxAge: %v is negative (use continuation.Off for no limit)", age))
		}
		o.age = cmp.Or(age, DefaultMaxAge)
	}
}

// NewSharedStore returns a store on the engine. It panics where
// [TryNewSharedStore] fails.
func NewSharedStore(engine records.Records, opts ...SharedStoreOption) *SharedStore {
	return must(TryNewSharedStore(engine, opts...))
}

// TryNewSharedStore is [NewSharedStore] for options that come from a
// configuration: it returns an error if the engine is nil, and one that names
// every option it refuses.
func TryNewSharedStore(engine records.Records, opts ...SharedStoreOption) (*SharedStore, error) {
	if engine == nil {
		return nil, errors.New("continuation: nil Records")
	}
	o := sharedStoreOptions{age: DefaultMaxAge}
	for _, opt := range opts {
		if opt != nil {
			opt(&o)
		}
	}
	if o.err != nil {
		return nil, o.err
	}
	return &SharedStore{table: recordtable.Table[State]{Records: engine, Format: stateFormat()}, age: o.age}, nil
}

// Update implements [Store].
func (s *SharedStore) Update(ctx context.Context, key string, f func(State) State) error {
	if f == nil {
		return errors.New("continuation: Update with a nil function")
	}
	err := s.table.Update(ctx, key, func(_ time.Time, old State) (State, time.Duration, error) {
		next := f(old)
		return next, s.keep(next), nil
	})
	if errors.Is(err, records.ErrNewer) || errors.Is(err, records.ErrForeign) {
		return fmt.Errorf("%w: %w", ErrBadState, err) // other sessions are not affected
	}
	return err
}

// keep returns how long a state is kept from now on.
func (s *SharedStore) keep(next State) time.Duration {
	switch {
	case next == State{}:
		return recordtable.Forget
	case next.Loop != Loop{}:
		return LoopLife
	case s.age == Off, next.Overrides != Overrides{}: // a user's settings must not revert on their own
		return records.Off
	case next.Claim.Token != 0 && next.Claim.Until.IsZero():
		return records.Off
	}
	return max(s.age, next.Claim.Until.Sub(next.Claim.Since))
}
