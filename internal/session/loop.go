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
	held  int       // bytes in block
}

// Add adds a text. The order and the boundaries of texts count.
func (k *LoopKey) Add(text string) {
	const size = 8 // of the length
	if len(k.block)-k.held < size {
		k.flush()
	}
	binary.BigEndian.PutUint64(k.block[k.held:], uint64(len(text)))
	for k.held += size; len(text) > 0; {
		n := copy(k.block[k.held:], text)
		k.held += n
		if text = text[n:]; len(text) > 0 {
			k.flush()
		}
	}
}

// flush hashes what is in the block.
func (k *LoopKey) flush() {
	if k.sum == nil {
		k.sum = sha256.New()
	}
	k.sum.Write(k.block[:k.held])
	k.held = 0
}

// String returns the key of the texts added.
func (k *LoopKey) String() string {
	k.flush()
	var sum [sha256.Size]byte
	return hex.EncodeToString(k.sum.Sum(sum[:0])[:16])
}
