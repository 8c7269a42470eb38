package decision

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"time"
)

// UserTurn identifies the calls between two messages of the real user. The zero
// value stands for the session's current user turn.
type UserTurn struct {
	message    uint64 // hash of the user's last message, or of the name that the program gave the turn
	users      int    // messages of the user in the request
	text       string // of a message that may grow; otherwise ""
	unanswered bool   // the request has no answer behind that message
	previous   uint64 // if unanswered: hash of the message before that one
}

// UserTurnOf returns the user turn of a request with that many user messages,
// the last of which has the text.
func UserTurnOf(users int, last string) UserTurn {
	return UserTurn{message: messageHash(last), users: users}
}

// Unanswered returns the user turn of a request with no answer after the user's
// last message. previous is the text of the message before that one.
func (t UserTurn) Unanswered(previous string) UserTurn {
	t.unanswered, t.previous = true, messageHash(previous)
	return t
}

// GrowingUserTurnOf is [UserTurnOf] for text agents, which append their steps
// to their one message: a message that begins with the whole previous one
// belongs to the same turn.
func GrowingUserTurnOf(users int, last string) UserTurn {
	return UserTurn{message: messageHash(last), users: users, text: last}
}

// NamedUserTurn returns the user turn that the program calls id.
func NamedUserTurn(id string) UserTurn {
	return UserTurn{message: digest(namedTurn, id)}
}

// RegisterUserTurn returns the state after a call of user turn t reached the
// session. A new user turn resets all budgets and ends a pause and a claim.
func (s State) RegisterUserTurn(t UserTurn) State {
	if t.message == 0 {
		return s
	}
	next := s
	if !t.isOf(s) {
		next = State{
			UserTurn: s.UserTurn + 1, LastPrompt: s.LastPrompt, Stale: s.Stale, Cancelled: s.Cancelled, Overrides: s.Overrides,
		}
	}
	next.Message, next.Users, next.TextLength = t.message, t.users, len(t.text)
	switch {
	case t.unanswered:
		next.Previous = t.previous
	case t.text == "": // a text agent's one message includes its answers
		next.Answered = true
	}
	if s.UserTurn == 0 && s.LastPrompt.IsZero() {
		next.Paused = s.Paused // set by the program, before the first call was seen
	}
	return next
}

// isOf reports whether t is the session's current user turn. If the request has
// fewer messages of the user than before, the history was cut. If it has as
// many, the turn may still be new: the history is a sliding window, and the
// user repeats a message. That is so if the message is unanswered now, and was
// answered before or now follows a different message.
func (t UserTurn) isOf(s State) bool {
	switch {
	case s.UserTurn == 0:
		return false
	case t.extends(s):
		return true
	case t.message != s.Message || t.users > s.Users:
		return false
	}
	moved := s.Previous != 0 && t.previous != s.Previous
	return t.users < s.Users || !t.unanswered || !s.Answered && !moved
}

// extends reports whether the message of t is the session's message with more
// text.
func (t UserTurn) extends(s State) bool {
	length := s.TextLength
	return length > 0 && len(t.text) > length && t.users == s.Users && messageHash(t.text[:length]) == s.Message
}

// The kinds of hashed texts, so that different kinds never share a hash.
const (
	aMessage uint64 = iota
	namedTurn
)

func messageHash(text string) uint64 { return digest(aMessage, text) }

// digest returns a hash that is the same in every process, so that replicas can
// share a store, and never 0. Nobody must be able to choose a message that
// collides with another one, hence no fast hash.
func digest(kind uint64, text string) uint64 {
	h := sha256.New()
	var number [8]byte
	binary.BigEndian.PutUint64(number[:], kind)
	h.Write(number[:])
	h.Write([]byte(text))
	var sum [sha256.Size]byte
	return binary.BigEndian.Uint64(h.Sum(sum[:0])) | 1
}

// LoopLife is how long the state of a tool loop without a session is valid after the
// loop's last request.
const LoopLife = time.Hour

// RegisterLoop returns the state after a request of that size reached a tool
// loop without a session. A request that is smaller than the last one, is the last one
// although that was answered, or comes long after it, begins a new loop that happens to
// look the same: the program runs its conversation once more.
func (s State) RegisterLoop(size int, now time.Time) State {
	again := size == s.Loop.Size && s.Answered
	if size < s.Loop.Size || again || now.Sub(s.Loop.Seen) >= LoopLife {
		s = State{UserTurn: s.UserTurn + 1}
	}
	s.Answered = false
	s.Loop = Loop{Size: size, Seen: now}
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
		text = text[n:]
		if len(text) > 0 {
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
