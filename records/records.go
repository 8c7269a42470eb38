package records

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Off as the time to keep a record means no limit: the record stays until it is
// removed.
const Off = -1

// Records stores small records of bytes under keys. Keys are short texts that carryon
// makes; they contain hashes of session keys, not the keys themselves. Implementations
// are safe for concurrent use.
type Records interface {
	// Update replaces the record under key by the result of f. It is atomic: no other
	// goroutine or process changes the record between the call of f and the
	// replacement.
	//
	// If f returns an error, nothing is stored, and Update returns that error. Update
	// returns soon after ctx ends. After an error of the engine nothing was stored,
	// unless the connection broke: then the record may or may not have been replaced.
	Update(ctx context.Context, key string, f UpdateFunc) error
}

// UpdateFunc returns the record that replaces the old one.
//
// now is the time of the engine's clock, so that the clocks of processes need not
// agree; an engine without a clock uses this machine's. old is the current record, or
// nil if there is none; the function must neither modify nor keep it. next is the new
// record, and may be old itself. An empty next removes the record.
//
// keep is how long the record is kept from now on; [Off] means until it is removed.
// Update returns an error if keep is neither [Off] nor positive. An engine removes a
// record soon after its time has passed, and never before. If next equals old, the
// engine may skip the renewal as long as at least half of keep is left.
//
// The function must be pure: Update may call it several times, even with outdated
// records, and only the last result counts. It must not call Update.
type UpdateFunc func(now time.Time, old []byte) (next []byte, keep time.Duration, err error)

// Notifier is an optional interface of an engine. It sends short messages to all
// processes that listen, for example the name of a session that has changed. A
// Notifier is safe for concurrent use.
//
// A message may be lost, for example while a connection is down, and may arrive twice.
// A listener must therefore also check for changes from time to time; messages only
// tell it sooner.
type Notifier interface {
	// Notify sends a message of at most 1 KiB to every listener of the topic, those
	// in this process included. It does not wait until they receive it.
	Notify(ctx context.Context, topic, message string) error
	// Listen calls f with each message to the topic, one at a time, until ctx ends,
	// and then returns ctx.Err(). If the connection is lost, Listen reconnects. It
	// calls f with "" when it begins to listen and after each reconnection, because
	// messages may have been missed before.
	Listen(ctx context.Context, topic string, f func(message string)) error
}

// Errors for records that exist but that this program cannot read. carryon never
// overwrites such a record. Test for them with [errors.Is].
var (
	// ErrNewer says that a newer version of carryon wrote the record.
	ErrNewer = errors.New("records: the record was written by a newer version of carryon")
	// ErrForeign says that the key holds something other than the expected kind of
	// record.
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

// checkKeep returns an error unless keep is positive or [Off].
func checkKeep(keep time.Duration) error {
	if keep <= 0 && keep != Off {
		return fmt.Errorf("records: a record cannot be kept for %v (use records.Off for good)", keep)
	}
	return nil
}
