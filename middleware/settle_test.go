package middleware_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/adapter/join"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/records"
)

// The decision takes into account what happens to the session while the model answers, and is taken once.
func TestSessionThatChangesDuringTheTurn(t *testing.T) {
	t.Parallel()
	pause := func(ctx context.Context, t *testing.T, s *setup) {
		t.Helper()
		require.NoError(t, s.mw.Pause(ctx, blocked))
	}
	resume := func(ctx context.Context, t *testing.T, s *setup) {
		t.Helper()
		require.NoError(t, s.mw.Resume(ctx))
	}
	turnOff := func(ctx context.Context, t *testing.T, s *setup) {
		t.Helper()
		require.NoError(t, s.mw.Settings().SetTodoContinuation(ctx, "s", false))
	}
	for name, c := range map[string]struct {
		before, meanwhile func(ctx context.Context, t *testing.T, s *setup)
		reason            continuation.Reason
	}{
		"paused":  {nil, pause, reasons.Paused},
		"off":     {nil, turnOff, reasons.Disabled},
		"resumed": {pause, resume, reasons.Satisfied},
	} {
		for kind, play := range map[string]func(*testing.T, *join.Call) (text string){
			"stream": playStream, "unary": playUnary,
		} {
			t.Run(name+" "+kind, func(t *testing.T) {
				t.Parallel()
				s := newSetup(nil, middleware.WithRecords(records.NewMemoryEngine()))
				ctx := inSession(t, "s")
				if c.before != nil {
					c.before(ctx, t, s)
				}
				call := begin(ctx, s.mw, describe(fixTheBuild))
				c.meanwhile(ctx, t, s)
				text := play(t, call)

				decisions := carryontest.Recorded[middleware.Decision](s.events)
				assert.Equal(t, c.reason, decisions[0].Reason)
				if c.reason == reasons.Satisfied {
					assert.Equal(t, "One:\n\nTwo:", text)
					assert.Len(t, decisions, 2)
				} else {
					assert.Equal(t, "One:", text)
					assert.Len(t, decisions, 1)
				}
				requireReleased(ctx, t, s.mw)
			})
		}
	}
}

// playStream streams a turn that stops, and a continuation that calls a tool.
func playStream(t *testing.T, call *join.Call) string {
	t.Helper()
	return drain(t, join.NewStream(call, newChunks(), said(),
		func(context.Context, *adapter.Continuation) (adapter.Source[sdkChunk], error) {
			return &list{chunks: []sdkChunk{{ID: "a", Text: "Two:"}, {ID: "a", Calls: []sdkCall{edit("c")}}, {ID: "a", Stop: "tools"}}}, nil
		})).answer.Text
}

// playUnary is playStream for an answer in one piece.
func playUnary(t *testing.T, call *join.Call) string {
	t.Helper()
	answer, err := join.Unary(call, &answers{usageTotals: newUsageTotals()},
		func(_ context.Context, k *adapter.Continuation) (sdkAnswer, error) {
			if k == nil {
				return says("One:"), nil
			}
			return calls(edit("c")).saying("Two:"), nil
		})
	require.NoError(t, err)
	return answer.Text
}

// A continuation that ends in text frees its session when the next decision is taken,
// or when the call has ended.
func TestDrainDoesNotWaitForACallThatHasEnded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, ctx := range []context.Context{t.Context(), inSession(t, "s")} {
			s := newSetup([]sdkAnswer{says("One:"), says("Two:").stoppedBy("length")})
			_, outcome, err := s.answer(ctx)
			require.NoError(t, err)
			assert.Equal(t, reasons.NotEnded, outcome.Reason, "that decision makes no update")
			assert.Equal(t, 1, outcome.Attempts)
			require.NoError(t, s.mw.Drain(t.Context()))
		}
	})
}
