package records

import (
	"context"
	"time"
)

// Swapper is an engine that can replace a record if it is still the one that
// somebody has seen. [NewSwapping] makes [Records] of it. It is safe for
// concurrent use.
type Swapper interface {
	// Swap does what s says if the record under key has the revision that s
	// names, and says in swapped whether it had. The snapshot tells what the
	// engine has now: after a swap only its Revision and Now are looked at.
	//
	// It takes one round trip. It returns soon after the end of ctx. If it
	// cannot tell whether a swap was made, it fails.
	Swap(ctx context.Context, key string, s Swap) (now Snapshot, swapped bool, err error)
}

// Swap is a change of one record.
type Swap struct {
	Revision string // what the record has to have, "" for no record
	Action   Action
	Record   []byte        // the next record, for Replace
	Keep     time.Duration // how long it is kept, [Off] for good, for Replace and Renew
}

// Action is what a [Swap] does.
type Action int

// The actions.
const (
	Look    Action = iota // nothing
	Renew                 // the record stays, and is kept for Keep from now on; nothing if there is none
	Replace               // Record takes the place of the record, or of none
	Remove                // the record goes
)

// Snapshot is what an engine has under a key.
type Snapshot struct {
	Record   []byte // nil for none
	Revision string // another one after each change; "" for no record
	// Now is the engine's clock. Engines without one leave it zero.
	Now time.Time
}
