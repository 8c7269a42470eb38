package openai_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// within returns limits without an interval.
func within(limits continuation.Limits) middleware.Option {
	limits.MinInterval = continuation.Off
	return middleware.WithLimits(limits)
}

func TestBudgetsEndTheContinuations(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		limits continuation.Limits
		reason continuation.Reason
		want   int // continuations
	}{
		{"three in a row by default", continuation.Limits{}, continuation.ReasonMaxAttempts, 3},
		{"one in a row", continuation.Limits{MaxAttempts: 1}, continuation.ReasonMaxAttempts, 1},
		{"five in a row", continuation.Limits{MaxAttempts: 5}, continuation.ReasonMaxAttempts, 5},
		{
			"ten per user turn by default",
			continuation.Limits{MaxAttempts: continuation.Off},
			continuation.ReasonMaxPerUserTurn, 10,
		},
		{"two per user turn", continuation.Limits{MaxPerUserTurn: 2}, continuation.ReasonMaxPerUserTurn, 2},
		// A continuation of these tests uses 15 tokens.
		{"tokens", continuation.Limits{TokenBudget: 16}, continuation.ReasonTokenBudget, 2},
		{"tokens to the last one", continuation.Limits{TokenBudget: 15}, continuation.ReasonTokenBudget, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			inModes(t, allModes, func(t *testing.T, m mode) {
				s := newScene(t, m, twoTodos, within(tt.limits))
				words := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"}
				got := s.ask(texts(words[:tt.want+1]...)...)

				require.NoError(t, got.Err)
				assert.Equal(t, tt.reason, got.Outcome.Reason)
				assert.Equal(t, tt.want, got.Outcome.Attempts)
				assert.Equal(t, tt.want+1, got.Outcome.Turns)
				assert.Len(t, s.server.Requests(), tt.want+1)
				exhausted := recorded[middleware.Exhausted](s.events)
				require.Len(t, exhausted, 1)
				assert.Equal(t, tt.reason, exhausted[0].Reason)
			})
		})
	}
}

func TestWithoutLimitsOnlyTheModelEndsTheContinuations(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos, within(continuation.Limits{
			MaxAttempts: continuation.Off, MaxPerUserTurn: continuation.Off, TokenBudget: continuation.Off,
		}))
		s.server.Append(texts("a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m")...)
		got := s.ask(edit())
		assert.Equal(t, 13, got.Outcome.Attempts)
		assert.Equal(t, continuation.ReasonToolCalls, got.Outcome.Reason)
	})
}

func TestUsageOfTurnsCountsTowardTheBudgetOnlyOnce(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos, within(continuation.Limits{TokenBudget: 40}))
		got := s.ask(
			carryontest.Text("One.").Usage(5000, 500), // the caller's own
			carryontest.Text("Two.").Usage(20, 1), carryontest.Text("Three.").Usage(20, 1))
		assert.Equal(t, continuation.ReasonTokenBudget, got.Outcome.Reason)
		assert.Equal(t, 2, got.Outcome.Attempts)
		assert.Equal(t, 42, s.state(t).Tokens)
		assert.Equal(t, []middleware.Usage{
			{Prompt: 5000, Completion: 500, Total: 5500},
			{Prompt: 20, Completion: 1, Total: 21},
			{Prompt: 20, Completion: 1, Total: 21},
		}, got.Outcome.Usage)
	})
}

func TestSameTextAgainIsNoProgress(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, first, again string
		same               bool
	}{
		{"the same", "I will write it.", "I will write it.", true},
		{"another case", "I will write it.", "I WILL write it.", true},
		{"other punctuation", "I will write it.", "**I will** write it!\n", true},
		{"other spacing", "I will write it.", "I  will\nwrite  it.", true},
		{"another letter", "I will write it.", "I will write is.", false},
		{"another number", "Step 1 is next.", "Step 2 is next.", false},
		{"a longer text", "I will write it.", "I will write it. Now.", false},
		{"signs alone", "...", "!!!", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			inModes(t, allModes, func(t *testing.T, m mode) {
				s := newScene(t, m, twoTodos, within(continuation.Limits{MaxAttempts: 2}))
				s.server.Append(carryontest.Text(tt.first), carryontest.Text(tt.again))
				want, reason, turns := tt.first+"\n\n"+tt.again, continuation.ReasonNoProgress, 2
				if !tt.same {
					s.server.Append(carryontest.Text("End."))
					want, reason, turns = want+"\n\nEnd.", continuation.ReasonMaxAttempts, 3
				}
				got := s.ask()

				requireComplete(t, m, got, want, "stop")
				assert.Equal(t, reason, got.Outcome.Reason)
				assert.Equal(t, turns, got.Outcome.Turns)
			})
		})
	}
}

func TestSameTextIsComparedWithTheTurnBeforeOnly(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		got := s.ask(texts("One.", "Two.", "One.", "Two.")...)
		assert.Equal(t, continuation.ReasonMaxAttempts, got.Outcome.Reason)
		assert.Equal(t, 3, got.Outcome.Attempts)
	})
}

