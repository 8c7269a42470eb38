package middleware_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/pause"
	"github.com/carryon-go/carryon/todo"
)

// arms returns which of many sessions are held out.
func arms(t *testing.T, share float64) []bool {
	t.Helper()
	mw := middleware.New(todo.Static(), middleware.WithHoldout(share))
	held := make([]bool, 2000)
	for i := range held {
		ctx, outcomes := middleware.Capture(inSession(t, fmt.Sprintf("conversation-%d", i)))
		mw.Pass(ctx, continuation.ReasonPath)
		held[i] = outcomes.Last().Holdout
	}
	return held
}

func count(held []bool) (n int) {
	for _, one := range held {
		if one {
			n++
		}
	}
	return n
}

func TestHoldoutIsAShareOfTheSessions(t *testing.T) {
	t.Parallel()
	assert.Zero(t, count(arms(t, 0)))
	assert.Equal(t, 2000, count(arms(t, 1)))
	assert.InDelta(t, 600, count(arms(t, 0.3)), 100) // five standard deviations
}

// Replicas and restarted programs have nothing in common but the share.
func TestASessionStaysInItsArm(t *testing.T) {
	t.Parallel()
	low := arms(t, 0.3)
	assert.Equal(t, low, arms(t, 0.3))
	for i, held := range arms(t, 0.6) {
		assert.True(t, held || !low[i], "a higher share takes nobody out of the holdout")
	}
	assert.Equal(t, []bool{false, false, false, false, false, true, false, true}, low[:8], "a new version of carryon must not change the arms")
}

func TestHeldOutSessionIsDecidedAndNotContinued(t *testing.T) {
	t.Parallel()
	s := newSetup([]sdkAnswer{says("One:"), says("Two:")}, middleware.WithHoldout(1), middleware.WithPauseTool(middleware.PauseToolAlways))
	for range 2 {
		_, outcome, err := s.answer(inSession(t, "conversation-42"))
		require.NoError(t, err)
		assert.Equal(t, continuation.ReasonHoldout, outcome.Reason)
		assert.True(t, outcome.Holdout)
		assert.Equal(t, 1, outcome.Turns)
		assert.Equal(t, 2, outcome.List.Active)
	}
	require.Len(t, s.model.requests, 2)
	for _, request := range s.model.requests {
		assert.NotContains(t, fmt.Sprint(request.Tools), pause.ToolName, "the control group is left as it is")
	}
	require.Len(t, s.events.Decisions(), 2)
	for _, decision := range s.events.Decisions() {
		assert.True(t, decision.Holdout)
		assert.False(t, decision.Evaluation.Continue)
		assert.Equal(t, "Fix the build", decision.Evaluation.Todo.Content, "what would have been done")
		assert.Equal(t, 1, decision.Evaluation.Attempt)
	}
}

// A session that was continued before the holdout must not make its callers wait.
func TestHeldOutSessionDoesNotWaitForTheInterval(t *testing.T) {
	t.Parallel()
	store := continuation.NewMemoryStore()
	live := newSetup([]sdkAnswer{says("One:"), calls(edit("1"))}, middleware.WithStore(store))
	_, outcome, err := live.answer(inSession(t, "s"))
	require.NoError(t, err)
	require.Equal(t, 1, outcome.Attempts)
	held := newSetup([]sdkAnswer{says("One:")}, middleware.WithStore(store), middleware.WithHoldout(1),
		middleware.WithLimits(continuation.Limits{MinInterval: time.Hour}))
	_, outcome, err = held.answer(inSession(t, "s"))
	require.NoError(t, err)
	assert.Equal(t, continuation.ReasonHoldout, outcome.Reason)
}

func TestHeldOutSessionKeepsOtherReasons(t *testing.T) {
	t.Parallel()
	s := newSetup([]sdkAnswer{calls(edit("1"))}, middleware.WithHoldout(1))
	_, outcome, err := s.answer(inSession(t, "s"))
	require.NoError(t, err)
	assert.Equal(t, continuation.ReasonToolCalls, outcome.Reason)
	assert.Contains(t, outcome.String(), "(holdout)")
}

