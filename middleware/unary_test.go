package middleware_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
)

func TestUnaryReturnsTheVerySameAnswerWithNothingToDo(t *testing.T) {
	t.Parallel()
	own := calls(edit("c1"))
	s := newSetup([]sdkAnswer{own})
	answer, outcome, err := s.answer(t.Context())

	require.NoError(t, err)
	assert.Equal(t, own, answer)
	assert.Same(t, &own.Calls[0], &answer.Calls[0])
	assert.Equal(t, continuation.ReasonToolCalls, outcome.Reason)
	assert.Equal(t, 1, outcome.Turns)
}

func TestUnaryReturnsTheCallersOwnErrorAsItCame(t *testing.T) {
	t.Parallel()
	refused := errors.New("sdk: no credit")
	s := newSetup([]sdkAnswer{fails(refused)})
	_, outcome, err := s.answer(t.Context())

	assert.Same(t, refused, err)
	assert.Equal(t, continuation.ReasonBrokeOff, outcome.Reason)
	assert.Equal(t, refused, outcome.Err)
	assert.True(t, outcome.Ended)
	assert.Len(t, s.model.requests, 1)
	require.Len(t, s.events.Turns(), 1)
	assert.Equal(t, refused, s.events.Turns()[0].Err)
}

func TestUnaryJoinsTheTurns(t *testing.T) {
	t.Parallel()
	s := newSetup([]sdkAnswer{says("One:"), says("Two:"), calls(edit("c1")).saying("Three:")})
	answer, outcome, err := s.answer(t.Context())

	require.NoError(t, err)
	assert.Equal(t, "One:\n\nTwo:\n\nThree:", answer.Text)
	assert.Equal(t, []sdkCall{edit("c1")}, answer.Calls)
	assert.Equal(t, "tools", answer.Stop)
	assert.Equal(t, sdkUsage{In: 10, Out: 18}, answer.Usage)
	assert.Equal(t, []adapter.Usage{
		{Prompt: 10, Completion: 5}, {Prompt: 10, Completion: 5}, {Prompt: 20, Completion: 8},
	}, outcome.Usage)
	assert.Equal(t, "One:\n\nTwo:", s.model.requests[2].Messages[1].Text, "earlier prompts are not repeated")
	assert.Len(t, s.model.requests[2].Messages, 3)
}

func TestUnarySurvivesAFailingContinuation(t *testing.T) {
	t.Parallel()
	down := &adapter.StatusError{Status: 503, Err: errors.New("sdk: overloaded")}
	s := newSetup([]sdkAnswer{says("One:"), says("Two:"), fails(down), fails(down), fails(down)})
	answer, outcome, err := s.answer(t.Context())

	require.NoError(t, err)
	assert.Equal(t, "One:\n\nTwo:", answer.Text)
	assert.Equal(t, "stop", answer.Stop)
	assert.Equal(t, sdkUsage{In: 10, Out: 10}, answer.Usage)
	assert.Equal(t, continuation.ReasonFailed, outcome.Reason)
	require.Len(t, s.events.Failures(), 3, "it was tried three times")
	assert.Equal(t, "continuation", s.events.Failures()[0].Op)
	for _, failure := range []error{outcome.Err, s.events.Failures()[0].Err, s.events.Ended()[1].Err} {
		var status *adapter.StatusError
		require.ErrorAs(t, failure, &status)
		assert.Equal(t, 503, status.Status)
		assert.ErrorIs(t, failure, down.Err, "the SDK's own error can be reached")
	}
}

func TestUnaryTakesAnAnswerWithoutFinishForAFailure(t *testing.T) {
	t.Parallel()
	cut := says("Thr")
	cut.Stop = ""
	s := newSetup([]sdkAnswer{says("One:"), says("Two:"), cut, cut, cut})
	answer, outcome, err := s.answer(t.Context())

	require.NoError(t, err)
	assert.Equal(t, "One:\n\nTwo:", answer.Text)
	assert.Equal(t, sdkUsage{In: 10, Out: 10}, answer.Usage, "without the usage of the failed turn")
	assert.ErrorIs(t, outcome.Err, middleware.ErrIncomplete)
}