func TestGateIsAskedLastAndCanVeto(t *testing.T) {
	t.Parallel()
	veto := errors.New("plan mode")
	inModes(t, allModes, func(t *testing.T, m mode) {
		var asked []middleware.Turn
		s := newScene(t, m, twoTodos, middleware.WithGate(func(_ context.Context, turn middleware.Turn) error {
			asked = append(asked, turn)
			if len(asked) == 2 {
				return veto
			}
			return nil
		}))
		got := s.ask(texts("One.", "Two.")...)

		requireComplete(t, m, got, "One.\n\nTwo.", "stop")
		assert.Equal(t, continuation.ReasonGate, got.Outcome.Reason)
		assert.Equal(t, veto, got.Outcome.Err)
		first := todo.Todo{ID: "1", Content: "Write the parser", Status: todo.InProgress}
		assert.Equal(t, []middleware.Turn{
			{Place: middleware.Place{Session: "s", Turn: 2, Attempt: 1}, Todo: first, Text: "One."},
			{Place: middleware.Place{Session: "s", Turn: 3, Attempt: 2}, Todo: first, Text: "One.\n\nTwo."},
		}, asked)
		assert.Empty(t, failures(s.events), "a veto is no failure")
		assert.Equal(t, 1, s.state(t).Attempts, "a veto costs no attempt")
	})
}

func TestGateIsNotAskedWithoutAContinuation(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, todo.Static(), middleware.WithGate(func(context.Context, middleware.Turn) error {
			t.Error("asked")
			return nil
		}))
		s.ask(carryontest.Text(plan))
		s.ask(edit())
	})
}

func TestGateThatPanicsIsAVetoAndReported(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos, middleware.WithGate(func(context.Context, middleware.Turn) error { panic("no gate") }))
		got := s.ask(carryontest.Text(plan))

		requireSame(t, bareAnswer(t, m, ask(), carryontest.Text(plan)), got)
		assert.Equal(t, continuation.ReasonGate, got.Outcome.Reason)
		var panicked *middleware.PanicError
		require.ErrorAs(t, got.Outcome.Err, &panicked)
		assert.Equal(t, "no gate", panicked.Value)
		assert.Equal(t, []string{"gate"}, failures(s.events))
	})
}

// The gate holds no lock, so it may use the middleware.
func TestGateMayPauseTheSession(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		var s *scene
		s = newScene(t, m, twoTodos, middleware.WithGate(func(ctx context.Context, _ middleware.Turn) error {
			return s.mw.Pause(ctx, "the user wants to look first")
		}))
		got := s.ask(carryontest.Text(plan))
		assert.Equal(t, continuation.ReasonPaused, got.Outcome.Reason)
		assert.Len(t, s.server.Requests(), 1)
	})
}

// unavailable is a store that fails from a certain update on.
type unavailable struct {
	store continuation.Store
	after int
	seen  int
}

func (u *unavailable) Update(
	ctx context.Context, key string, f func(continuation.State) continuation.State,
) error {
	if u.seen++; u.seen > u.after {
		return errors.New("store is gone")
	}
	return u.store.Update(ctx, key, f)
}

func TestStoreThatFailsMeansNoContinuation(t *testing.T) {
	t.Parallel()
	for after := range 4 {
		inModes(t, allModes, func(t *testing.T, m mode) {
			server := carryontest.NewServer(t, carryontest.Text(plan))
			events := new(recorder)
			mw := middleware.New(twoTodos, middleware.WithObserver(events.observer()), middleware.WithStore(
				&unavailable{store: continuation.NewMemoryStore(continuation.MemoryOptions{}), after: after}))
			got := m.call(continuation.WithSession(t.Context(), "s"), m.clientOn(server, mw), ask())

			requireSame(t, bareAnswer(t, m, ask(), carryontest.Text(plan)), got)
			assert.Equal(t, continuation.ReasonStore, got.Outcome.Reason)
			assert.Contains(t, failures(events), "store")
			assert.Len(t, server.Requests(), 1)
		})
	}
}

// Unary, because a stream also has a timer over the rest of an answer, which a test can't tell from the wait.
func TestWaitOnAFakeClockIsAsLongAsTheRestOfTheInterval(t *testing.T) {
	t.Parallel()
	inModes(t, unaryModes, func(t *testing.T, m mode) {
		clock := carryontest.NewClock()
		s := newScene(t, m, twoTodos, middleware.WithClock(clock),
			middleware.WithLimits(continuation.Limits{MinInterval: time.Minute, FirstByteTimeout: continuation.Off}))
		s.ask(carryontest.Text(plan), edit())
		clock.Advance(20 * time.Second)
		s.server.Append(carryontest.Text(plan), edit())
		call := meanwhile(func() answer { return s.m.call(s.ctx, s.client, withHistory(ask(), "call_2_1")) })
		require.NoError(t, clock.BlockUntil(t.Context(), 1))
		clock.Advance(40*time.Second - 1)
		assert.Equal(t, 1, clock.Waiters(), "it still waits")
		assert.Len(t, s.server.Requests(), 3)
		clock.Advance(1)
		requireComplete(t, s.m, <-call, plan, "tool_calls")
		assert.Len(t, s.server.Requests(), 4)
	})
}