func TestCallWithoutASessionIsNeverHeldOut(t *testing.T) {
	t.Parallel()
	s := newSetup([]sdkAnswer{says("One:"), calls(edit("1"))}, middleware.WithHoldout(1))
	_, outcome, err := s.answer(t.Context())
	require.NoError(t, err)
	assert.False(t, outcome.Holdout)
	assert.Equal(t, 1, outcome.Attempts)
}

func TestHoldoutRefusesWhatIsNoShare(t *testing.T) {
	t.Parallel()
	for _, share := range []float64{-0.1, 1.1, math.NaN(), math.Inf(1), math.Inf(-1)} {
		_, err := middleware.TryNew(todo.Static(), middleware.WithHoldout(share))
		require.ErrorContains(t, err, "is not between 0 and 1", share)
	}
}

// What is not sent is counted, with an estimate of its tokens.
func TestUnsentContinuationsAreEstimated(t *testing.T) {
	t.Parallel()
	unreported := says("One:")
	unreported.Usage = sdkUsage{}
	for name, option := range map[string]middleware.Option{"dry run": middleware.WithDryRun(), "holdout": middleware.WithHoldout(1)} {
		s := newSetup([]sdkAnswer{says("One:"), calls(edit("1")), unreported}, option)
		_, stalled, err := s.answer(inSession(t, "s"))
		require.NoError(t, err, name)
		assert.Equal(t, 1, stalled.Worth.Unsent, name)
		assert.Zero(t, stalled.Worth.Tokens, name)
		assert.Greater(t, stalled.Worth.Estimate.Input, 10+5, "%s: the turn and the prompt", name)
		assert.Equal(t, 5, stalled.Worth.Estimate.Output, name)
		_, working, err := s.answer(inSession(t, "s"))
		require.NoError(t, err, name)
		assert.Zero(t, working.Worth, name)
		_, stalled, err = s.answer(inSession(t, "s"))
		require.NoError(t, err, name)
		assert.Equal(t, 1, stalled.Worth.Unsent, name)
		assert.Positive(t, stalled.Worth.Estimate.Input, "%s: no usage was reported", name)
	}
}

// Which calls begin a user turn, and which messages only say go on: what both arms are compared by.
func TestOutcomeSaysThatTheUserWrote(t *testing.T) {
	t.Parallel()
	request := func(users int, text string) adapter.Request {
		return adapter.Request{Tools: 1, Users: users, User: text}
	}
	for name, test := range map[string]struct {
		ctx     context.Context
		options []middleware.Option
		want    [][2]bool // Wrote and GoOn, of each call
	}{
		"in a session":      {inSession(t, "s"), nil, [][2]bool{{true, false}, {false, false}, {true, true}, {false, false}}},
		"held out":          {inSession(t, "s"), []middleware.Option{middleware.WithHoldout(1)}, [][2]bool{{true, false}, {false, false}, {true, true}, {false, false}}},
		"without a session": {t.Context(), nil, make([][2]bool, 4)},
		"in a dry run":      {inSession(t, "s"), []middleware.Option{middleware.WithDryRun()}, make([][2]bool, 4)},
		"automatic":         {continuation.Automatic(inSession(t, "s")), nil, make([][2]bool, 4)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mw := middleware.New(todo.Static(), test.options...)
			var got [][2]bool
			for _, r := range []adapter.Request{request(1, "Fix the build."), request(1, "Fix the build."), request(2, "continue, please"), request(2, "continue, please")} {
				call := begin(test.ctx, mw, r)
				require.NotNil(t, call)
				got = append(got, [2]bool{call.Outcome().Wrote, call.Outcome().GoOn})
				call.Abort(errors.New("refused"))
			}
			assert.Equal(t, test.want, got)
		})
	}
}
