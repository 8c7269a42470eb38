package scenarios_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/scenario"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

func TestPromptsKeepTheInterval(t *testing.T) {
	t.Parallel()
	scenario.InBubbles(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.NewInBubble(t, m, scenario.TwoTodos())
		got := s.Ask(scenario.Texts("One:", "Two:", "Three:", "Four:", "Five:")...)
		require.NoError(t, got.Err)
		assert.Equal(t, []time.Duration{0, time.Second, time.Second, time.Second}, gaps(s), "the first prompt does not wait")
	})
}

func TestWaitIsOnlyTheRestOfTheInterval(t *testing.T) {
	t.Parallel()
	scenario.InBubbles(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.NewInBubble(t, m, scenario.TwoTodos(), middleware.WithLimits(continuation.Limits{MinInterval: time.Minute}))
		s.Ask(fakellm.Text(scenario.Plan), scenario.Edit())
		<-time.After(45 * time.Second)
		s.Call(s.Ctx, scenario.WithEdit(scenario.Request(), "call_2_1"), fakellm.Text(scenario.Plan), scenario.Edit())
		assert.Equal(t, []time.Duration{0, 45 * time.Second, 15 * time.Second}, gaps(s))
		<-time.After(time.Hour)
		s.Call(s.Ctx, scenario.WithEdit(scenario.Request(), "call_2_1"), fakellm.Text(scenario.Plan), scenario.Edit())
		assert.Equal(t, time.Duration(0), gaps(s)[4], "the interval was over")
	})
}

func TestIntervalHoldsOverUserTurns(t *testing.T) {
	t.Parallel()
	scenario.InBubbles(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.NewInBubble(t, m, scenario.TwoTodos())
		s.Ask(fakellm.Text(scenario.Plan), scenario.Edit())
		s.Call(s.Ctx, scenario.WithUserMessage(scenario.Request(), scenario.Plan, "Go on."), fakellm.Text(scenario.Plan),
			scenario.Edit())
		assert.Equal(t, []time.Duration{0, 0, time.Second}, gaps(s))
	})
}

func TestTodosAreReadAfreshAfterTheWait(t *testing.T) {
	t.Parallel()
	scenario.InBubbles(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		todos := scenario.NewList(scenario.InProgress("Write the parser"), scenario.Pending("Test the parser"))
		s := scenario.NewInBubble(t, m, todos)
		s.Ask(fakellm.Text(scenario.Plan), scenario.Edit())
		time.AfterFunc(time.Second/2, func() { todos.Set(scenario.Completed("Write the parser"), scenario.InProgress("Test the parser")) })
		s.Ask(fakellm.Text(scenario.Plan), scenario.Edit())
		assert.Contains(t, s.Prompts()[2], "'Test the parser'")
	})
}

func TestListThatIsDoneAfterTheWaitIsNotContinued(t *testing.T) {
	t.Parallel()
	scenario.InBubbles(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		todos := scenario.NewList(scenario.InProgress("Write the parser"))
		s := scenario.NewInBubble(t, m, todos)
		s.Ask(fakellm.Text(scenario.Plan), scenario.Edit())
		time.AfterFunc(time.Second/2, func() { todos.Set(scenario.Completed("Write the parser")) })
		began := time.Now()
		got := s.Ask(fakellm.Text(scenario.Plan))

		scenario.RequireComplete(t, m, got, scenario.Plan, "stop")
		assert.Equal(t, reasons.NoActiveTodos, got.Outcome.Reason)
		assert.Equal(t, time.Second, time.Since(began))
	})
}

func TestPauseDuringTheWaitEndsTheContinuations(t *testing.T) {
	t.Parallel()
	scenario.InBubbles(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.NewInBubble(t, m, scenario.TwoTodos())
		s.Ask(fakellm.Text(scenario.Plan), scenario.Edit())
		time.AfterFunc(time.Second/2, func() { assert.NoError(t, s.Middleware.Pause(s.Ctx, "enough")) })
		got := s.Ask(fakellm.Text(scenario.Plan))
		scenario.RequireComplete(t, m, got, scenario.Plan, "stop")
		assert.Equal(t, reasons.Paused, got.Outcome.Reason)
	})
}

