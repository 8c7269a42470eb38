package scenarios_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/scenario"
	"github.com/carryon-go/carryon/internal/testkit/testclock"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/records"
	"github.com/carryon-go/carryon/todo"
)

func TestBudgetsEndTheContinuations(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		limits continuation.Limits
		reason continuation.Reason
		want   int // continuations
	}{
		{"four in a row by default", continuation.Limits{}, reasons.MaxAttempts, 4},
		{"one in a row", continuation.Limits{MaxAttempts: 1}, reasons.MaxAttempts, 1},
		{"five in a row", continuation.Limits{MaxAttempts: 5}, reasons.MaxAttempts, 5},
		{
			"ten without progress by default",
			continuation.Limits{MaxAttempts: continuation.Off},
			reasons.WithoutProgress, 10,
		},
		{"two without progress", continuation.Limits{MaxWithoutProgress: 2}, reasons.WithoutProgress, 2},
		// A continuation of these tests uses 15 tokens.
		{"tokens", continuation.Limits{TokenBudget: 16}, reasons.TokenBudget, 2},
		{"tokens to the last one", continuation.Limits{TokenBudget: 15}, reasons.TokenBudget, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
				s := scenario.New(t, m, scenario.TwoTodos(), scenario.Within(tt.limits))
				words := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"}
				got := s.Ask(scenario.Texts(words[:tt.want+1]...)...)

				require.NoError(t, got.Err)
				assert.Equal(t, tt.reason, got.Outcome.Reason)
				assert.Equal(t, tt.want, got.Outcome.Attempts)
				assert.Equal(t, tt.want+1, got.Outcome.Turns)
				assert.Len(t, s.Server.Requests(), tt.want+1)
				exhausted := exhaustions(s.Events)
				require.Len(t, exhausted, 1)
				assert.Equal(t, tt.reason, exhausted[0].Reason)
			})
		})
	}
}

func TestWithoutLimitsOnlyTheModelEndsTheContinuations(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos(), scenario.Within(continuation.Limits{
			MaxAttempts: continuation.Off, MaxWithoutProgress: continuation.Off, TokenBudget: continuation.Off,
		}))
		s.Server.Append(scenario.Texts("a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m")...)
		got := s.Ask(scenario.Edit())
		assert.Equal(t, 13, got.Outcome.Attempts)
		assert.Equal(t, reasons.ToolCalls, got.Outcome.Reason)
	})
}

func TestUsageOfTurnsCountsTowardTheBudgetOnlyOnce(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos(), scenario.Within(continuation.Limits{TokenBudget: 40}))
		got := s.Ask(
			fakellm.Text("One:").Usage(5000, 500), // the caller's own turn
			fakellm.Text("Two:").Usage(20, 1), fakellm.Text("Three:").Usage(20, 1))
		assert.Equal(t, reasons.TokenBudget, got.Outcome.Reason)
		assert.Equal(t, 2, got.Outcome.Attempts)
		assert.Equal(t, 42, s.State(t).Tokens)
		assert.Equal(t, []adapter.Usage{
			{Prompt: 5000, Completion: 500, Total: 5500},
			{Prompt: 20, Completion: 1, Total: 21},
			{Prompt: 20, Completion: 1, Total: 21},
		}, got.Outcome.Usage)
	})
}

// A long conversation uses up a token budget with the first continuation, even where the provider reports no usage.
func TestTokenBudgetCountsAConversationThatNobodyCounts(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		for size, sent := range map[int]int{100: 3, 300_000: 2} {
			s := scenario.New(t, m, scenario.TwoTodos(), scenario.Within(continuation.Limits{TokenBudget: 90_000}))
			request := scenario.Request()
			request.Messages[0].Content = strings.Repeat("word ", size/5)
			turns := []fakellm.Turn{fakellm.Text("One:").NoUsage(), fakellm.Text("Two:").NoUsage(), scenario.Edit()}
			got := s.Call(s.Ctx, request, turns[:sent]...)
			require.NoError(t, got.Err)
			assert.Len(t, s.Server.Requests(), sent)
			assert.Equal(t, sent == 2, got.Outcome.Reason == reasons.TokenBudget, got.Outcome.String())
		}
	})
}

