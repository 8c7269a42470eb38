package scenarios_test

import (
	"context"
	"errors"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/scenario"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

func TestAttemptThatLedToAToolCallIsReturned(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos(), scenario.Within(continuation.Limits{MaxAttempts: 1, MaxWithoutProgress: 4}))
		request := scenario.Request()
		for i := range 4 {
			got := s.Call(s.Ctx, request, fakellm.Text(scenario.Plan), fakellm.Call("edit_file", `{"path":"parser`+strconv.Itoa(i)+`.go"}`).ID("call_"+strconv.Itoa(i)))
			scenario.RequireComplete(t, m, got, scenario.Plan, "tool_calls")
			request = scenario.WithEdit(request, "call_"+strconv.Itoa(i))
		}
		assert.Equal(t, []int{1, 1, 1, 1}, attempts(s.Events))

		got := s.Call(s.Ctx, request, fakellm.Text(scenario.Plan))
		assert.Equal(t, reasons.WithoutProgress, got.Outcome.Reason, "the other cap holds")
	})
}

func TestAttemptsAddUpOverTheCallsOfAUserTurn(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos())
		s.Ask(twoAttempts()...) // two attempts
		s.Call(s.Ctx, scenario.WithEdit(scenario.Request(), "call_1"), scenario.Texts("Three:", "Four:")...)
		assert.Equal(t, []int{1, 2, 3}, attempts(s.Events), "a tool result is no new user turn")
	})
}

func TestProgressOfTheListStartsTheCountAnew(t *testing.T) {
	t.Parallel()
	a, b, c := scenario.InProgress("A"), scenario.Pending("B"), scenario.Pending("C")
	reworded := scenario.InProgress("A, but better")
	reworded.ID = a.ID
	cancelled := todo.Todo{ID: "B", Content: "B", Status: todo.Cancelled}
	tests := []struct {
		name    string
		changes [][]todo.Todo // what the list becomes during attempt 2, 3 and so on
		want    []int
	}{
		{"an item is completed", [][]todo.Todo{{scenario.Completed("A"), b, c}}, []int{1, 2, 1, 2, 3}},
		{"an item is cancelled", [][]todo.Todo{{a, cancelled, c}}, []int{1, 2, 1, 2, 3}},
		{"an item is dropped", [][]todo.Todo{{a, b}}, []int{1, 2, 1, 2, 3}},
		{"a completed item is added", [][]todo.Todo{{a, b, c, scenario.Completed("D")}}, []int{1, 2, 1, 2, 3}},
		{"items are reordered", [][]todo.Todo{{c, b, a}}, []int{1, 2, 3}},
		{"an item is reworded", [][]todo.Todo{{reworded, b, c}}, []int{1, 2, 3}},
		{"an item is begun", [][]todo.Todo{{a, scenario.InProgress("B"), c}}, []int{1, 2, 3}},
		{"an item is added", [][]todo.Todo{{a, b, c, scenario.Pending("D")}}, []int{1, 2, 3}},
		{
			"an item is dropped, added and dropped again",
			[][]todo.Todo{{a, b}, {a, b, c}, {a, b}},
			[]int{1, 2, 1, 2, 3},
		},
		{
			"an item is completed, reopened and completed again",
			[][]todo.Todo{{scenario.Completed("A"), b, c}, {a, b, c}, {scenario.Completed("A"), b, c}},
			[]int{1, 2, 1, 2, 3},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
				todos := scenario.NewList(a, b, c)
				s := scenario.New(t, m, todos)
				s.Server.Append(scenario.Texts("Zero.", "One:")...)
				for i := range len(tt.want) - 1 {
					s.Server.Append(doFirst(func() {
						if i < len(tt.changes) {
							todos.Set(tt.changes[i]...)
						}
					}, fakellm.Text("Attempt "+strconv.Itoa(i))))
				}
				got := s.Ask()
				require.NoError(t, got.Err)
				assert.Equal(t, reasons.MaxAttempts, got.Outcome.Reason)
				assert.Equal(t, tt.want, attempts(s.Events))
			})
		})
	}
}

// useTwoAttempts uses two of three attempts of the session: the last one is cut.
func useTwoAttempts(s *scenario.Scenario) { s.Ask(twoAttempts()...) }

