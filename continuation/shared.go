package continuation

import (
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
// A state is kept for a day since its last use, see [WithSharedAge]; that of a
// session with settings of its own for good. A record that a newer version of carryon has
// written, or somebody else, is left alone: [ErrBadState] says so, with
// [records.ErrNewer] or [records.ErrForeign], and the session is not continued.
type SharedStore struct {
	table recordtable.Table[State]
	age   time.Duration
}

var _ Store = (*SharedStore)(nil)

// SharedOption configures a [SharedStore].
type SharedOption func(*SharedStore) error

// WithSharedAge sets the age at which a session that no call has used is forgotten;
// 0 means [DefaultMaxAge] and [Off] no limit. Other negative values are refused.
// However short it is, a claim is kept for its whole life.
func WithSharedAge(age time.Duration) SharedOption {
	return func(s *SharedStore) error {
		switch {
		case age == 0:
			age = DefaultMaxAge
		case age < 0 && age != Off:
			return fmt.Errorf("continuation: WithSharedAge: %v is negative (use continuation.Off for no limit)", age)
		}
		s.age = age
		return nil
	}
}

// NewSharedStore returns a store on the engine. It panics where
// [TryNewSharedStore] fails.
func NewSharedStore(engine records.Records, opts ...SharedOption) *SharedStore {
	return must(TryNewSharedStore(engine, opts...))
}

// TryNewSharedStore is [NewSharedStore] for options that come from a
// configuration: it returns an error if the engine or an option is nil, and one
// that names every option it refuses.
func TryNewSharedStore(engine records.Records, opts ...SharedOption) (*SharedStore, error) {
	if engine == nil {
		return nil, errors.New("continuation: nil Records")
	}
	s := &SharedStore{table: recordtable.Table[State]{Records: engine, Format: stateFormat()}, age: DefaultMaxAge}
	var err error
	for _, opt := range opts {
		if opt == nil {
			return nil, errors.New("continuation: nil SharedOption")
		}
		err = errors.Join(err, opt(s))
	}
	if err != nil {
		return nil, err
	}
	return s, nil
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
