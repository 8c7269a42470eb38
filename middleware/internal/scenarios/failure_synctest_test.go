package scenarios_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/scenario"
	"github.com/carryon-go/carryon/middleware"
)

// requireTimedOut checks that a call ended with its first turn because the continuation was too slow.
func requireTimedOut(t *testing.T, s *scenario.Scenario, got scenario.Answer, text string, want error) {
	t.Helper()
	scenario.RequireComplete(t, s.Mode, got, text, "stop")
	assert.Equal(t, reasons.Failed, got.Outcome.Reason)
	require.ErrorIs(t, got.Outcome.Err, want)
	assert.Equal(t, decision.ResultTimeout, s.State(t).LastResult)
	assert.Equal(t, []string{"continuation"}, failures(s.Events))
}

func TestContinuationThatIsNotAnsweredIsGivenUp(t *testing.T) {
	t.Parallel()
	tests := map[string]fakellm.Turn{
		"no headers": fakellm.Text("Two:").Hang(),
		"no bytes":   fakellm.Text("Two:").HangAfter(0),
	}
	for name, turn := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scenario.InBubbles(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
				s := scenario.NewInBubble(t, m, scenario.TwoTodos())
				began := time.Now()
				got := s.Ask(fakellm.Text("One:"), turn)
				requireTimedOut(t, s, got, "One:", middleware.ErrFirstByteTimeout)
				assert.Equal(t, 5*time.Minute, time.Since(began))
			})
		})
	}
}

func TestHalfAnAnswerInOnePieceIsGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := scenario.NewInBubble(t, scenario.TypedUnary, scenario.TwoTodos(),
			middleware.WithLimits(continuation.Limits{FirstByteTimeout: time.Minute}))
		began := time.Now()
		got := s.Ask(fakellm.Text("One:"), fakellm.Text("Two:").HangAfter(1))
		requireTimedOut(t, s, got, "One:", middleware.ErrFirstByteTimeout)
		assert.Equal(t, time.Minute, time.Since(began))
	})
}

func TestContinuationThatFallsSilentIsGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := scenario.NewInBubble(t, scenario.TypedStream, scenario.TwoTodos())
		began := time.Now()
		got := s.Ask(fakellm.Text("One:"), fakellm.Text("Two three four.").HangAfter(3))
		requireTimedOut(t, s, got, "One:\n\nTwo three ", middleware.ErrResponseTimeout)
		assert.Equal(t, 30*time.Second, time.Since(began))
	})
}

func TestSilenceInACallersToolCallIsReturned(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := scenario.NewInBubble(t, scenario.TypedStream, scenario.TwoTodos())
		got := s.Ask(fakellm.Text("One:"), scenario.Edit().HangAfter(3))
		require.ErrorIs(t, got.Err, middleware.ErrResponseTimeout)
		assert.Empty(t, got.Finish)
	})
}

func TestSlowContinuationIsNotSilent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := scenario.NewInBubble(t, scenario.TypedStream, scenario.TwoTodos())
		got := s.Ask(fakellm.Text("One:"), scenario.Edit().AndText("Two three four five six.").Delay(29*time.Second))
		scenario.RequireComplete(t, s.Mode, got, "One:\n\nTwo three four five six.", "tool_calls")
	})
}

func TestCallersOwnTurnHasNoTimeLimit(t *testing.T) {
	t.Parallel()
	scenario.InBubbles(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.NewInBubble(t, m, scenario.TwoTodos())
		got := s.Ask(fakellm.Text(scenario.Plan).Delay(time.Hour), scenario.Edit())
		scenario.RequireComplete(t, m, got, scenario.Plan, "tool_calls")
	})
}

func TestTimeLimitsCanBeSwitchedOff(t *testing.T) {
	t.Parallel()
	scenario.InBubbles(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.NewInBubble(t, m, scenario.TwoTodos(), middleware.WithLimits(continuation.Limits{
			ResponseTimeout: continuation.Off, FirstByteTimeout: continuation.Off,
		}))
		got := s.Ask(fakellm.Text(scenario.Plan), scenario.Edit().Delay(time.Hour))
		scenario.RequireComplete(t, m, got, scenario.Plan, "tool_calls")
	})
}

