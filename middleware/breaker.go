package middleware

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/carryon-go/carryon/continuation"
)

// breakTime is how long something that has failed is left alone.
const breakTime = 5 * time.Second

// breaker keeps calls from waiting for something that has just failed: for some
// time nobody asks it. Then one call tries, and the others go on without; what
// the try is worth closes the breaker, or leaves it open for as long again.
type breaker struct {
	until atomic.Int64 // in nanoseconds since 1970; 0: closed
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

// open has nobody ask for a while.
func (b *breaker) open(clock Clock) { b.until.Store(clock.Now().Add(breakTime).UnixNano()) }

// close lets everybody ask. It reports whether the breaker was open.
func (b *breaker) close() bool { return b.until.Load() != 0 && b.until.Swap(0) != 0 }

// The errors of calls that a breaker kept from asking.
var (
	// ErrStoreSkipped says that the store of session state has failed shortly
	// before, and was not asked again.
	ErrStoreSkipped = errors.New("middleware: the session store failed before, and is left alone for some seconds")
	// ErrSourceSkipped says that the todo source was late shortly before, and
	// was not asked again.
	ErrSourceSkipped = fmt.Errorf("middleware: the todo source was late before, and is left alone for some seconds: %w", context.DeadlineExceeded)
)

// storeAnswered takes what the store has made of an update under ctx, and reports
// whether it works again.
func (mw *Middleware) storeAnswered(ctx context.Context, err error) (recovered bool) {
	switch {
	case err == nil:
		return mw.storeBreaker.close()
	case ctx.Err() != nil: // the caller's doing
	case !errors.Is(err, continuation.ErrBadState):
		mw.storeBreaker.open(mw.options.clock)
	}
	return false
}

// sourceAnswered takes whether the todo source was late.
func (mw *Middleware) sourceAnswered(ctx context.Context, late bool) {
	switch {
	case late:
		mw.sourceBreaker.open(mw.options.clock)
	case mw.sourceBreaker.close():
		mw.options.report.recovered(ctx, Recovered{Op: "todos"})
	}
}
