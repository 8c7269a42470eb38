package continuation

import (
	"context"
	"errors"
)

// ErrBadState says that one state cannot be read, because a newer version of
// carryon has written it, say. It says nothing about the store, so that other
// sessions go on.
var ErrBadState = errors.New("continuation: the state of the session cannot be read")

// Store keeps the state of sessions. Replicas of a program that serve the same
// conversations can share one.
type Store interface {
	// Update replaces the state kept under key by f of it, atomically. A key
	// that was never stored has the zero State. f is pure, may run more than
	// once, and its last result is the one that counts. After an error the call
	// is not continued; if possible, nothing was stored then. Update must honour
	// ctx, whose deadline carryon sets; see middleware.WithStoreTimeout. After an
	// error carryon leaves the store alone for some seconds, unless the error is
	// [ErrBadState].
	//
	// Keys are session names as the program gave them, and keys that carryon
	// makes for calls without a session, which begin with a NUL byte. A store
	// may forget what was not updated for long: a forgotten session has its
	// budgets back.
	Update(ctx context.Context, key string, f func(State) State) error
}
