package openai_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// inBubbles runs a test in each of the modes in a bubble of synctest, where time passes only while all wait.
func inBubbles(t *testing.T, modes []mode, test func(t *testing.T, m mode)) {
	t.Helper()
	inModes(t, modes, func(t *testing.T, m mode) {
		synctest.Test(t, func(t *testing.T) { test(t, m) })
	})
}

// gaps returns the times between the requests.
func (s *scene) gaps() []time.Duration {
	var gaps []time.Duration
	requests := s.server.Requests()
	for i := 1; i < len(requests); i++ {
		gaps = append(gaps, requests[i].Time.Sub(requests[i-1].Time))
	}
	return gaps
}

func TestPromptsKeepTheInterval(t *testing.T) {
	t.Parallel()
	inBubbles(t, allModes, func(t *testing.T, m mode) {
		s := newBubbleScene(t, m, twoTodos)
		got := s.ask(texts("One.", "Two.", "Three.", "Four.")...)
		require.NoError(t, got.Err)
		assert.Equal(t, []time.Duration{0, time.Second, time.Second}, s.gaps(), "the first prompt does not wait")
	})
}

func TestWaitIsOnlyTheRestOfTheInterval(t *testing.T) {
	t.Parallel()
	inBubbles(t, allModes, func(t *testing.T, m mode) {
		s := newBubbleScene(t, m, twoTodos, middleware.WithLimits(continuation.Limits{MinInterval: time.Minute}))
		s.ask(carryontest.Text(plan), edit())
		<-time.After(45 * time.Second)
		s.call(s.ctx, withHistory(ask(), "call_2_1"), carryontest.Text(plan), edit())
		assert.Equal(t, []time.Duration{0, 45 * time.Second, 15 * time.Second}, s.gaps())
		<-time.After(time.Hour)
		s.call(s.ctx, withHistory(ask(), "call_2_1"), carryontest.Text(plan), edit())
		assert.Equal(t, time.Duration(0), s.gaps()[4], "the interval was over")
	})
}

func TestIntervalHoldsOverUserTurns(t *testing.T) {
	t.Parallel()
	inBubbles(t, allModes, func(t *testing.T, m mode) {
		s := newBubbleScene(t, m, twoTodos)
		s.ask(carryontest.Text(plan), edit())
		s.call(s.ctx, said(ask(), plan, "Go on."), carryontest.Text(plan), edit())
		assert.Equal(t, []time.Duration{0, 0, time.Second}, s.gaps())
	})
}

func TestTodosAreReadAfreshAfterTheWait(t *testing.T) {
	t.Parallel()
	inBubbles(t, allModes, func(t *testing.T, m mode) {
		todos := newList(inProgress("Write the parser"), pending("Test the parser"))
		s := newBubbleScene(t, m, todos)
		s.ask(carryontest.Text(plan), edit())
		time.AfterFunc(time.Second/2, func() { todos.set(completed("Write the parser"), inProgress("Test the parser")) })
		s.ask(carryontest.Text(plan), edit())
		assert.Contains(t, s.prompts()[2], "'Test the parser'")
	})
}

func TestListThatIsDoneAfterTheWaitIsNotContinued(t *testing.T) {
	t.Parallel()
	inBubbles(t, allModes, func(t *testing.T, m mode) {
		todos := newList(inProgress("Write the parser"))
		s := newBubbleScene(t, m, todos)
		s.ask(carryontest.Text(plan), edit())
		time.AfterFunc(time.Second/2, func() { todos.set(completed("Write the parser")) })
		began := time.Now()
		got := s.ask(carryontest.Text(plan))

		requireComplete(t, m, got, plan, "stop")
		assert.Equal(t, continuation.ReasonNoActiveTodos, got.Outcome.Reason)
		assert.Equal(t, time.Second, time.Since(began))
	})
}

func TestPauseDuringTheWaitIsHeeded(t *testing.T) {
	t.Parallel()
	inBubbles(t, allModes, func(t *testing.T, m mode) {
		s := newBubbleScene(t, m, twoTodos)
		s.ask(carryontest.Text(plan), edit())
		time.AfterFunc(time.Second/2, func() { assert.NoError(t, s.mw.Pause(s.ctx, "enough")) })
		got := s.ask(carryontest.Text(plan))
		requireComplete(t, m, got, plan, "stop")
		assert.Equal(t, continuation.ReasonPaused, got.Outcome.Reason)
	})
}