func TestSameTextAgainIsAnAttemptLikeAnyOther(t *testing.T) {
	t.Parallel()
	const same, other = "Previous attempt: same answer as before", "Previous attempt: no tool was called and no todo changed"
	tests := []struct {
		name, first, again, told string
		shown                    string // of again
	}{
		{"the same", "I will write it.", "I will write it.", same, ""},
		{"another case", "I will write it.", "I WILL write it.", same, ""},
		{"other punctuation", "I will write it.", "**I will** write it!", same, ""},
		{"other spacing", "I will write it.", "I  will\nwrite  it.", same, ""},
		{"another letter", "I will write it.", "I will write is.", other, "\n\nI will write is."},
		{"another number", "Step 1 is next:", "Step 2 is next:", other, "\n\nStep 2 is next:"},
		{"a longer text", "I will write it.", "I will write it. Now.", other, "\n\nI will write it. Now."},
		{"signs alone", "...", "!!!", other, "\n\n!!!"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
				s := scenario.New(t, m, scenario.TwoTodos(), scenario.Within(continuation.Limits{MaxAttempts: 2}))
				got := s.Ask(fakellm.Text(tt.first), fakellm.Text(tt.again), fakellm.Text("End."))

				scenario.RequireComplete(t, m, got, tt.first+tt.shown+"\n\nEnd.", "stop")
				assert.Equal(t, reasons.MaxAttempts, got.Outcome.Reason)
				assert.Contains(t, s.Prompts()[1], "ATTEMPT #2")
				assert.Contains(t, s.Prompts()[1], tt.told)
			})
		})
	}
}

// A model that repeats its answer is told so once. If it repeats it again, no further attempt is made.
func TestModelThatSaysTheSameOverAndOverGetsOneMoreTry(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos())
		got := s.Ask(scenario.Texts("One:", "One:", "One:", "One:")...)
		assert.Equal(t, reasons.MaxAttempts, got.Outcome.Reason)
		assert.Equal(t, 2, got.Outcome.Attempts)
		assert.Contains(t, got.Outcome.String(), "the model gave the same answer again after it had been told so")
	})
}

func TestGateIsAskedLastAndCanVeto(t *testing.T) {
	t.Parallel()
	veto := errors.New("plan mode")
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		var asked []middleware.NextTurn
		s := scenario.New(t, m, scenario.TwoTodos(), middleware.WithGate(func(_ context.Context, turn middleware.NextTurn) error {
			asked = append(asked, turn)
			if len(asked) == 2 {
				return veto
			}
			return nil
		}))
		got := s.Ask(scenario.Texts("One:", "Two:")...)

		scenario.RequireComplete(t, m, got, "One:\n\nTwo:", "stop")
		assert.Equal(t, reasons.Gate, got.Outcome.Reason)
		assert.Equal(t, veto, got.Outcome.Err)
		first := todo.Todo{ID: "1", Content: "Write the parser", Status: todo.InProgress}
		assert.Equal(t, []middleware.NextTurn{
			{TurnID: continuation.TurnID{Session: "s", Call: 1, Turn: 2, Attempt: 1}, Todo: first, Text: "One:"},
			{TurnID: continuation.TurnID{Session: "s", Call: 1, Turn: 3, Attempt: 2}, Todo: first, Text: "One:\n\nTwo:"},
		}, asked)
		assert.Empty(t, failures(s.Events), "a veto is no failure")
		assert.Equal(t, 1, s.State(t).Attempts, "a veto costs no attempt")
	})
}

func TestGateIsNotAskedWithoutAContinuation(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, todo.Static(), middleware.WithGate(func(context.Context, middleware.NextTurn) error {
			t.Error("asked")
			return nil
		}))
		s.Ask(fakellm.Text(scenario.Plan))
		s.Ask(scenario.Edit())
	})
}

func TestGateThatPanicsIsAVetoAndReported(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos(), middleware.WithGate(func(context.Context, middleware.NextTurn) error { panic("no gate") }))
		got := s.Ask(fakellm.Text(scenario.Plan))

		scenario.RequireSame(t, scenario.SDKAnswer(t, m, scenario.Request(), fakellm.Text(scenario.Plan)), got)
		assert.Equal(t, reasons.Gate, got.Outcome.Reason)
		var panicked *middleware.PanicError
		require.ErrorAs(t, got.Outcome.Err, &panicked)
		assert.Equal(t, "no gate", panicked.Value)
		require.NoError(t, panicked.Unwrap(), "the value is not an error")
		assert.Equal(t, []string{"gate"}, failures(s.Events))
	})
}