func TestUnaryReturnsTheAnswerSoFarWhenTheCallerGivesUp(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := newSetup([]sdkAnswer{says("One:"), says("Two:")})
	call := begin(ctx, s.mw, describe(fixTheBuild))
	answer, err := middleware.Unary(call, &answers{usageTotals: newUsageTotals()},
		func(ctx context.Context, k *adapter.Continuation) (sdkAnswer, error) {
			if k != nil {
				cancel()
			}
			return s.model.Complete(ctx, fixTheBuild)
		})

	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, "One:", answer.Text)
	assert.Equal(t, "stop", answer.Stop)
	assert.Equal(t, continuation.ReasonBrokeOff, call.Outcome().Reason)
}

func TestUnaryWithoutFinishReasons(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		last sdkAnswer
		want string
	}{
		"text": {sdkAnswer{Text: "Two:"}, "One:\n\nTwo:"},
		"call": {sdkAnswer{Calls: []sdkCall{edit("c1")}}, "One:"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSetup([]sdkAnswer{{Text: "One:"}, test.last},
				middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off, MaxAttempts: 1}))
			request := describe(fixTheBuild)
			request.NoFinish = true
			call := begin(t.Context(), s.mw, request)
			answer, err := middleware.Unary(call, &answers{usageTotals: newUsageTotals()},
				func(ctx context.Context, _ *adapter.Continuation) (sdkAnswer, error) {
					return s.model.Complete(ctx, fixTheBuild)
				})

			require.NoError(t, err)
			assert.Equal(t, test.want, answer.Text)
			assert.Equal(t, test.last.Calls, answer.Calls)
			assert.Empty(t, answer.Stop)
			assert.NoError(t, call.Outcome().Err)
		})
	}
}

func TestUnaryLeavesTheCallersOwnPauseToolAlone(t *testing.T) {
	t.Parallel()
	s := newSetup([]sdkAnswer{says("One:"), calls(pauses(blocked))})
	request := fixTheBuild
	request.Tools = []sdkTool{{Name: "todo_pause"}}
	answer, err := s.agent.Complete(t.Context(), request)

	require.NoError(t, err)
	assert.Equal(t, "One:", answer.Text)
	assert.Equal(t, []sdkCall{pauses(blocked)}, answer.Calls)
	assert.Equal(t, "tools", answer.Stop)
	assert.Len(t, s.model.requests[1].Tools, 1)
}

func TestUnaryPanicInTheModelReleasesTheSession(t *testing.T) {
	t.Parallel()
	s := newSetup(nil)
	ctx := inSession(t, "s")
	call := begin(ctx, s.mw, describe(fixTheBuild))
	assert.PanicsWithValue(t, "sdk: broken", func() {
		_, _ = middleware.Unary(call, &answers{usageTotals: newUsageTotals()},
			func(_ context.Context, k *adapter.Continuation) (sdkAnswer, error) {
				if k != nil {
					panic("sdk: broken")
				}
				return says("One:"), nil
			})
	})
	state, err := s.mw.State(ctx)
	require.NoError(t, err)
	assert.Zero(t, state.Claim.Token)
	assert.Zero(t, state.Attempts, "nothing was shown of the attempt")
	assert.True(t, call.Outcome().Ended)
}

func TestUnaryAlwaysDeclaredPause(t *testing.T) {
	t.Parallel()
	s := newSetup([]sdkAnswer{calls(pauses(blocked)).saying("I am stuck.")},
		middleware.WithPauseTool(middleware.PauseToolAlways))
	answer, outcome, err := s.answer(t.Context())

	require.NoError(t, err)
	assert.Equal(t, "I am stuck.\n\nTask paused: "+blocked, answer.Text)
	assert.Empty(t, answer.Calls)
	assert.Equal(t, "stop", answer.Stop)
	assert.Equal(t, continuation.ReasonPaused, outcome.Reason)
	require.NotNil(t, outcome.Paused)
	assert.Equal(t, blocked, outcome.Paused.Reason)
	assert.Len(t, s.model.requests[0].Tools, 2)
	assert.Len(t, fixTheBuild.Tools, 1, "the caller's tools are not changed")
}
