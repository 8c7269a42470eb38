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
)

// requireTimedOut checks that a call ended as its first turn did, because the continuation was too slow.
func (s *scene) requireTimedOut(t *testing.T, got answer, text string, want error) {
	t.Helper()
	requireComplete(t, s.m, got, text, "stop")
	assert.Equal(t, continuation.ReasonFailed, got.Outcome.Reason)
	require.ErrorIs(t, got.Outcome.Err, want)
	assert.Equal(t, "timeout", s.state(t).Last.Problem())
	assert.Equal(t, []string{"continuation"}, failures(s.events))
}

func TestContinuationThatIsNotAnsweredIsGivenUp(t *testing.T) {
	t.Parallel()
	tests := map[string]carryontest.Turn{
		"no headers": carryontest.Text("Two.").Hang(),
		"no bytes":   carryontest.Text("Two.").HangAfter(0),
	}
	for name, turn := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubbles(t, allModes, func(t *testing.T, m mode) {
				s := newBubbleScene(t, m, twoTodos)
				began := time.Now()
				got := s.ask(carryontest.Text("One."), turn)
				s.requireTimedOut(t, got, "One.", middleware.ErrFirstByteTimeout)
				assert.Equal(t, 5*time.Minute, time.Since(began))
			})
		})
	}
}

func TestHalfAnAnswerInOnePieceIsGivenUp(t *testing.T) {
	t.Parallel()
	inBubbles(t, unaryModes, func(t *testing.T, m mode) {
		s := newBubbleScene(t, m, twoTodos,
			middleware.WithLimits(continuation.Limits{FirstByteTimeout: time.Minute}))
		began := time.Now()
		got := s.ask(carryontest.Text("One."), carryontest.Text("Two.").HangAfter(1))
		s.requireTimedOut(t, got, "One.", middleware.ErrFirstByteTimeout)
		assert.Equal(t, time.Minute, time.Since(began))
	})
}

func TestContinuationThatFallsSilentIsGivenUp(t *testing.T) {
	t.Parallel()
	inBubbles(t, streamModes, func(t *testing.T, m mode) {
		s := newBubbleScene(t, m, twoTodos)
		began := time.Now()
		got := s.ask(carryontest.Text("One."), carryontest.Text("Two three four.").HangAfter(3))
		s.requireTimedOut(t, got, "One.\n\nTwo three ", middleware.ErrResponseTimeout)
		assert.Equal(t, 30*time.Second, time.Since(began))
	})
}

func TestSilenceInACallersToolCallIsReturned(t *testing.T) {
	t.Parallel()
	inBubbles(t, streamModes, func(t *testing.T, m mode) {
		s := newBubbleScene(t, m, twoTodos)
		got := s.ask(carryontest.Text("One."), edit().HangAfter(3))
		require.ErrorIs(t, got.Err, middleware.ErrResponseTimeout)
		assert.Empty(t, got.Finish)
	})
}

func TestSlowContinuationIsNotSilent(t *testing.T) {
	t.Parallel()
	inBubbles(t, streamModes, func(t *testing.T, m mode) {
		s := newBubbleScene(t, m, twoTodos)
		got := s.ask(carryontest.Text("One."), edit().AndText("Two three four five six.").Delay(29*time.Second))
		requireComplete(t, s.m, got, "One.\n\nTwo three four five six.", "tool_calls")
	})
}

func TestCallersOwnTurnHasNoTimeLimit(t *testing.T) {
	t.Parallel()
	inBubbles(t, allModes, func(t *testing.T, m mode) {
		s := newBubbleScene(t, m, twoTodos)
		got := s.ask(carryontest.Text(plan).Delay(time.Hour), edit())
		requireComplete(t, m, got, plan, "tool_calls")
	})
}

func TestTimeLimitsCanBeSwitchedOff(t *testing.T) {
	t.Parallel()
	inBubbles(t, allModes, func(t *testing.T, m mode) {
		s := newBubbleScene(t, m, twoTodos, middleware.WithLimits(continuation.Limits{
			ResponseTimeout: continuation.Off, FirstByteTimeout: continuation.Off,
		}))
		got := s.ask(carryontest.Text(plan), edit().Delay(time.Hour))
		requireComplete(t, m, got, plan, "tool_calls")
	})
}

