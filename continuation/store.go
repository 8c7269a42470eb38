package continuation

import (
	"context"
	"errors"
)

// ErrBadState says that the state of one session cannot be read, for example because
// a newer version of carryon wrote it. The store itself works: other sessions are not
// affected.
var ErrBadState = errors.New("continuation: the state of the session cannot be read")

// Store keeps the state of sessions. Replicas of a program that serve the same
// conversations can share one.
type Store interface {
	// Update replaces the state under key by f of it, atomically. A key that was
	// never stored has the zero State. f is pure; Update may run it more than once,
	// and stores its last result. If Update fails, it should have stored nothing; the
	// call is not continued. Update must honour ctx, whose deadline carryon sets; see
	// middleware.WithStoreTimeout. After an error, carryon does not ask the store for
	// some seconds, unless the error is [ErrBadState].
	//
	// Keys are the program's session names, and keys that carryon makes for calls
	// without a session, which begin with a NUL byte. A store may forget a state that
	// was not updated for long: the session then has its full budgets again.
	Update(ctx context.Context, key string, f func(State) State) error
}
