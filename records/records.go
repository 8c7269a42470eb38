package records

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Off is the time to keep a record that stays until it is removed.
const Off = -1

// Records keeps small records of bytes under keys. It is safe for concurrent
// use.
type Records interface {
	// Update replaces the record under key by the result of f, atomically: the record
	// that f was given is the one that its result replaces, whatever other goroutines
	// and processes do.
	//
	// If f fails, nothing is stored, and Update returns that error. Update returns
	// soon after ctx ends. An error of the engine means that nothing was stored,
	// unless the connection broke meanwhile.
	Update(ctx context.Context, key string, f UpdateFunc) error
}

// UpdateFunc makes the next record of the old one.
//
// now is the time of the engine's clock, so that the clocks of processes need not
// agree; an engine without a clock uses this machine's. old is the current record,
// nil if there is none; f may read it, but must neither change nor keep it. next is
// the new record, for which f may return old; if it is empty, the record is removed.
//
// keep is how long the record is kept from now on; [Off] means until it is removed.
// Update refuses a record with any other keep that is not positive. An engine never
// forgets a record before its time, and forgets it soon after. One exception: if next
// equals old, the engine may leave the old time in force while at least half of keep
// is left.
//
// f is pure: it may run more than once, even on outdated records, and its last result
// counts. It must not call Update.
type UpdateFunc func(now time.Time, old []byte) (next []byte, keep time.Duration, err error)

// Errors of records that exist but that this program cannot read. They are never
// overwritten.
var (
	// ErrNewer says that a newer version of carryon wrote the record.
	ErrNewer = errors.New("records: the record was written by a newer version of carryon")
	// ErrForeign says that the key holds something other than the record that belongs
	// there.
	ErrForeign = errors.New("records: not a record of carryon's")
)

// checkUpdate refuses a nil f and a ctx that has ended, and panics on a nil ctx.
func checkUpdate(ctx context.Context, f UpdateFunc) error {
	if ctx == nil {
		panic("carryon/records: nil context")
	}
	if f == nil {
		return errors.New("records: Update with a nil function")
	}
	return ctx.Err()
}

// CheckKeep returns an error if a record cannot be kept for keep. It is for authors
// of engines.
func CheckKeep(keep time.Duration) error {
	if keep <= 0 && keep != Off {
		return fmt.Errorf("records: a record cannot be kept for %v (use records.Off for good)", keep)
	}
	return nil
}
