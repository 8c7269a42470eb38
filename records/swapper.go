package records

import (
	"context"
	"time"
)

// Swapper is an engine with a compare-and-swap: it replaces a record only if the record
// has not changed since it was read. [NewSwapping] turns a Swapper into [Records].
// Implementations are safe for concurrent use.
type Swapper interface {
	// Swap carries out s if the record under key has the revision in s; swapped
	// reports whether it did. now is the record afterwards. If swapped is true, only
	// Revision and Now of it are used.
	//
	// Swap should take one round trip, and returns soon after ctx ends. If it cannot
	// tell whether the swap took place, it returns an error.
	Swap(ctx context.Context, key string, s Swap) (now Snapshot, swapped bool, err error)
}

// Swap is a change to one record.
type Swap struct {
	Revision string // the revision that the record must have; "" for no record
	Action   Action
	Record   []byte        // the next record, for Replace
	Keep     time.Duration // how long to keep the record, or [Off]; for Replace and Renew
}

// Action is what a [Swap] does to the record.
type Action int

// The actions.
const (
	Look    Action = iota // only read the record
	Renew                 // keep the record for Keep from now on; without a record, do nothing
	Replace               // store Record for Keep, whether or not there is a record
	Remove                // remove the record
)

// Snapshot is the record under a key at one moment.
type Snapshot struct {
	Record   []byte // nil if there is no record
	Revision string // differs after each change of the record; "" if there is no record
	// Now is the time of the engine's clock, or zero if the engine has no clock.
	Now time.Time
}
