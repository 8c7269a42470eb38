package middleware

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/lru"
)

// breakTime is how long nobody asks a store, a source or a task manager again after
// it has failed.
const breakTime = 5 * time.Second

// breaker keeps calls from waiting for something that has just failed. While it is
// open, nobody asks. After breakTime one call tries, and the others go on without:
// success closes the breaker, and a failure keeps it open for another breakTime.
type breaker struct {
	until atomic.Int64 // in nanoseconds since 1970; 0: closed
	told  atomic.Bool  // the failure that opened it was reported
}

// allows reports whether the call may ask.
func (b *breaker) allows(clock Clock) bool {
	until := b.until.Load()
	if until == 0 {
		return true
	}
	now := clock.Now()
	return now.UnixNano() >= until && b.until.CompareAndSwap(until, now.Add(breakTime).UnixNano())
}

// open keeps everybody from asking for breakTime. It returns err, marked as known if
// the breaker has been open since: a failure is reported once, until what has failed
// works again.
func (b *breaker) open(clock Clock, err error) error {
	b.until.Store(clock.Now().Add(breakTime).UnixNano())
	if b.told.Swap(true) {
		return knownError{err}
	}
	return err
}

// close lets everybody ask. It reports whether the breaker was open.
func (b *breaker) close() bool {
	if b.until.Load() == 0 || b.until.Swap(0) == 0 {
		return false
	}
	b.told.Store(false)
	return true
}

// knownError is a failure that was reported before.
type knownError struct{ error }

func (e knownError) Unwrap() error { return e.error }

// isNews reports whether a failure of the store or of the background tasks was not
// reported yet.
func isNews(err error) bool {
	return !errors.As(err, new(knownError)) && !errors.Is(err, ErrStoreSkipped) && !errors.Is(err, ErrTasksSkipped)
}

// maxBadStates is how many sessions are remembered whose states cannot be read.
const maxBadStates = 1024

// badStates are the sessions whose states cannot be read. Each is reported once. The
// zero value is ready.
type badStates struct {
	mu   sync.Mutex
	keys *lru.Table[struct{}] // nil for none
}

// add adds a key. It returns err, marked as known if the key was there.
func (b *badStates) add(key string, err error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.keys == nil {
		b.keys = lru.New[struct{}]()
	}
	if b.keys.Get(key) != nil {
		return knownError{err}
	}
	b.keys.Put(key)
	b.keys.Trim(maxBadStates)
	return err
}

// remove removes a key whose state can be read.
func (b *badStates) remove(key string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.keys != nil {
		b.keys.Remove(key)
	}
}

// Errors of calls that did not ask, because the last answer was late or an error.
var (
	// ErrStoreSkipped says that the store of session state was not asked, because it
	// had failed some seconds before.
	ErrStoreSkipped = errors.New("middleware: the session store has failed and is not asked again for some seconds")
	// ErrTasksSkipped says that the background tasks were not asked, because they had
	// failed to answer some seconds before.
	ErrTasksSkipped = errors.New("middleware: the background tasks have failed and are not asked again for some seconds")
	// ErrSourceSkipped says that the todo source was not asked, because it had been
	// late some seconds before.
	ErrSourceSkipped = fmt.Errorf("middleware: the todo source was late and is not asked again for some seconds: %w", context.DeadlineExceeded)
)

// storeAnswered notes the store's answer to an update of the state under key, and
// reports whether the store works again. The error that it returns is marked as known
// if it was reported before.
func (mw *Middleware) storeAnswered(ctx context.Context, key string, err error) (recovered bool, _ error) {
	switch {
	case err == nil:
		mw.badStates.remove(key)
		return mw.storeBreaker.close(), nil
	case ctx.Err() != nil: // the caller's doing
		return false, err
	case errors.Is(err, continuation.ErrBadState):
		return mw.storeBreaker.close(), mw.badStates.add(key, err)
	}
	return false, mw.storeBreaker.open(mw.options.clock, err)
}

// sourceAnswered notes whether the todo source was late.
func (mw *Middleware) sourceAnswered(ctx context.Context, late bool) {
	switch {
	case late:
		_ = mw.sourceBreaker.open(mw.options.clock, nil) // every missing list is reported
	case mw.sourceBreaker.close():
		mw.options.report.recovered(ctx, Recovered{Op: "todos"})
	}
}
