package openai_test

import (
	"context"
	"errors"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

func TestAttemptThatLedToAToolCallIsGivenBack(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos, within(continuation.Limits{MaxAttempts: 1, MaxPerUserTurn: 4}))
		request := ask()
		for i := range 4 {
			got := s.call(s.ctx, request, carryontest.Text(plan), edit().ID("call_"+strconv.Itoa(i)))
			requireComplete(t, m, got, plan, "tool_calls")
			request = withHistory(request, "call_"+strconv.Itoa(i))
		}
		assert.Equal(t, []int{1, 1, 1, 1}, attempts(s.events))

		got := s.call(s.ctx, request, carryontest.Text(plan))
		assert.Equal(t, continuation.ReasonMaxPerUserTurn, got.Outcome.Reason, "the other cap holds")
	})
}

func TestAttemptsAddUpOverTheCallsOfAUserTurn(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		s.ask(texts("One.", "Two.", "Two.")...) // two attempts
		s.call(s.ctx, withHistory(ask(), "call_1"), texts("Three.", "Four.")...)
		assert.Equal(t, []int{1, 2, 3}, attempts(s.events), "a tool result is no new user turn")
	})
}

func TestProgressOfTheListStartsTheCountAnew(t *testing.T) {
	t.Parallel()
	a, b, c := inProgress("A"), pending("B"), pending("C")
	reworded := inProgress("A, but better")
	reworded.ID = a.ID
	cancelled := todo.Todo{ID: "B", Content: "B", Status: todo.Cancelled}
	tests := []struct {
		name    string
		changes [][]todo.Todo // what the list becomes during attempt 2, 3 and so on
		want    []int
	}{
		{"an item is completed", [][]todo.Todo{{completed("A"), b, c}}, []int{1, 2, 1, 2, 3}},
		{"an item is cancelled", [][]todo.Todo{{a, cancelled, c}}, []int{1, 2, 1, 2, 3}},
		{"an item is dropped", [][]todo.Todo{{a, b}}, []int{1, 2, 1, 2, 3}},
		{"a completed item is added", [][]todo.Todo{{a, b, c, completed("D")}}, []int{1, 2, 1, 2, 3}},
		{"items are reordered", [][]todo.Todo{{c, b, a}}, []int{1, 2, 3}},
		{"an item is reworded", [][]todo.Todo{{reworded, b, c}}, []int{1, 2, 3}},
		{"an item is begun", [][]todo.Todo{{a, inProgress("B"), c}}, []int{1, 2, 3}},
		{"an item is added", [][]todo.Todo{{a, b, c, pending("D")}}, []int{1, 2, 3}},
		{
			"an item is dropped, added and dropped again",
			[][]todo.Todo{{a, b}, {a, b, c}, {a, b}},
			[]int{1, 2, 1, 2, 3},
		},
		{
			"an item is completed, reopened and completed again",
			[][]todo.Todo{{completed("A"), b, c}, {a, b, c}, {completed("A"), b, c}},
			[]int{1, 2, 1, 2, 3},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			inModes(t, allModes, func(t *testing.T, m mode) {
				todos := newList(a, b, c)
				s := newScene(t, m, todos)
				s.server.Append(texts("Zero.", "One.")...)
				for i := range len(tt.want) - 1 {
					s.server.Append(then(func() {
						if i < len(tt.changes) {
							todos.set(tt.changes[i]...)
						}
					}, carryontest.Text("Attempt "+strconv.Itoa(i))))
				}
				got := s.ask()
				require.NoError(t, got.Err)
				assert.Equal(t, continuation.ReasonMaxAttempts, got.Outcome.Reason)
				assert.Equal(t, tt.want, attempts(s.events))
			})
		})
	}
}

// spend uses two of three attempts of the session: the model repeats itself.
func (s *scene) spend() { s.ask(texts("One.", "Two.", "Two!")...) }

