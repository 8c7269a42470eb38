package continuation_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/continuation"
)

// key returns the number that a session remembers a user turn by.
func key(turn continuation.UserTurn) uint64 {
	return continuation.State{}.Arrive(turn).UserTurn
}

func TestUserTurnsAreToldApart(t *testing.T) {
	t.Parallel()
	turns := map[string]continuation.UserTurn{
		"first message":                continuation.UserTurnOf(1, "go"),
		"the same message once more":   continuation.UserTurnOf(2, "go"),
		"another message":              continuation.UserTurnOf(1, "go on"),
		"empty message":                continuation.UserTurnOf(1, ""),
		"no message":                   continuation.UserTurnOf(0, ""),
		"blank message":                continuation.UserTurnOf(1, " "),
		"another case":                 continuation.UserTurnOf(1, "Go"),
		"name":                         continuation.NamedUserTurn("go"),
		"empty name":                   continuation.NamedUserTurn(""),
		"another name":                 continuation.NamedUserTurn("go on"),
		"a long message":               continuation.UserTurnOf(1, strings.Repeat("x", 1<<20)),
		"a long message, a bit longer": continuation.UserTurnOf(1, strings.Repeat("x", 1<<20+1)),
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
	assert.Equal(t, uint64(0x8b7db508a9735d9f), key(continuation.UserTurnOf(1, "go")))
	assert.Equal(t, uint64(0x8b7db508a9735d9f), key(continuation.GrowingUserTurnOf(1, "go")))
	assert.Equal(t, uint64(0xfe5bfe37357cf539), key(continuation.NamedUserTurn("go")))
	assert.Equal(t, uint64(0x4136fc75f072f039), continuation.LoopKey("go", "call_1"))
}

func TestLoopKey(t *testing.T) {
	t.Parallel()
	loop := continuation.LoopKey("go", "call_1")
	assert.Equal(t, loop, continuation.LoopKey("go", "call_1"))
	for _, other := range []uint64{
		0,
		continuation.LoopKey("go", "call_2"),
		continuation.LoopKey("stop", "call_1"),
		continuation.LoopKey("gocall", "_1"),
		continuation.LoopKey("", "gocall_1"),
		continuation.LoopKey("gocall_1", ""),
	} {
		assert.NotEqual(t, other, loop)
	}
	assert.NotZero(t, continuation.LoopKey("", ""))
}