// During the wait, only the end of the first turn is held back.
func TestTextIsOutBeforeTheWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := scenario.NewInBubble(t, scenario.TypedStream, scenario.TwoTodos())
		s.Ask(fakellm.Text(scenario.Plan), scenario.Edit())
		s.Server.Append(fakellm.Text(scenario.Plan), scenario.Edit())
		began := time.Now()
		got, err := scenario.Open(s.Ctx, s.Client, scenario.Request())
		require.NoError(t, err)
		defer got.Close()
		var text string
		for text != scenario.Plan {
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
	scenario.InBubbles(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.NewInBubble(t, m, scenario.TwoTodos(), middleware.WithLimits(continuation.Limits{MinInterval: time.Hour}))
		s.Ask(fakellm.Text(scenario.Plan), scenario.Edit())
		ctx, cancel := context.WithCancel(s.Ctx)
		time.AfterFunc(time.Minute, cancel)
		began := time.Now()
		got := s.Call(ctx, scenario.Request(), fakellm.Text(scenario.Plan))

		require.ErrorIs(t, got.Err, context.Canceled)
		assert.Equal(t, scenario.Plan, got.Text, "the text so far is not lost")
		assert.Equal(t, time.Minute, time.Since(began))
		assert.Equal(t, reasons.BrokeOff, got.Outcome.Reason)
		require.ErrorIs(t, got.Outcome.Err, context.Canceled)
		assert.Len(t, s.Server.Requests(), 3)
		assert.Equal(t, 1, s.State(t).Continuations, "a wait costs no attempt")
	})
}

func TestCauseOfTheContextComesWithTheError(t *testing.T) {
	t.Parallel()
	cause := errors.New("the user left")
	scenario.InBubbles(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.NewInBubble(t, m, scenario.TwoTodos())
		s.Ask(fakellm.Text(scenario.Plan), scenario.Edit())
		ctx, cancel := context.WithCancelCause(s.Ctx)
		time.AfterFunc(time.Second/2, func() { cancel(cause) })
		got := s.Call(ctx, scenario.Request(), fakellm.Text(scenario.Plan))
		require.ErrorIs(t, got.Err, context.Canceled)
		require.ErrorIs(t, got.Err, cause)
	})
}

func TestCloseEndsTheWaitAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := scenario.NewInBubble(t, scenario.TypedStream, scenario.TwoTodos(), middleware.WithLimits(continuation.Limits{MinInterval: time.Hour}))
		s.Ask(fakellm.Text(scenario.Plan), scenario.Edit())
		s.Server.Append(fakellm.Text(scenario.Plan))
		got, err := scenario.Open(s.Ctx, s.Client, scenario.Request())
		require.NoError(t, err)
		time.AfterFunc(time.Minute, func() { assert.NoError(t, got.Close()) })
		began := time.Now()
		for err == nil {
			_, err = got.Recv()
		}
		require.NotErrorIs(t, err, io.EOF, "the answer is not complete")
		assert.Equal(t, time.Minute, time.Since(began))
		outcome := got.Outcome()
		assert.True(t, outcome.Ended)
		assert.Equal(t, reasons.BrokeOff, outcome.Reason)
		assert.Len(t, s.Server.Requests(), 3)
	})
}

func TestSourceThatHangsCostsOneSecond(t *testing.T) {
	t.Parallel()
	scenario.InBubbles(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.NewInBubble(t, m, todo.ProviderFunc(func(ctx context.Context) ([]todo.Todo, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}))
		began := time.Now()
		got := s.Ask(fakellm.Text(scenario.Plan))
		scenario.RequireComplete(t, m, got, scenario.Plan, "stop")
		assert.Equal(t, reasons.SourceLate, got.Outcome.Reason)
		assert.Equal(t, continuation.DefaultLimits().TodoTimeout, time.Since(began))
	})
}
