// Package guard guards the engine against what it does not control: panics in a program's
// own functions, and remotes that are slow or down.
package guard

import (
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/carryon-go/carryon/internal/lru"
)

// BreakTime is how long nobody asks a remote again after it has failed.
const BreakTime = 5 * time.Second

// Remote guards calls against something that may be slow or down: a store, a source of
// lists, a manager of background tasks. While it is open, nobody asks. After [BreakTime]
// one call tries, and the others go on without: success closes it, and a failure keeps it
// open for another BreakTime. A Remote is safe for concurrent use, and its zero value is
// closed.
type Remote struct {
	until    atomic.Int64 // in nanoseconds since 1970; 0: closed
	reported atomic.Bool  // the failure that opened it was reported

	mu  sync.Mutex
	bad *lru.Table[struct{}] // keys whose values cannot be read; nil for none
}

// Allows reports whether a call may ask, which it may not if its budget, if it has one,
// is over.
func (r *Remote) Allows(b *Budget, clock interface{ Now() time.Time }) bool {
	if b != nil && b.IsOver() {
		return false
	}
	until := r.until.Load()
	if until == 0 {
		return true
	}
	now := clock.Now()
	if left := time.Duration(until - now.UnixNano()); left > 0 && left <= BreakTime { // more is left if the clock was set back
		return false
	}
	return r.until.CompareAndSwap(until, now.Add(BreakTime).UnixNano())
}

// Failed keeps everybody from asking for [BreakTime]. It returns err, marked as known if
// the remote has been failing since: a failure is reported once, until what has failed
// works again.
func (r *Remote) Failed(now time.Time, err error) error {
	r.until.Store(now.Add(BreakTime).UnixNano())
	if r.reported.Swap(true) {
		return knownError{err}
	}
	return err
}

// Answered lets everybody ask. It reports whether the remote had failed before.
func (r *Remote) Answered() (recovered bool) {
	if r.until.Load() == 0 || r.until.Swap(0) == 0 {
		return false
	}
	r.reported.Store(false)
	return true
}

// maxBad is how many keys are remembered whose values cannot be read.
const maxBad = 1024

// Unreadable notes that the remote answered with a value under key that cannot be read,
// which is no failure of the remote. It returns err, marked as known if the key was
// unreadable before: each is reported once.
func (r *Remote) Unreadable(key string, err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.bad == nil {
		r.bad = lru.New[struct{}]()
	}
	if r.bad.Get(key) != nil {
		return knownError{err}
	}
	r.bad.Put(key)
	r.bad.Trim(maxBad)
	return err
}

// Readable notes that the value under key can be read.
func (r *Remote) Readable(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.bad != nil {
		r.bad.Remove(key)
	}
}

// knownError is a failure that was reported before.
type knownError struct{ error }

func (e knownError) Unwrap() error { return e.error }

// IsKnown reports whether a failure was reported before.
func IsKnown(err error) bool { return errors.As(err, new(knownError)) }

// Budget is how long a turn has waited for all remotes together: several slow answers
// share one limit per turn. After a time-out, the call waits no more. A Budget is safe for
// concurrent use, and its zero value is unused.
type Budget struct{ micros atomic.Int32 } // timedOut after a time-out

const timedOut = -1

// IsOver reports whether the call waits no more.
func (b *Budget) IsOver() bool { return b.micros.Load() == timedOut }

// End ends all waiting of the call.
func (b *Budget) End() { b.micros.Store(timedOut) }

// BeginTurn gives the next turn its own time.
func (b *Budget) BeginTurn() {
	if used := b.micros.Load(); used > 0 {
		b.micros.CompareAndSwap(used, 0)
	}
}

// Add adds the time that a wait took.
func (b *Budget) Add(took time.Duration) {
	used := b.micros.Load()
	sum := min(int64(used)+took.Microseconds(), math.MaxInt32)
	if used != timedOut {
		b.micros.CompareAndSwap(used, int32(sum)) //nolint:gosec // is no more than the largest
	}
}

// Left returns what is left of a limit. It means nothing once the budget is over.
func (b *Budget) Left(limit time.Duration) time.Duration {
	return limit - time.Duration(b.micros.Load())*time.Microsecond
}

// PanicError is the error that a panic becomes.
type PanicError struct {
	Value any    // what the function panicked with
	Stack []byte // where, as runtime/debug.Stack has it
}

// Error returns a text with the panic's value, without the stack.
func (e *PanicError) Error() string {
	return fmt.Sprintf("panic: %v", e.Value)
}

// Unwrap returns the value if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// Run runs f and returns its error, or a *PanicError if it panics.
func Run(f func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &PanicError{Value: value, Stack: debug.Stack()}
		}
	}()
	return f()
}