// A consumer may be slow, or wait for its user. That is not silence of the provider.
func TestSilenceIsMeasuredOnlyWhileTheConsumerReads(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := scenario.NewInBubble(t, scenario.TypedStream, scenario.TwoTodos())
		s.Server.Append(fakellm.Text("One two."), scenario.Edit().AndText("Three four."))
		got, err := scenario.Open(s.Ctx, s.Client, scenario.Request())
		require.NoError(t, err)
		defer got.Close()
		var a scenario.Answer
		for {
			chunk, err := got.Recv()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
			a.Add(chunk)
			<-time.After(10 * time.Minute)
		}
		assert.Equal(t, "One two.\n\nThree four.", a.Text)
		assert.Equal(t, "tool_calls", a.Finish)
	})
}

func TestRestOfAnAnswerMayTakeTwoSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := scenario.NewInBubble(t, scenario.TypedStream, scenario.TwoTodos())
		began := time.Now()
		got := s.Ask(fakellm.Text(scenario.Plan).HangAfter(-1), scenario.Edit())
		scenario.RequireComplete(t, s.Mode, got, scenario.Plan, "tool_calls")
		assert.Equal(t, 2*time.Second, time.Since(began))
	})
}

func TestCallersDeadlineCostsTheContinuationAndNotTheAnswer(t *testing.T) {
	t.Parallel()
	for name, turn := range map[string]fakellm.Turn{
		"no headers": fakellm.Text("Two:").Hang(), "no bytes": fakellm.Text("Two:").HangAfter(0),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scenario.InBubbles(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
				s := scenario.NewInBubble(t, m, scenario.TwoTodos())
				ctx, cancel := context.WithTimeout(s.Ctx, 10*time.Second)
				defer cancel()
				began := time.Now()
				got := s.Call(ctx, scenario.Request(), fakellm.Text("One:"), turn)
				requireTimedOut(t, s, got, "One:", middleware.ErrDeadlineNear)
				assert.Equal(t, 9*time.Second, time.Since(began), "a tenth before the deadline")
			})
		})
	}
}

func TestDeadlineIsAnticipatedByTwoSecondsAtMost(t *testing.T) {
	t.Parallel()
	scenario.InBubbles(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.NewInBubble(t, m, scenario.TwoTodos())
		ctx, cancel := context.WithTimeout(s.Ctx, time.Minute)
		defer cancel()
		began := time.Now()
		got := s.Call(ctx, scenario.Request(), fakellm.Text("One:"), fakellm.Text("Two:").Hang())
		requireTimedOut(t, s, got, "One:", middleware.ErrDeadlineNear)
		assert.Equal(t, 58*time.Second, time.Since(began))
	})
}

func TestDeadlineInTheTextOfAContinuationEndsItInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := scenario.NewInBubble(t, scenario.TypedStream, scenario.TwoTodos())
		ctx, cancel := context.WithTimeout(s.Ctx, 10*time.Second)
		defer cancel()
		got := s.Call(ctx, scenario.Request(), fakellm.Text("One:"), fakellm.Text("Two three four.").HangAfter(3))
		requireTimedOut(t, s, got, "One:\n\nTwo three ", middleware.ErrDeadlineNear)
	})
}

// inAbout returns a turn that takes about that long.
func inAbout(m scenario.Mode, turn fakellm.Turn, d time.Duration) fakellm.Turn {
	if m.Streamed() {
		return turn.With(fakellm.OneChunk).Delay(d / 2) // the other half is the [DONE]'s
	}
	return turn.Delay(d / 2) // two halves
}

func TestContinuationIsNotOpenedWithTooLittleTimeLeft(t *testing.T) {
	t.Parallel()
	scenario.InBubbles(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.NewInBubble(t, m, scenario.TwoTodos())
		ctx, cancel := context.WithTimeout(s.Ctx, 10*time.Second)
		defer cancel()
		got := s.Call(ctx, scenario.Request(), inAbout(m, fakellm.Text("One:"), 6*time.Second))
		scenario.RequireComplete(t, m, got, "One:", "stop")
		assert.Equal(t, reasons.Deadline, got.Outcome.Reason)
		require.NoError(t, got.Outcome.Err)
		assert.Len(t, s.Server.Requests(), 1)
		assert.Zero(t, s.State(t).Attempts)
	})
}

func TestContinuationIsOpenedWithEnoughTimeLeft(t *testing.T) {
	t.Parallel()
	scenario.InBubbles(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.NewInBubble(t, m, scenario.TwoTodos())
		ctx, cancel := context.WithTimeout(s.Ctx, 10*time.Second)
		defer cancel()
		got := s.Call(ctx, scenario.Request(), inAbout(m, fakellm.Text("One:"), 4*time.Second), scenario.Edit())
		scenario.RequireComplete(t, m, got, "One:", "tool_calls")
	})
}