func TestOnlyANewUserTurnStartsTheCountAnew(t *testing.T) {
	t.Parallel()
	other := said(ask(), "Two!", "Go on.")
	again := said(ask(), "Two!", "Write and test the parser.")
	tests := []struct {
		name string
		ctx  func(context.Context) context.Context
		call func(s *scene, ctx context.Context) answer
		want int // the number of the next attempt
	}{
		{name: "the same request", want: 3, call: func(s *scene, ctx context.Context) answer {
			return s.call(ctx, ask(), carryontest.Text(plan), edit())
		}},
		{name: "a tool result", want: 3, call: func(s *scene, ctx context.Context) answer {
			return s.call(ctx, withHistory(ask(), "call_1"), carryontest.Text(plan), edit())
		}},
		{name: "another message", want: 1, call: func(s *scene, ctx context.Context) answer {
			return s.call(ctx, other, carryontest.Text(plan), edit())
		}},
		{name: "the same message once more", want: 1, call: func(s *scene, ctx context.Context) answer {
			return s.call(ctx, again, carryontest.Text(plan), edit())
		}},
		{
			name: "another message in an automatic call", want: 3, ctx: continuation.Automatic,
			call: func(s *scene, ctx context.Context) answer {
				return s.call(ctx, other, carryontest.Text(plan), edit())
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			inModes(t, allModes, func(t *testing.T, m mode) {
				s := newScene(t, m, twoTodos)
				s.spend()
				ctx := s.ctx
				if tt.ctx != nil {
					ctx = tt.ctx(ctx)
				}
				got := tt.call(s, ctx)
				requireComplete(t, m, got, plan, "tool_calls")
				assert.Equal(t, []int{1, 2, tt.want}, attempts(s.events))
			})
		})
	}
}

func TestCallerMayNameTheUserTurn(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		one, two := continuation.WithUserTurn(s.ctx, "1"), continuation.WithUserTurn(s.ctx, "2")
		s.call(one, ask(), texts("One.", "Two.", "Two!")...)
		s.call(one, said(ask(), "", "A summary of what was done."), carryontest.Text(plan), edit())
		s.call(two, ask(), carryontest.Text(plan), edit())
		assert.Equal(t, []int{1, 2, 3, 1}, attempts(s.events))
	})
}

// exhaust uses up all attempts of a user turn.
func (s *scene) exhaust() { s.ask(texts("One.", "Two.", "Three.", "Four.")...) }

func TestStaleListGetsOneAttemptPerUserTurn(t *testing.T) {
	t.Parallel()
	ends := map[string]func(*scene){
		"after exhaustion": (*scene).exhaust,
		"after a pause": func(s *scene) {
			s.ask(carryontest.Text("One."), carryontest.Pause("The grammar file grammar.ebnf is missing"))
		},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inModes(t, allModes, func(t *testing.T, m mode) {
				todos := newList(inProgress("A"), pending("B"))
				s := newScene(t, m, todos)
				end(s)
				next := said(ask(), "Four.", "What is the time?")
				for range 2 {
					got := s.call(s.ctx, next, texts("Noon.", "Still noon.")...)
					assert.Equal(t, 1, got.Outcome.Attempts)
					assert.Equal(t, continuation.ReasonMaxAttempts, got.Outcome.Reason)
					next = said(next, "Still noon.", "And now?")
				}

				todos.set(inProgress("A"), pending("B"), pending("C"))
				got := s.call(s.ctx, next, texts("Ah.", "Be.", "Ce.", "De.")...)
				assert.Equal(t, 3, got.Outcome.Attempts, "the list has changed")
			})
		})
	}
}

func TestResumeMakesAStaleListWorthAllAttempts(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		s.ask(carryontest.Text("One."), carryontest.Pause("The grammar file grammar.ebnf is missing"))
		require.NoError(t, s.mw.Resume(s.ctx))
		got := s.ask(texts("Ah.", "Be.", "Ce.")...)
		assert.Equal(t, 2, got.Outcome.Attempts, "the pause itself was one")
		assert.Equal(t, continuation.ReasonMaxAttempts, got.Outcome.Reason)
	})
}

