package middleware_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
)

func TestNothingMoreIsSentInAUserTurnThatTheProviderHasRefused(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]continuation.Reason{
		400: continuation.ReasonProviderRefused, 413: continuation.ReasonProviderRefused,
		429: continuation.ReasonMaxAttempts, 503: continuation.ReasonMaxAttempts,
	} {
		refused := sdkAnswer{err: &adapter.StatusError{Status: status, Err: errors.New("context_length_exceeded")}}
		turns := []sdkAnswer{says("One."), refused}
		if want == continuation.ReasonMaxAttempts {
			turns = append(turns, refused) // it was sent once more
		}
		s := newSetup(append(turns, says("One."), says("Two.")),
			middleware.WithLimits(continuation.Limits{MaxAttempts: 3, MinInterval: continuation.Off}))
		_, outcome, err := s.answer(inSession(t, "s"))
		require.NoError(t, err)
		assert.Equal(t, continuation.ReasonFailed, outcome.Reason)
		_, outcome, err = s.answer(inSession(t, "s"))
		require.NoError(t, err)
		assert.Equal(t, want, outcome.Reason, status)
	}
}

// Most streams do not report their usage, and a budget must hold all the same.
func TestTokenBudgetHoldsWhereNoUsageIsReported(t *testing.T) {
	t.Parallel()
	s := newSetup([]sdkAnswer{says("One."), says("Two."), says("Three.")}, middleware.WithLimits(continuation.Limits{
		MaxAttempts: continuation.Off, MinInterval: continuation.Off, TokenBudget: 200,
	}))
	for i := range s.model.turns {
		s.model.turns[i].Usage = sdkUsage{}
	}
	_, outcome, err := s.answer(inSession(t, "s"))
	require.NoError(t, err)
	assert.Equal(t, continuation.ReasonTokenBudget, outcome.Reason)
	assert.Equal(t, 2, outcome.Attempts)
}