// A consumer that writes slowly, or waits for its own user, is not the provider's fault.
func TestSilenceIsMeasuredOnlyWhileTheConsumerReads(t *testing.T) {
	t.Parallel()
	inBubbles(t, streamModes, func(t *testing.T, m mode) {
		s := newBubbleScene(t, m, twoTodos)
		s.server.Append(carryontest.Text("One two."), edit().AndText("Three four."))
		got, err := open(s.ctx, s.client, ask())
		require.NoError(t, err)
		defer got.Close()
		var a answer
		for {
			chunk, err := got.Recv()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
			a.add(chunk)
			<-time.After(10 * time.Minute)
		}
		assert.Equal(t, "One two.\n\nThree four.", a.Text)
		assert.Equal(t, "tool_calls", a.Finish)
	})
}

func TestRestOfAnAnswerMayTakeTwoSeconds(t *testing.T) {
	t.Parallel()
	inBubbles(t, streamModes, func(t *testing.T, m mode) {
		s := newBubbleScene(t, m, twoTodos)
		began := time.Now()
		got := s.ask(carryontest.Text(plan).HangAfter(-1), edit())
		requireComplete(t, s.m, got, plan, "tool_calls")
		assert.Equal(t, 2*time.Second, time.Since(began))
	})
}

func TestCallersDeadlineCostsTheContinuationAndNotTheAnswer(t *testing.T) {
	t.Parallel()
	for name, turn := range map[string]carryontest.Turn{
		"no headers": carryontest.Text("Two.").Hang(), "no bytes": carryontest.Text("Two.").HangAfter(0),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubbles(t, allModes, func(t *testing.T, m mode) {
				s := newBubbleScene(t, m, twoTodos)
				ctx, cancel := context.WithTimeout(s.ctx, 10*time.Second)
				defer cancel()
				began := time.Now()
				got := s.call(ctx, ask(), carryontest.Text("One."), turn)
				s.requireTimedOut(t, got, "One.", middleware.ErrDeadlineNear)
				assert.Equal(t, 9*time.Second, time.Since(began), "a tenth before the deadline")
			})
		})
	}
}

func TestDeadlineIsAnticipatedByTwoSecondsAtMost(t *testing.T) {
	t.Parallel()
	inBubbles(t, allModes, func(t *testing.T, m mode) {
		s := newBubbleScene(t, m, twoTodos)
		ctx, cancel := context.WithTimeout(s.ctx, time.Minute)
		defer cancel()
		began := time.Now()
		got := s.call(ctx, ask(), carryontest.Text("One."), carryontest.Text("Two.").Hang())
		s.requireTimedOut(t, got, "One.", middleware.ErrDeadlineNear)
		assert.Equal(t, 58*time.Second, time.Since(began))
	})
}

func TestDeadlineInTheTextOfAContinuationEndsItInTime(t *testing.T) {
	t.Parallel()
	inBubbles(t, streamModes, func(t *testing.T, m mode) {
		s := newBubbleScene(t, m, twoTodos)
		ctx, cancel := context.WithTimeout(s.ctx, 10*time.Second)
		defer cancel()
		got := s.call(ctx, ask(), carryontest.Text("One."), carryontest.Text("Two three four.").HangAfter(3))
		s.requireTimedOut(t, got, "One.\n\nTwo three ", middleware.ErrDeadlineNear)
	})
}

// delayed lets a turn take about that long.
func delayed(m mode, turn carryontest.Turn, d time.Duration) carryontest.Turn {
	if m.streamed {
		return turn.OneChunk().Delay(d / 2) // and the [DONE]
	}
	return turn.Delay(d / 2) // two halves
}

func TestContinuationIsNotOpenedWithTooLittleTimeLeft(t *testing.T) {
	t.Parallel()
	inBubbles(t, allModes, func(t *testing.T, m mode) {
		s := newBubbleScene(t, m, twoTodos)
		ctx, cancel := context.WithTimeout(s.ctx, 10*time.Second)
		defer cancel()
		got := s.call(ctx, ask(), delayed(m, carryontest.Text("One."), 6*time.Second))
		requireComplete(t, m, got, "One.", "stop")
		assert.Equal(t, continuation.ReasonDeadline, got.Outcome.Reason)
		require.NoError(t, got.Outcome.Err)
		assert.Len(t, s.server.Requests(), 1)
		assert.Zero(t, s.state(t).Attempts)
	})
}