func TestWithoutASessionConversationsShareNothing(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		for range 3 { // the same request every time, as from different users
			got := s.call(t.Context(), ask(), texts("One.", "Two.", "Three.", "Four.")...)
			assert.Equal(t, 3, got.Outcome.Attempts)
			assert.Empty(t, got.Outcome.Session)
		}
	})
}

func TestWithoutASessionAToolLoopSharesItsCounters(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		one, two := withHistory(ask(), "call_1"), withHistory(ask(), "call_2")
		s.call(t.Context(), one, texts("One.", "Two.", "Two!")...)
		s.call(t.Context(), withHistory(one, "call_3"), texts("One.", "Two.")...)
		assert.Equal(t, []int{1, 2, 3}, attempts(s.events), "the loop goes on")
		s.call(t.Context(), two, texts("One.", "Two.", "Two!")...)
		assert.Equal(t, []int{1, 2, 3, 1, 2}, attempts(s.events), "another loop")
	})
}

func TestWithoutASessionNothingIsPausedForLater(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		got := s.call(t.Context(), withHistory(ask(), "call_1"),
			carryontest.Text("One."), carryontest.Pause("The grammar file grammar.ebnf is missing"))
		assert.Equal(t, continuation.ReasonPaused, got.Outcome.Reason)
		got = s.call(t.Context(), withHistory(ask(), "call_1"), carryontest.Text(plan), edit())
		assert.Equal(t, 1, got.Outcome.Attempts)
		require.ErrorIs(t, s.mw.Pause(t.Context(), "no"), middleware.ErrNoSession)
		require.ErrorIs(t, s.mw.Resume(t.Context()), middleware.ErrNoSession)
	})
}

func TestSessionsShareNothing(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		s.exhaust()
		require.NoError(t, s.mw.Pause(s.ctx, "enough"))
		other := continuation.WithSession(t.Context(), "another")
		got := s.call(other, ask(), texts("One.", "Two.", "Three.", "Four.")...)
		assert.Equal(t, 3, got.Outcome.Attempts)
		assert.Equal(t, "another", got.Outcome.Session)
	})
}

type conversationKey struct{}

func TestSessionKeySaysWhereTheSessionComesFrom(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		var seen []string
		todos := todo.ProviderFunc(func(ctx context.Context) ([]todo.Todo, error) {
			seen = append(seen, continuation.Session(ctx))
			return []todo.Todo{inProgress("A")}, nil
		})
		s := newScene(t, m, todos, middleware.WithSessionKey(func(ctx context.Context) string {
			key, _ := ctx.Value(conversationKey{}).(string)
			return key
		}))
		ctx := context.WithValue(s.ctx, conversationKey{}, "own")
		got := s.call(ctx, ask(), carryontest.Text(plan), edit())
		assert.Equal(t, "own", got.Outcome.Session)
		assert.Equal(t, []string{"own"}, seen, "the todo source is told the resolved session")

		require.NoError(t, s.mw.Pause(ctx, "enough"))
		got = s.call(ctx, ask(), carryontest.Text(plan))
		assert.Equal(t, continuation.ReasonPaused, got.Outcome.Reason)
		got = s.call(s.ctx, ask(), carryontest.Text(plan), edit())
		assert.Empty(t, got.Outcome.Session, "an empty key is no session, whatever ctx says")
		s.ctx = ctx
	})
}

func TestSessionKeyThatPanicsIsNoSession(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		events := new(recorder)
		mw := middleware.New(twoTodos, middleware.WithObserver(events.observer()),
			middleware.WithSessionKey(func(context.Context) string { panic(errors.New("no key")) }))
		server := carryontest.NewServer(t, carryontest.Text(plan), edit())
		got := m.call(t.Context(), m.clientOn(server, mw), ask())
		requireComplete(t, m, got, plan, "tool_calls")
		assert.Empty(t, got.Outcome.Session)
		assert.Contains(t, failures(events), "session key")
	})
}