func TestOnlyANewUserTurnStartsTheCountAnew(t *testing.T) {
	t.Parallel()
	other := scenario.WithUserMessage(scenario.Request(), "Two!", "Go on.")
	again := scenario.WithUserMessage(scenario.Request(), "Two!", "Write and test the parser.")
	tests := []struct {
		name string
		ctx  func(context.Context) context.Context
		call func(s *scenario.Scenario, ctx context.Context) scenario.Answer
		want int // the number of the next attempt
	}{
		{name: "the same request", want: 3, call: func(s *scenario.Scenario, ctx context.Context) scenario.Answer {
			return s.Call(ctx, scenario.Request(), fakellm.Text(scenario.Plan), scenario.Edit())
		}},
		{name: "a tool result", want: 3, call: func(s *scenario.Scenario, ctx context.Context) scenario.Answer {
			return s.Call(ctx, scenario.WithEdit(scenario.Request(), "call_1"), fakellm.Text(scenario.Plan), scenario.Edit())
		}},
		{name: "another message", want: 1, call: func(s *scenario.Scenario, ctx context.Context) scenario.Answer {
			return s.Call(ctx, other, fakellm.Text(scenario.Plan), scenario.Edit())
		}},
		{name: "the same message once more", want: 1, call: func(s *scenario.Scenario, ctx context.Context) scenario.Answer {
			return s.Call(ctx, again, fakellm.Text(scenario.Plan), scenario.Edit())
		}},
		{
			name: "another message in an automatic call", want: 3, ctx: continuation.Automatic,
			call: func(s *scenario.Scenario, ctx context.Context) scenario.Answer {
				return s.Call(ctx, other, fakellm.Text(scenario.Plan), scenario.Edit())
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
				s := scenario.New(t, m, scenario.TwoTodos())
				useTwoAttempts(s)
				ctx := s.Ctx
				if tt.ctx != nil {
					ctx = tt.ctx(ctx)
				}
				got := tt.call(s, ctx)
				scenario.RequireComplete(t, m, got, scenario.Plan, "tool_calls")
				assert.Equal(t, []int{1, 2, tt.want}, attempts(s.Events))
			})
		})
	}
}

func TestCallerMayNameTheUserTurn(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos())
		one, two := continuation.WithUserTurn(s.Ctx, "1"), continuation.WithUserTurn(s.Ctx, "2")
		s.Call(one, scenario.Request(), twoAttempts()...)
		s.Call(one, scenario.WithUserMessage(scenario.Request(), "", "A summary of what was done."),
			fakellm.Text(scenario.Plan), scenario.Edit())
		s.Call(two, scenario.Request(), fakellm.Text(scenario.Plan), scenario.Edit())
		assert.Equal(t, []int{1, 2, 3, 1}, attempts(s.Events))
	})
}

// twoAttempts are the turns of a call with two continuations, the last of which is cut.
func twoAttempts() []fakellm.Turn {
	return []fakellm.Turn{fakellm.Text("One:"), fakellm.Text("Two:"), fakellm.Text("Three:").Finish("length")}
}

// useAllAttempts uses all attempts of a user turn.
func useAllAttempts(s *scenario.Scenario) {
	s.Ask(scenario.Texts("One:", "Two:", "Three:", "Four:")...)
}

func TestStaleListGetsOneAttemptPerUserTurn(t *testing.T) {
	t.Parallel()
	ends := map[string]func(*scenario.Scenario){
		"after exhaustion": useAllAttempts,
		"after a pause": func(s *scenario.Scenario) {
			s.Ask(fakellm.Text("One:"), fakellm.Pause("The grammar file grammar.ebnf is missing"))
		},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
				todos := scenario.NewList(scenario.InProgress("A"), scenario.Pending("B"))
				s := scenario.New(t, m, todos)
				end(s)
				next := scenario.WithUserMessage(scenario.Request(), "Four:", "What is the time?")
				for range 2 {
					got := s.Call(s.Ctx, next, scenario.Texts("Noon.", "Still noon.")...)
					assert.Equal(t, 1, got.Outcome.Attempts)
					assert.Equal(t, reasons.MaxAttempts, got.Outcome.Reason)
					next = scenario.WithUserMessage(next, "Still noon.", "And now?")
				}

				todos.Set(scenario.InProgress("A"), scenario.Pending("B"), scenario.Pending("C"))
				got := s.Call(s.Ctx, next, scenario.Texts("Ah:", "Be.", "Ce.", "De.")...)
				assert.Equal(t, 3, got.Outcome.Attempts, "the list has changed")
			})
		})
	}
}

func TestResumeMakesAStaleListWorthAllAttempts(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos())
		s.Ask(fakellm.Text("One:"), fakellm.Pause("The grammar file grammar.ebnf is missing"))
		require.NoError(t, s.Middleware.Resume(s.Ctx))
		got := s.Ask(scenario.Texts("Ah:", "Be.", "Ce.")...)
		assert.Equal(t, 2, got.Outcome.Attempts, "the pause itself was one")
		assert.Equal(t, reasons.MaxAttempts, got.Outcome.Reason)
	})
}

