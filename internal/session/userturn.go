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
	message    uint64 // hash of the user's last message, or of the name that the program gave the turn
	users      int    // messages of the user in the request
	text       string // of a message that may grow; "" for any other
	unanswered bool   // the request has no answer behind that message
	previous   uint64 // then: hash of the message before that one
}

// UserTurnOf returns the user turn of a request with that many user messages,
// the last of which has the text.
func UserTurnOf(users int, last string) UserTurn {
	return UserTurn{message: messageHash(last), users: users}
}

// Unanswered returns the user turn of a request with no answer behind the user's
// last message, before which stands one with the text previous.
func (t UserTurn) Unanswered(previous string) UserTurn {
	t.unanswered, t.previous = true, messageHash(previous)
	return t
}

// GrowingUserTurnOf is [UserTurnOf] for text agents, which add what they have
// done to their one message: a last message that begins with the whole of the
// one before it belongs to the same turn.
func GrowingUserTurnOf(users int, last string) UserTurn {
	return UserTurn{message: messageHash(last), users: users, text: last}
}

// NamedUserTurn returns the user turn that the program calls id.
func NamedUserTurn(id string) UserTurn {
	return UserTurn{message: digest(namedTurn, id)}
}

// RegisterUserTurn returns the state after a call of user turn t reached the
// session. A new user turn starts all budgets anew and ends a pause and a claim.
func RegisterUserTurn(s continuation.State, t UserTurn) continuation.State {
	if t.message == 0 {
		return s
	}
	next := s
	if !t.isOf(s) {
		next = continuation.State{
			UserTurn: s.UserTurn + 1, LastPrompt: s.LastPrompt, Stale: s.Stale, Cancelled: s.Cancelled, List: s.List, Overrides: s.Overrides,
		}
	}
	next.Message, next.Users, next.TextLength = t.message, t.users, len(t.text)
	switch {
	case t.unanswered:
		next.Previous = t.previous
	case t.text == "": // a text agent has what it was answered in its one message
		next.Answered = true
	}
	if s.UserTurn == 0 && s.LastPrompt.IsZero() {
		next.Paused = s.Paused // set by the program, before the first call was seen
	}
	return next
}

// isOf reports whether t is the user turn that the session is in. Fewer messages
// of the user mean that the history was cut. As many mean a new turn if the user's
// is unanswered now, and was answered before or stands behind another one: the
// history is a window that slides, and the user has said the same again.
func (t UserTurn) isOf(s continuation.State) bool {
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

// extends reports whether the message of t is that of the session with more
// text.
func (t UserTurn) extends(s continuation.State) bool {
	length := s.TextLength
	return length > 0 && len(t.text) > length && t.users == s.Users && messageHash(t.text[:length]) == s.Message
}

// What is hashed, so that no two kinds have a hash in common.
const (
	aMessage uint64 = iota
	namedTurn
)

func messageHash(text string) uint64 { return digest(aMessage, text) }

// digest is the same in every process, so that replicas can share a store, and
// never 0. It must not be possible to choose a message that collides with
// another's, hence no fast hash.
func digest(kind uint64, text string) uint64 {
	h := sha256.New()
	var number [8]byte
	binary.BigEndian.PutUint64(number[:], kind)
	h.Write(number[:])
	h.Write([]byte(text))
	var sum [sha256.Size]byte
	return binary.BigEndian.Uint64(h.Sum(sum[:0])) | 1
}
