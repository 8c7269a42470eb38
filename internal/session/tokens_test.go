package session_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/session"
)

// Nonsense from a provider must not reset a budget.
func TestTokensNeitherShrinkNorOverflow(t *testing.T) {
	t.Parallel()
	s := continuation.State{Tokens: 7}
	for _, c := range []struct {
		usage adapter.Usage
		want  int
	}{
		{adapter.Usage{Prompt: -5, Completion: 3}, 10},
		{adapter.Usage{Total: math.MinInt}, 10},
		{adapter.Usage{Prompt: math.MaxInt, Completion: math.MaxInt}, math.MaxInt},
		{adapter.Usage{Total: math.MaxInt}, math.MaxInt},
		{adapter.Usage{Prompt: math.MaxInt, Completion: 1, Total: 3}, math.MaxInt},
	} {
		s.Claim.Token = 1
		s = session.Release(s, 1, session.Ending{Tokens: c.usage.Tokens()})
		assert.Equal(t, c.want, s.Tokens)
	}
}

func TestRefusalHoldsForTheUserTurn(t *testing.T) {
	t.Parallel()
	s := session.RegisterUserTurn(continuation.State{}, session.UserTurnOf(1, "go"))
	s = session.Release(session.Claim(s, 1, noon, continuation.DefaultClaimLife), 1, session.Ending{Refused: true})
	assert.True(t, s.Refused)
	s = session.Release(session.Claim(s, 2, noon, continuation.DefaultClaimLife), 2, session.Ending{})
	assert.True(t, s.Refused)
	assert.False(t, session.RegisterUserTurn(s, session.UserTurnOf(2, "go on")).Refused)
}
