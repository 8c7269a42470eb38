package records

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Off is the time to keep a record that is kept until it is removed.
const Off = -1

// Records keeps small records of bytes under keys. It is safe for concurrent
// use.
type Records interface {
	// Update replaces the record under key by what f makes of it, atomically:
	// whatever other goroutines and other processes do, the record that f was
	// given is the one that its result replaces.
	//
	// If f fails, nothing is stored, and Update returns that error. It returns
	// soon after the end of ctx. An error of the engine means that nothing was
	// stored, unless the connection broke while it was being stored.
	Update(ctx context.Context, key string, f UpdateFunc) error
}

// UpdateFunc makes the next record of the old one.
//
// now is the time by the engine's clock, so that processes need not agree on
// theirs; an engine without a clock uses this machine's. old is the record as
// it is, nil if there is none; f may read it, and neither changes nor keeps it.
// next is the record from then on, for which f may return old; empty for none.
//
// keep is how long the record is kept from now on, [Off] for good. Update
// refuses a record with any other keep that is not positive. An engine forgets
// a record soon after its time, and never before, with one exception: if next is
// equal to old, the engine may leave the time as it is for as long as at least
// half of keep is left.
//
// f is pure: it may run more than once, on records that are out of date too, and
// its last result counts. It does not call Update.
type UpdateFunc func(now time.Time, old []byte) (next []byte, keep time.Duration, err error)

// Errors of records that are there and that this program cannot read. They are
// never overwritten.
var (
	// ErrNewer says that a newer version of carryon wrote the record.
	ErrNewer = errors.New("records: the record was written by a newer version of carryon")
	// ErrForeign says that the key holds something else than the record that
	// belongs there.
	ErrForeign = errors.New("records: not a record of carryon's")
)

// checkUpdate refuses what no engine can do.
func checkUpdate(ctx context.Context, f UpdateFunc) error {
	if ctx == nil {
		panic("carryon/records: nil context")
	}
	if f == nil {
		return errors.New("records: Update with a nil function")
	}
	return ctx.Err()
}

// CheckKeep returns an error if keep is no time to keep a record for. It is for
// those who write an engine.
func CheckKeep(keep time.Duration) error {
	if keep <= 0 && keep != Off {
		return fmt.Errorf("records: a record cannot be kept for %v (use records.Off for good)", keep)
	}
	return nil
}
