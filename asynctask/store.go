package asynctask

import (
	"context"
	"time"

	"github.com/carryon-go/carryon/internal/recordtable"
	"github.com/carryon-go/carryon/records"
)

// store keeps the accounts of sessions under their names. The name "" is for tasks
// without a session, and for the one conversation of WithOneConversation.
type store interface {
	// look returns the account of the session, nil if there is none, and the store's
	// time, which may be zero without an account.
	look(ctx context.Context, session string) (*account, time.Time, error)
	// update replaces the account of the session by the result of f, atomically; now
	// is the store's time. f is pure and may run more than once: its last result
	// counts. If f fails, nothing is stored and update returns that error.
	update(ctx context.Context, session string, f func(now time.Time, a account) (account, error)) error
}

// format returns how accounts are encoded in an engine that processes share.
func format() recordtable.Format { return recordtable.Format{Kind: "tasks", Version: 1} }

// sharedStore keeps accounts as records of an engine.
type sharedStore struct {
	table     recordtable.Table[account]
	retention time.Duration
}

func newSharedStore(engine records.Records, retention time.Duration) *sharedStore {
	return &sharedStore{table: recordtable.Table[account]{Records: engine, Format: format()}, retention: retention}
}

func (s *sharedStore) look(ctx context.Context, session string) (found *account, at time.Time, err error) {
	err = s.update(ctx, session, func(now time.Time, a account) (account, error) {
		found, at = &a, now
		return a, nil
	})
	return found, at, err
}

func (s *sharedStore) update(
	ctx context.Context, session string, f func(now time.Time, a account) (account, error),
) error {
	return s.table.Update(ctx, session, func(now time.Time, a account) (account, time.Duration, error) {
		a, err := f(now, a.with(a.Tasks))
		if err != nil || a.isEmpty() {
			return account{}, recordtable.Forget, err
		}
		return a, a.keep(s.retention, now), nil
	})
}
