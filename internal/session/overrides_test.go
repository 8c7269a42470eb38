package session_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/session"
)

func TestANewUserTurnLeavesSettingsAlone(t *testing.T) {
	t.Parallel()
	own := continuation.Overrides{TodoContinuation: continuation.SwitchedOff}
	s := session.RegisterUserTurn(continuation.State{Overrides: own}, session.NamedUserTurn("1"))
	s = session.RegisterUserTurn(s, session.NamedUserTurn("2"))
	assert.Equal(t, 2, s.UserTurn)
	assert.Equal(t, own, s.Overrides)
}
