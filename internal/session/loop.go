package session

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"time"

	"github.com/carryon-go/carryon/continuation"
)

// RegisterLoop returns the state after a request of that size reached a tool
// loop without a session. A request that is smaller than the last one, or comes
// long after it, begins a new loop that happens to look the same.
func RegisterLoop(s continuation.State, size int, now time.Time) continuation.State {
	if size < s.Loop.Size || now.Sub(s.Loop.Seen) >= continuation.LoopLife {
		s = continuation.State{UserTurn: s.UserTurn + 1}
	}
	s.Loop = continuation.Loop{Size: size, Seen: now}
	return s
}

// LoopKey makes the key of a tool loop from texts that two unrelated loops
// would not share. The zero value is ready to use. Keys are the same in every
// process.
type LoopKey struct {
	sum   hash.Hash
	block [256]byte // through which texts get there: a conversion would copy all of them
}

// Add adds a text. The order and the boundaries of texts count.
func (k *LoopKey) Add(text string) {
	if k.sum == nil {
		k.sum = sha256.New()
	}
	binary.BigEndian.PutUint64(k.block[:], uint64(len(text)))
	k.sum.Write(k.block[:8])
	for len(text) > 0 {
		n := copy(k.block[:], text)
		k.sum.Write(k.block[:n])
		text = text[n:]
	}
}

// String returns the key of the texts added.
func (k *LoopKey) String() string {
	if k.sum == nil {
		k.sum = sha256.New()
	}
	var sum [sha256.Size]byte
	return hex.EncodeToString(k.sum.Sum(sum[:0])[:16])
}
