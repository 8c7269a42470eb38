package middleware_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/adapter/join"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/statetest"
	"github.com/carryon-go/carryon/middleware"
)

func TestNothingMoreIsSentInAUserTurnThatTheProviderHasRefused(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]continuation.Reason{
		400: reasons.ProviderRefused, 413: reasons.ProviderRefused,
		429: reasons.MaxAttempts, 503: reasons.MaxAttempts,
	} {
		refused := sdkAnswer{err: &adapter.StatusError{Status: status, Err: errors.New("context_length_exceeded")}}
		turns := []sdkAnswer{says("One:"), refused}
		if want == reasons.MaxAttempts {
			turns = append(turns, refused, refused) // it was tried three times
		}
		s := newSetup(append(turns, says("One:"), says("Two:"), says("Three:"), says("Four:")),
			middleware.WithLimits(continuation.Limits{MaxAttempts: 3, MinInterval: continuation.Off}))
		_, outcome, err := s.answer(inSession(t, "s"))
		require.NoError(t, err)
		assert.Equal(t, reasons.Failed, outcome.Reason)
		_, outcome, err = s.answer(inSession(t, "s"))
		require.NoError(t, err)
		assert.Equal(t, want, outcome.Reason, status)
	}
}

// Each continuation of a long conversation costs the prompt again, even where nobody
// reports it.
func TestTokenBudgetCountsTheConversationWhereNoUsageIsReported(t *testing.T) {
	t.Parallel()
	const long = 300_000 // bytes: some 100,000 tokens
	for name, tt := range map[string]struct {
		size  int
		usage sdkUsage
		err   error
		least int
		most  int
	}{
		"nothing is reported":           {long, sdkUsage{}, nil, 100_000, 101_000},
		"the output is reported":        {long, sdkUsage{Out: 7}, nil, 100_007, 101_000},
		"all is reported":               {long, sdkUsage{In: 9, Out: 7}, nil, 16, 16},
		"it is cut, three times":        {long, sdkUsage{}, errLost, 300_000, 303_000},
		"it is refused":                 {long, sdkUsage{}, &adapter.StatusError{Status: 400, Err: errOverloaded}, 0, 0},
		"nobody knows the size":         {0, sdkUsage{}, nil, 1, 1_000},
		"a size that cannot be":         {-1 << 63, sdkUsage{}, nil, 1, 1_000},
		"a size that overflows":         {1<<63 - 1, sdkUsage{}, nil, 1 << 60, 1<<63 - 1},
		"a report that overflows":       {long, sdkUsage{In: 1<<63 - 1, Out: 1<<63 - 1}, nil, 1 << 31, 1 << 32},
		"output that overflows":         {long, sdkUsage{Out: 1<<63 - 1}, nil, 1 << 31, 1 << 32},
		"a report that is less than no": {long, sdkUsage{In: -1 << 63, Out: -1 << 63}, nil, 100_000, 101_000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSetup(nil, onceMore())
			ctx := inSession(t, "s")
			request := describe(fixTheBuild)
			request.Size = tt.size
			_, err := join.Unary(begin(ctx, s.mw, request), &answers{usageTotals: newUsageTotals()},
				func(_ context.Context, k *adapter.Continuation) (sdkAnswer, error) {
					if k == nil {
						return says("One:"), nil
					}
					two := says("Two:")
					two.Usage = tt.usage
					return two, tt.err
				})
			require.NoError(t, err)
			state, err := statetest.State(ctx, s.mw)
			require.NoError(t, err)
			assert.GreaterOrEqual(t, state.Tokens, tt.least)
			assert.LessOrEqual(t, state.Tokens, tt.most)
		})
	}
}