// The gate holds no lock, so it may use the middleware.
func TestGateMayPauseTheSession(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		var s *scenario.Scenario
		s = scenario.New(t, m, scenario.TwoTodos(), middleware.WithGate(func(ctx context.Context, _ middleware.NextTurn) error {
			return s.Middleware.Pause(ctx, "the user wants to look first")
		}))
		got := s.Ask(fakellm.Text(scenario.Plan))
		assert.Equal(t, reasons.Paused, got.Outcome.Reason)
		assert.Len(t, s.Server.Requests(), 1)
	})
}

// unavailable is a store that fails after some updates.
type unavailable struct {
	store records.Records
	after int
	seen  int
}

func (u *unavailable) Update(ctx context.Context, key string, f records.UpdateFunc) error {
	u.seen++
	if u.seen > u.after {
		return errors.New("store is gone")
	}
	return u.store.Update(ctx, key, f)
}

func TestStoreThatFailsMeansNoContinuation(t *testing.T) {
	t.Parallel()
	for after := range 2 {
		scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
			server := fakellm.NewServer(t, fakellm.Text(scenario.Plan))
			events := carryontest.NewRecorder()
			mw := middleware.New(scenario.TwoTodos(), middleware.WithObserver(events.Observer()), middleware.WithRecords(
				&unavailable{store: records.NewMemoryEngine(), after: after}))
			got := m.Call(continuation.WithSession(t.Context(), "s"), m.HTTPClient(server, mw), scenario.Request())

			scenario.RequireSame(t, scenario.SDKAnswer(t, m, scenario.Request(), fakellm.Text(scenario.Plan)), got)
			assert.Equal(t, reasons.Store, got.Outcome.Reason)
			assert.Contains(t, failures(events), "store")
			assert.Len(t, server.Requests(), 1)
		})
	}
}

// Unary only: a stream has a second timer, for the end of its body, which looks like the wait on a fake clock.
func TestWaitOnAFakeClockIsAsLongAsTheRestOfTheInterval(t *testing.T) {
	t.Parallel()
	clock := testclock.New()
	s := scenario.New(t, scenario.TypedUnary, scenario.TwoTodos(), testclock.Option[middleware.Option](clock),
		middleware.WithLimits(continuation.Limits{MinInterval: time.Minute, FirstByteTimeout: continuation.Off}))
	s.Ask(fakellm.Text(scenario.Plan), scenario.Edit())
	clock.Advance(20 * time.Second)
	s.Server.Append(fakellm.Text(scenario.Plan), scenario.Edit())
	call := inBackground(func() scenario.Answer {
		return s.Mode.Call(s.Ctx, s.Client, scenario.WithEdit(scenario.Request(), "call_2_1"))
	})
	require.NoError(t, clock.BlockUntil(t.Context(), 1))
	clock.Advance(40*time.Second - 1)
	assert.Equal(t, 1, clock.Waiters(), "it still waits")
	assert.Len(t, s.Server.Requests(), 3)
	clock.Advance(1)
	scenario.RequireComplete(t, s.Mode, <-call, scenario.Plan, "tool_calls")
	assert.Len(t, s.Server.Requests(), 4)
}

// A tool call gives its attempt back, unless an earlier continuation of the user turn was
// answered by the same calls: polling uses attempts up.
func TestTheSameCallsAgainUseAttempts(t *testing.T) {
	t.Parallel()
	poll := func() fakellm.Turn { return fakellm.Call("look", `{"at":"build"}`) }
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos(), scenario.AtMost(2))
		request := scenario.Request()
		for i, used := range []int{0, 1, 2} {
			got := s.Call(s.Ctx, request, fakellm.Text(scenario.Plan), poll())
			scenario.RequireComplete(t, m, got, scenario.Plan, "tool_calls")
			assert.Equal(t, used, s.State(t).Attempts, "continuation %d", i+1)
			request = scenario.WithEdit(request, "call_"+strconv.Itoa(i))
		}
		got := s.Call(s.Ctx, request, fakellm.Text(scenario.Plan))
		assert.Equal(t, reasons.MaxAttempts, got.Outcome.Reason)

		got = s.Call(s.Ctx, scenario.WithUserMessage(request, scenario.Plan, "Go on."), fakellm.Text(scenario.Plan), poll())
		scenario.RequireComplete(t, m, got, scenario.Plan, "tool_calls")
		assert.Zero(t, s.State(t).Attempts, "in a new user turn it is a new call")
	})
}
