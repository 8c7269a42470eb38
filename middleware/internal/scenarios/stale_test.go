package scenarios_test

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/scenario"
)

// cancelAt cancels a call whose last turn hangs, once the request for that turn has arrived.
func cancelAt(s *scenario.Scenario, turns ...fakellm.Turn) {
	last, arrived, release := gatedTurn(turns[len(turns)-1])
	defer release()
	ctx, cancel := context.WithCancel(s.Ctx)
	defer cancel()
	s.Server.Append(append(turns[:len(turns)-1:len(turns)-1], last)...)
	call := inBackground(func() scenario.Answer { return s.Mode.Call(ctx, s.Client, scenario.Request()) })
	<-arrived
	cancel()
	<-call
}

func TestCancelledUserTurnLeavesOneAttempt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		turns []fakellm.Turn
		again int // attempts of the same request afterwards
	}{
		"in its first turn":   {scenario.Texts("One:"), 1},
		"in its continuation": {scenario.Texts("One:", "Two:"), 0}, // which was the one
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
				todos := scenario.NewList(scenario.InProgress("A"), scenario.Pending("B"))
				s := scenario.New(t, m, todos)
				cancelAt(s, c.turns...)
				got := s.Ask(scenario.Texts("One:", "Two:")[:1+c.again]...)
				require.Equal(t, c.again, got.Outcome.Attempts)
				require.Equal(t, reasons.MaxAttempts, got.Outcome.Reason)

				next := scenario.WithUserMessage(scenario.Request(), "Two:", "What is the time?")
				got = s.Call(s.Ctx, next, scenario.Texts("Noon.", "Still noon.")...)
				require.Equal(t, 1, got.Outcome.Attempts)
				require.Equal(t, reasons.MaxAttempts, got.Outcome.Reason)

				todos.Set(scenario.InProgress("A"), scenario.Pending("C"))
				next = scenario.WithUserMessage(next, "Still noon.", "Go on")
				got = s.Call(s.Ctx, next, scenario.Texts("Ah:", "Be.", "Ce.", "De.")...)
				assert.Equal(t, 3, got.Outcome.Attempts, "the list has changed")
			})
		})
	}
}

// endedCtx has ended once its flag is set, but what waits for its end has not noticed.
type endedCtx struct {
	context.Context

	ended atomic.Bool
}

func (c *endedCtx) Err() error {
	if c.ended.Load() {
		return context.Canceled
	}
	return c.Context.Err()
}

// A claim is released at the end of the ctx or of the request, whatever comes first. Both
// use the attempt up: here the request ends first.
func TestCancelledContinuationUsesItsAttempt(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos())
		ctx := &endedCtx{Context: s.Ctx}
		base := s.Transport.Base
		s.Transport.Base = scenario.RoundTripFunc(func(r *http.Request) (*http.Response, error) {
			if _, continued := continuation.FromContext(r.Context()); continued {
				ctx.ended.Store(true)
				return nil, ctx.Err()
			}
			return base.RoundTrip(r)
		})
		s.Server.Append(fakellm.Text("One:"))
		s.Mode.Call(ctx, s.Client, scenario.Request())
		require.True(t, ctx.ended.Load())
		assert.Zero(t, s.Ask(fakellm.Text("One:")).Outcome.Attempts)
	})
}

func TestClosedStreamLeavesOneAttempt(t *testing.T) {
	t.Parallel()
	s := scenario.New(t, scenario.TypedStream, scenario.TwoTodos())
	s.Server.Append(fakellm.Text("One two three.").HangAfter(3))
	stream, err := scenario.Open(s.Ctx, s.Client, scenario.Request())
	require.NoError(t, err)
	readUntil(t, stream.Recv, "One two")
	require.NoError(t, stream.Close())
	got := s.Ask(scenario.Texts("One:", "Two:")...)
	assert.Equal(t, 1, got.Outcome.Attempts)
	assert.Equal(t, reasons.MaxAttempts, got.Outcome.Reason)
}

// A program that closes a stream after reading a whole tool call cancels nothing.
func TestStreamClosedAfterAToolCallLeavesAllAttempts(t *testing.T) {
	t.Parallel()
	s := scenario.New(t, scenario.TypedStream, scenario.TwoTodos())
	s.Server.Append(scenario.Edit())
	stream, err := scenario.Open(s.Ctx, s.Client, scenario.Request())
	require.NoError(t, err)
	for called := false; !called; {
		chunk, err := stream.Recv()
		require.NoError(t, err)
		called = len(chunk.Choices) > 0 && len(chunk.Choices[0].Delta.ToolCalls) > 0
	}
	require.NoError(t, stream.Close())
	got := s.Ask(scenario.Texts("One:", "Two:", "Three:", "Four:")...)
	assert.Equal(t, 3, got.Outcome.Attempts)
}
