package records

import (
	"context"
	"time"
)

// Swapper is an engine that can replace a record on condition that it has not changed
// since it was read. [NewSwapping] turns it into [Records]. It is safe for concurrent
// use.
type Swapper interface {
	// Swap carries out s if the record under key has the revision in s, and reports
	// in swapped whether it had. now is the record after that; after a swap only its
	// Revision and Now are used.
	//
	// It takes one round trip. It returns soon after ctx ends. If it cannot tell
	// whether the swap was made, it fails.
	Swap(ctx context.Context, key string, s Swap) (now Snapshot, swapped bool, err error)
}

// Swap is a change of one record.
type Swap struct {
	Revision string // the revision that the record must have; "" for no record
	Action   Action
	Record   []byte        // the next record, for Replace
	Keep     time.Duration // how long to keep it, [Off] for good; for Replace and Renew
}

// Action is what a [Swap] does.
type Action int

// The actions.
const (
	Look    Action = iota // change nothing
	Renew                 // keep the record for Keep from now on; nothing if there is none
	Replace               // store Record, whether or not there is a record
	Remove                // remove the record
)

// Snapshot is the record under a key, at one moment.
type Snapshot struct {
	Record   []byte // nil for none
	Revision string // changes with the record; "" for no record
	// Now is the engine's clock. Engines without one leave it zero.
	Now time.Time
}
