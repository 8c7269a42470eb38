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

// stateFormat is how a State is encoded. Whatever changes in it gets the next
// version, and decodes this one too.
func stateFormat() recordtable.Format { return recordtable.Format{Kind: "state", Version: 1} }

// SharedStore is a [Store] on an engine that several processes share, such as
// those of carryon/stores/redis and carryon/stores/postgres. It is safe for
// concurrent use. Use [NewSharedStore]: the zero value is not ready.
//
// A state is kept for a day since its last use, see [WithSharedMaxAge]; that of a
// session with settings of its own for good. A record that a newer version of carryon has
// written, or somebody else, is left alone: [ErrBadState] says so, with
// [records.ErrNewer] or [records.ErrForeign], and the session is not continued.
type SharedStore struct {
	table recordtable.Table[State]
	age   time.Duration
}

var _ Store = (*SharedStore)(nil)

// SharedStoreOption configures a [SharedStore].
type SharedStoreOption func(*sharedStoreOptions)

type sharedStoreOptions struct {
	age time.Duration
	err error // of the options that are refused
}

// WithSharedMaxAge sets the age at which a session that no call has used is forgotten;
// 0 means [DefaultMaxAge] and [Off] no limit. Other negative values are refused.
// However short it is, a claim is kept for its whole life.
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
	case s.age == Off, next.Overrides != Overrides{}: // what a user has set does not turn around by itself
		return records.Off
	case next.Claim.Token != 0 && next.Claim.Until.IsZero():
		return records.Off
	}
	return max(s.age, next.Claim.Until.Sub(next.Claim.Since))
}