func TestContinuationIsOpenedWithEnoughTimeLeft(t *testing.T) {
	t.Parallel()
	inBubbles(t, allModes, func(t *testing.T, m mode) {
		s := newBubbleScene(t, m, twoTodos)
		ctx, cancel := context.WithTimeout(s.ctx, 10*time.Second)
		defer cancel()
		got := s.call(ctx, ask(), delayed(m, carryontest.Text("One."), 4*time.Second), edit())
		requireComplete(t, m, got, "One.", "tool_calls")
	})
}

func TestWaitThatLeavesTooLittleTimeIsNotBegun(t *testing.T) {
	t.Parallel()
	inBubbles(t, allModes, func(t *testing.T, m mode) {
		s := newBubbleScene(t, m, twoTodos, middleware.WithLimits(continuation.Limits{MinInterval: time.Minute}))
		s.ask(carryontest.Text("One."), edit())
		ctx, cancel := context.WithTimeout(s.ctx, 10*time.Second)
		defer cancel()
		began := time.Now()
		got := s.call(ctx, ask(), carryontest.Text("One."))
		requireComplete(t, m, got, "One.", "stop")
		assert.Equal(t, continuation.ReasonDeadline, got.Outcome.Reason)
		assert.Zero(t, time.Since(began))
	})
}

func TestRejectedPauseKeepsTheInterval(t *testing.T) {
	t.Parallel()
	inBubbles(t, allModes, func(t *testing.T, m mode) {
		s := newBubbleScene(t, m, twoTodos)
		s.ask(carryontest.Text("One."), carryontest.Pause("stuck"), edit())
		assert.Equal(t, []time.Duration{0, time.Second}, s.gaps())
	})
}

func TestRejectedPauseIsAcceptedIfTheWaitWouldMissTheDeadline(t *testing.T) {
	t.Parallel()
	inBubbles(t, allModes, func(t *testing.T, m mode) {
		s := newBubbleScene(t, m, twoTodos, middleware.WithLimits(continuation.Limits{MinInterval: time.Minute}))
		ctx, cancel := context.WithTimeout(s.ctx, 10*time.Second)
		defer cancel()
		got := s.call(ctx, ask(), carryontest.Text("One."), carryontest.Pause("stuck"))
		s.requirePaused(t, got, "stuck")
		assert.Equal(t, "One.\n\nTask paused: stuck", got.Text)
	})
}

func TestStreamThatIsDroppedKeepsItsSessionForTenMinutes(t *testing.T) {
	t.Parallel()
	inBubbles(t, streamModes, func(t *testing.T, m mode) {
		s := newBubbleScene(t, m, twoTodos)
		s.server.Append(carryontest.Text("One."), carryontest.Text("Two three."))
		dropped, err := open(s.ctx, s.client, ask())
		require.NoError(t, err)
		defer dropped.Close()
		readUntil(t, dropped.Recv, "Two")

		got := s.ask(carryontest.Text("Three."))
		assert.Equal(t, continuation.ReasonActive, got.Outcome.Reason)
		<-time.After(10 * time.Minute)
		got = s.ask(carryontest.Text("Three."), edit())
		assert.Equal(t, continuation.ReasonToolCalls, got.Outcome.Reason)
		assert.Equal(t, 1, got.Outcome.Attempts)
	})
}

func TestEndOfTheContextReleasesADroppedStream(t *testing.T) {
	t.Parallel()
	inBubbles(t, streamModes, func(t *testing.T, m mode) {
		s := newBubbleScene(t, m, twoTodos)
		s.server.Append(carryontest.Text("One."), carryontest.Text("Two three."))
		ctx, cancel := context.WithCancel(s.ctx)
		dropped, err := open(ctx, s.client, ask())
		require.NoError(t, err)
		defer dropped.Close()
		readUntil(t, dropped.Recv, "Two")
		assert.NotZero(t, s.state(t).Claim)
		cancel()
		synctest.Wait()
		assert.Zero(t, s.state(t).Claim)
		for err == nil {
			_, err = dropped.Recv()
		}
		require.ErrorIs(t, err, context.Canceled)
	})
}