// The answer is a list that the wait leaves unused: nothing of it is held back but the end.
func TestTextIsOutBeforeTheWait(t *testing.T) {
	t.Parallel()
	inBubbles(t, streamModes, func(t *testing.T, m mode) {
		s := newBubbleScene(t, m, twoTodos)
		s.ask(carryontest.Text(plan), edit())
		s.server.Append(carryontest.Text(plan), edit())
		began := time.Now()
		got, err := open(s.ctx, s.client, ask())
		require.NoError(t, err)
		defer got.Close()
		var text string
		for text != plan {
			chunk, err := got.Recv()
			require.NoError(t, err)
			text += chunk.Choices[0].Delta.Content
		}
		assert.Zero(t, time.Since(began))
		_, err = got.Recv()
		require.NoError(t, err)
		assert.Equal(t, time.Second, time.Since(began))
	})
}

func TestEndOfTheContextEndsTheWaitAtOnce(t *testing.T) {
	t.Parallel()
	inBubbles(t, allModes, func(t *testing.T, m mode) {
		s := newBubbleScene(t, m, twoTodos, middleware.WithLimits(continuation.Limits{MinInterval: time.Hour}))
		s.ask(carryontest.Text(plan), edit())
		ctx, cancel := context.WithCancel(s.ctx)
		time.AfterFunc(time.Minute, cancel)
		began := time.Now()
		got := s.call(ctx, ask(), carryontest.Text(plan))

		require.ErrorIs(t, got.Err, context.Canceled)
		if m != wireUnary { // http.Client has room for one of the two
			assert.Equal(t, plan, got.Text, "what was said is not lost")
		}
		assert.Equal(t, time.Minute, time.Since(began))
		assert.Equal(t, continuation.ReasonBrokeOff, got.Outcome.Reason)
		require.ErrorIs(t, got.Outcome.Err, context.Canceled)
		assert.Len(t, s.server.Requests(), 3)
		assert.Equal(t, 1, s.state(t).Continuations, "a wait costs no attempt")
	})
}

func TestCauseOfTheContextComesWithTheError(t *testing.T) {
	t.Parallel()
	cause := errors.New("the user left")
	inBubbles(t, allModes, func(t *testing.T, m mode) {
		s := newBubbleScene(t, m, twoTodos)
		s.ask(carryontest.Text(plan), edit())
		ctx, cancel := context.WithCancelCause(s.ctx)
		time.AfterFunc(time.Second/2, func() { cancel(cause) })
		got := s.call(ctx, ask(), carryontest.Text(plan))
		require.ErrorIs(t, got.Err, context.Canceled)
		require.ErrorIs(t, got.Err, cause)
	})
}

func TestCloseEndsTheWaitAtOnce(t *testing.T) {
	t.Parallel()
	inBubbles(t, streamModes, func(t *testing.T, m mode) {
		s := newBubbleScene(t, m, twoTodos, middleware.WithLimits(continuation.Limits{MinInterval: time.Hour}))
		s.ask(carryontest.Text(plan), edit())
		s.server.Append(carryontest.Text(plan))
		got, err := open(s.ctx, s.client, ask())
		require.NoError(t, err)
		time.AfterFunc(time.Minute, func() { assert.NoError(t, got.Close()) })
		began := time.Now()
		for err == nil {
			_, err = got.Recv()
		}
		require.NotErrorIs(t, err, io.EOF, "the answer is not whole")
		assert.Equal(t, time.Minute, time.Since(began))
		outcome := got.Outcome()
		assert.True(t, outcome.Ended)
		assert.Equal(t, continuation.ReasonBrokeOff, outcome.Reason)
		assert.Len(t, s.server.Requests(), 3)
	})
}

func TestSourceThatHangsCostsOneSecond(t *testing.T) {
	t.Parallel()
	inBubbles(t, allModes, func(t *testing.T, m mode) {
		s := newBubbleScene(t, m, todo.ProviderFunc(func(ctx context.Context) ([]todo.Todo, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}))
		began := time.Now()
		got := s.ask(carryontest.Text(plan))
		requireComplete(t, m, got, plan, "stop")
		assert.Equal(t, continuation.ReasonNoActiveTodos, got.Outcome.Reason)
		assert.Equal(t, middleware.DefaultTodoTimeout, time.Since(began))
	})
}
