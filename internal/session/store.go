package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/recordtable"
	"github.com/carryon-go/carryon/records"
)

// ErrBadState says that the state of one session cannot be read, for example because
// a newer version of carryon wrote it. The store itself works: other sessions are not
// affected.
var ErrBadState = errors.New("session: the state cannot be read")

// Store keeps the state of sessions: a [MemoryStore] or a [SharedStore].
type Store interface {
	// Update replaces the state under key by f of it, atomically. A key that was
	// never stored has the zero State. f is pure; Update may run it more than once,
	// and stores its last result. If Update fails, it should have stored nothing.
	//
	// Keys are the program's session names, and keys that carryon makes for calls
	// without a session, which begin with a NUL byte. A store may forget a state that
	// was not updated for long: the session then has its full budgets again.
	Update(ctx context.Context, key string, f func(decision.State) decision.State) error
}

// stateFormat says how a State is encoded. An incompatible change takes the next
// version, which must decode this one too.
func stateFormat() recordtable.Format { return recordtable.Format{Kind: "state", Version: 1} }

// SharedStore is a [Store] on an engine that several processes share. It does not
// change a record that a newer version of carryon, or another program, has written:
// Update fails with [ErrBadState] and [records.ErrNewer] or [records.ErrForeign].
type SharedStore struct {
	table recordtable.Table[decision.State]
	life  time.Duration
}

// NewSharedStore returns a store on the engine. It keeps a session for the given life
// after its last use; [continuation.Off] is no limit. A session with a claim is kept
// at least until the claim lapses, and one with settings of its own for good.
func NewSharedStore(engine records.Records, life time.Duration) *SharedStore {
	return &SharedStore{table: recordtable.Table[decision.State]{Records: engine, Format: stateFormat()}, life: life}
}

// Update implements [Store].
func (s *SharedStore) Update(ctx context.Context, key string, f func(decision.State) decision.State) error {
	err := s.table.Update(ctx, key, func(_ time.Time, old decision.State) (decision.State, time.Duration, error) {
		next := f(old)
		return next, s.keep(next), nil
	})
	if errors.Is(err, records.ErrNewer) || errors.Is(err, records.ErrForeign) {
		return fmt.Errorf("%w: %w", ErrBadState, err) // other sessions are not affected
	}
	return err
}

// keep returns how long a state is kept from now on.
func (s *SharedStore) keep(next decision.State) time.Duration {
	switch {
	case next == decision.State{}:
		return recordtable.Forget
	case next.Loop != decision.Loop{}:
		return decision.LoopLife
	case s.life == continuation.Off, next.Overrides != decision.Overrides{}: // a user's settings must not revert on their own
		return records.Off
	case next.Claim.Token != 0 && next.Claim.Until.IsZero():
		return records.Off
	}
	return max(s.life, next.Claim.Until.Sub(next.Claim.Since))
}
