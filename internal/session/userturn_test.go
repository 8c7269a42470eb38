package session_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/session"
)

// key returns the number that a session remembers a user turn by.
func key(turn session.UserTurn) uint64 {
	return session.RegisterUserTurn(continuation.State{}, turn).UserTurn
}

func TestUserTurnsAreToldApart(t *testing.T) {
	t.Parallel()
	turns := map[string]session.UserTurn{
		"first message":                session.UserTurnOf(1, "go"),
		"the same message once more":   session.UserTurnOf(2, "go"),
		"another message":              session.UserTurnOf(1, "go on"),
		"empty message":                session.UserTurnOf(1, ""),
		"no message":                   session.UserTurnOf(0, ""),
		"blank message":                session.UserTurnOf(1, " "),
		"another case":                 session.UserTurnOf(1, "Go"),
		"name":                         session.NamedUserTurn("go"),
		"empty name":                   session.NamedUserTurn(""),
		"another name":                 session.NamedUserTurn("go on"),
		"a long message":               session.UserTurnOf(1, strings.Repeat("x", 1<<20)),
		"a long message, a bit longer": session.UserTurnOf(1, strings.Repeat("x", 1<<20+1)),
	}
	seen := map[uint64]string{}
	for name, turn := range turns {
		k := key(turn)
		assert.NotZero(t, k, name)
		assert.Empty(t, seen[k], "%s has the key of another", name)
		seen[k] = name
	}
}

// Replicas that share a store must agree, also while they are being updated.
func TestKeysAreTheSameInEveryProcess(t *testing.T) {
	t.Parallel()
	assert.Equal(t, uint64(0x8b7db508a9735d9f), key(session.UserTurnOf(1, "go")))
	assert.Equal(t, uint64(0x8b7db508a9735d9f), key(session.GrowingUserTurnOf(1, "go")))
	assert.Equal(t, uint64(0xfe5bfe37357cf539), key(session.NamedUserTurn("go")))
	assert.Equal(t, uint64(0x4136fc75f072f039), session.LoopKey("go", "call_1"))
}

func TestLoopKey(t *testing.T) {
	t.Parallel()
	loop := session.LoopKey("go", "call_1")
	assert.Equal(t, loop, session.LoopKey("go", "call_1"))
	for _, other := range []uint64{
		0,
		session.LoopKey("go", "call_2"),
		session.LoopKey("stop", "call_1"),
		session.LoopKey("gocall", "_1"),
		session.LoopKey("", "gocall_1"),
		session.LoopKey("gocall_1", ""),
	} {
		assert.NotEqual(t, other, loop)
	}
	assert.NotZero(t, session.LoopKey("", ""))
}