func TestWaitThatLeavesTooLittleTimeIsNotBegun(t *testing.T) {
	t.Parallel()
	scenario.InBubbles(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.NewInBubble(t, m, scenario.TwoTodos(), middleware.WithLimits(continuation.Limits{MinInterval: time.Minute}))
		s.Ask(fakellm.Text("One:"), scenario.Edit())
		ctx, cancel := context.WithTimeout(s.Ctx, 10*time.Second)
		defer cancel()
		began := time.Now()
		got := s.Call(ctx, scenario.Request(), fakellm.Text("One:"))
		scenario.RequireComplete(t, m, got, "One:", "stop")
		assert.Equal(t, reasons.Deadline, got.Outcome.Reason)
		assert.Zero(t, time.Since(began))
	})
}

func TestRejectedPauseKeepsTheInterval(t *testing.T) {
	t.Parallel()
	scenario.InBubbles(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.NewInBubble(t, m, scenario.TwoTodos())
		s.Ask(fakellm.Text("One:"), fakellm.Pause("stuck"), scenario.Edit())
		assert.Equal(t, []time.Duration{0, time.Second}, gaps(s))
	})
}

func TestRejectedPauseIsAcceptedIfTheWaitWouldMissTheDeadline(t *testing.T) {
	t.Parallel()
	scenario.InBubbles(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.NewInBubble(t, m, scenario.TwoTodos(), middleware.WithLimits(continuation.Limits{MinInterval: time.Minute}))
		ctx, cancel := context.WithTimeout(s.Ctx, 10*time.Second)
		defer cancel()
		got := s.Call(ctx, scenario.Request(), fakellm.Text("One:"), fakellm.Pause("stuck"))
		requirePaused(t, s, got, "stuck")
		assert.Equal(t, "One:\n\nTask paused: stuck", got.Text)
	})
}

func TestStreamThatIsDroppedKeepsItsSessionForTenMinutes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := scenario.NewInBubble(t, scenario.TypedStream, scenario.TwoTodos())
		s.Server.Append(fakellm.Text("One:"), fakellm.Text("Two three."))
		dropped, err := scenario.Open(s.Ctx, s.Client, scenario.Request())
		require.NoError(t, err)
		defer dropped.Close()
		readUntil(t, dropped.Recv, "Two")

		got := s.Ask(fakellm.Text("Three:"))
		assert.Equal(t, reasons.Active, got.Outcome.Reason)
		<-time.After(10 * time.Minute)
		got = s.Ask(fakellm.Text("Three:"), scenario.Edit())
		assert.Equal(t, reasons.ToolCalls, got.Outcome.Reason)
		assert.Equal(t, 1, got.Outcome.Attempts)
	})
}

func TestEndOfTheContextReleasesADroppedStream(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := scenario.NewInBubble(t, scenario.TypedStream, scenario.TwoTodos())
		s.Server.Append(fakellm.Text("One:"), fakellm.Text("Two three."))
		ctx, cancel := context.WithCancel(s.Ctx)
		dropped, err := scenario.Open(ctx, s.Client, scenario.Request())
		require.NoError(t, err)
		defer dropped.Close()
		readUntil(t, dropped.Recv, "Two")
		assert.NotZero(t, s.State(t).Claim)
		cancel()
		synctest.Wait()
		assert.Zero(t, s.State(t).Claim)
		for err == nil {
			_, err = dropped.Recv()
		}
		require.ErrorIs(t, err, context.Canceled)
	})
}

func TestProviderIsGivenTheTimeThatItAsksFor(t *testing.T) {
	t.Parallel()
	for seconds, sent := range map[string]int{"7": 3, "11": 2} {
		t.Run(seconds, func(t *testing.T) {
			t.Parallel()
			scenario.InBubbles(t, []scenario.Mode{scenario.WireUnary, scenario.WireStream}, func(t *testing.T, m scenario.Mode) {
				s := scenario.NewInBubble(t, m, scenario.TwoTodos())
				turns := []fakellm.Turn{fakellm.Text("One:"), scenario.Failure(http.StatusTooManyRequests).Header("Retry-After", seconds)}
				if sent == 3 {
					turns = append(turns, scenario.Edit())
				}
				began := time.Now()
				got := s.Ask(turns...)
				require.NoError(t, got.Err)
				assert.Len(t, s.Server.Requests(), sent)
				if sent == 3 {
					assert.GreaterOrEqual(t, time.Since(began), 6*time.Second)
					assert.NoError(t, got.Outcome.Err)
					return
				}
				assert.Equal(t, reasons.Failed, got.Outcome.Reason)
			})
		})
	}
}
