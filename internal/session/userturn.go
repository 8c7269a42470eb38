package session

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/carryon-go/carryon/continuation"
)

// UserTurn identifies what lies between two messages of the real user. Its
// zero value belongs to the user turn that the session is in, whichever that
// is.
type UserTurn struct {
	key   uint64
	users int
	text  string // of a turn that may grow; "" for any other
}

// UserTurnOf returns the user turn of a request with that many user messages,
// the last of which has the text.
func UserTurnOf(users int, last string) UserTurn {
	return UserTurn{key: userKey(users, last)}
}

// GrowingUserTurnOf is [UserTurnOf] for text agents, which add what they have
// done to their one message: a last message that begins with the whole of the
// one before it belongs to the same turn.
func GrowingUserTurnOf(users int, last string) UserTurn {
	return UserTurn{key: userKey(users, last), users: users, text: last}
}

// NamedUserTurn returns the user turn that the program calls id.
func NamedUserTurn(id string) UserTurn {
	return UserTurn{key: hash(uint64(len(id))|1<<63, id)}
}

// RegisterUserTurn returns the state after a call of user turn t reached the
// session. A new user turn starts all budgets anew and ends a pause and a claim.
func RegisterUserTurn(s continuation.State, t UserTurn) continuation.State {
	switch {
	case t.key == 0 || t.key == s.UserTurn:
		return s
	case t.extends(s.UserTurn, s.TextLength):
		s.UserTurn, s.TextLength = t.key, len(t.text)
		return s
	}
	next := continuation.State{UserTurn: t.key, TextLength: len(t.text), LastPrompt: s.LastPrompt, Stale: s.Stale}
	if s.UserTurn == 0 && s.LastPrompt.IsZero() {
		next.Paused = s.Paused // set by the program, before the first call was seen
	}
	return next
}

// extends reports whether t is the turn that a session remembers as key, of a
// message of that length, with more text.
func (t UserTurn) extends(key uint64, length int) bool {
	return length > 0 && len(t.text) > length && userKey(t.users, t.text[:length]) == key
}

func userKey(users int, last string) uint64 {
	return hash(uint64(users), last) //nolint:gosec // a count is not negative
}

// LoopKey identifies one tool loop: the last user message and the id of the
// first tool call after it, which providers make unique.
func LoopKey(last, firstCall string) uint64 {
	return hash(uint64(len(last)), last, firstCall)
}

// hash is the same in every process, so that replicas can share a store, and
// never 0. It must not be possible to choose a message that collides with
// another's, hence no fast hash.
func hash(seed uint64, parts ...string) uint64 {
	h := sha256.New()
	var number [8]byte
	binary.BigEndian.PutUint64(number[:], seed)
	h.Write(number[:])
	for _, part := range parts {
		h.Write([]byte(part))
	}
	var sum [sha256.Size]byte
	return binary.BigEndian.Uint64(h.Sum(sum[:0])) | 1
}