func TestWithoutASessionConversationsShareNothing(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos())
		for range 3 { // the same request every time, as from different users
			got := s.Call(t.Context(), scenario.Request(), scenario.Texts("One:", "Two:", "Three:", "Four:")...)
			assert.Equal(t, 3, got.Outcome.Attempts)
			assert.Empty(t, got.Outcome.Session)
		}
	})
}

func TestWithoutASessionAToolLoopSharesItsCounters(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos())
		one, two := scenario.WithEdit(scenario.Request(), "call_1"), scenario.WithEdit(scenario.Request(), "call_2")
		s.Call(t.Context(), one, twoAttempts()...)
		s.Call(t.Context(), scenario.WithEdit(one, "call_3"), scenario.Texts("One:", "Two:")...)
		assert.Equal(t, []int{1, 2, 3}, attempts(s.Events), "the loop goes on")
		s.Call(t.Context(), two, twoAttempts()...)
		assert.Equal(t, []int{1, 2, 3, 1, 2}, attempts(s.Events), "another loop")
	})
}

func TestWithoutASessionALoopThatIsRunAgainIsAnother(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos())
		for range 2 { // the program runs its conversation once more
			s.Call(t.Context(), scenario.WithEdit(scenario.Request(), "call_1"), twoAttempts()...)
		}
		assert.Equal(t, []int{1, 2, 1, 2}, attempts(s.Events))
	})
}

func TestWithoutASessionNothingIsPausedForLater(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos())
		got := s.Call(t.Context(), scenario.WithEdit(scenario.Request(), "call_1"),
			fakellm.Text("One:"), fakellm.Pause("The grammar file grammar.ebnf is missing"))
		assert.Equal(t, reasons.Paused, got.Outcome.Reason)
		got = s.Call(t.Context(), scenario.WithEdit(scenario.Request(), "call_1"), fakellm.Text(scenario.Plan), scenario.Edit())
		assert.Equal(t, 1, got.Outcome.Attempts)
		require.ErrorIs(t, s.Middleware.Pause(t.Context(), "no"), middleware.ErrNoSession)
		require.ErrorIs(t, s.Middleware.Resume(t.Context()), middleware.ErrNoSession)
	})
}

func TestSessionsShareNothing(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos())
		useAllAttempts(s)
		require.NoError(t, s.Middleware.Pause(s.Ctx, "enough"))
		other := continuation.WithSession(t.Context(), "another")
		got := s.Call(other, scenario.Request(), scenario.Texts("One:", "Two:", "Three:", "Four:")...)
		assert.Equal(t, 3, got.Outcome.Attempts)
		assert.Equal(t, "another", got.Outcome.Session)
	})
}

type conversationKey struct{}

func TestSessionKeySaysWhereTheSessionComesFrom(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		var seen []string
		todos := todo.ProviderFunc(func(ctx context.Context) ([]todo.Todo, error) {
			seen = append(seen, continuation.Session(ctx))
			return []todo.Todo{scenario.InProgress("A")}, nil
		})
		s := scenario.New(t, m, todos, middleware.WithSessionKey(func(ctx context.Context) string {
			key, _ := ctx.Value(conversationKey{}).(string)
			return key
		}))
		ctx := context.WithValue(s.Ctx, conversationKey{}, "own")
		got := s.Call(ctx, scenario.Request(), fakellm.Text(scenario.Plan), scenario.Edit())
		assert.Equal(t, "own", got.Outcome.Session)
		assert.Equal(t, []string{"own"}, seen, "the todo source gets the resolved session")

		require.NoError(t, s.Middleware.Pause(ctx, "enough"))
		got = s.Call(ctx, scenario.Request(), fakellm.Text(scenario.Plan))
		assert.Equal(t, reasons.Paused, got.Outcome.Reason)
		got = s.Call(s.Ctx, scenario.Request(), fakellm.Text(scenario.Plan), scenario.Edit())
		assert.Empty(t, got.Outcome.Session, "an empty key is no session, whatever ctx says")
		s.Ctx = ctx
	})
}

func TestSessionKeyThatPanicsIsNoSession(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		events := carryontest.NewRecorder()
		mw := middleware.New(scenario.TwoTodos(), middleware.WithObserver(events.Observer()),
			middleware.WithSessionKey(func(context.Context) string { panic(errors.New("no key")) }))
		server := fakellm.NewServer(t, fakellm.Text(scenario.Plan), scenario.Edit())
		got := m.Call(continuation.WithSession(t.Context(), "s"), m.HTTPClient(server, mw), scenario.Request())
		scenario.RequireComplete(t, m, got, scenario.Plan, "tool_calls")
		assert.Empty(t, got.Outcome.Session)
		assert.Equal(t, []string{"session key"}, failures(events))
	})
}
