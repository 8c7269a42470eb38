package middleware_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// Whether an agent waits for work of its own is looked up only where it matters, and once.
func TestHistoryIsReadOnlyIfTheTurnMayBeContinued(t *testing.T) {
	t.Parallel()
	launch := todo.Call{ID: "a", Name: "Agent", Result: "Async agent launched successfully.\nagentId: a1", Answered: true}
	report := "<task-notification><task-id>a1</task-id><status>completed</status></task-notification>"
	done := todo.ProviderFunc(func(context.Context) ([]todo.Todo, error) {
		return []todo.Todo{{Content: "Build", Status: todo.Completed}}, nil
	})
	for name, c := range map[string]struct {
		todos   todo.Provider
		turns   []sdkAnswer
		history []adapter.Entry // newest first
		reads   int
		reason  continuation.Reason
	}{
		"a tool call":           {buildTodos, []sdkAnswer{calls(edit("1"))}, []adapter.Entry{{Call: launch}}, 0, continuation.ReasonToolCalls},
		"nothing left to do":    {done, []sdkAnswer{says("Done.")}, []adapter.Entry{{Call: launch}}, 0, continuation.ReasonNoActiveTodos},
		"an agent is at work":   {buildTodos, []sdkAnswer{says("I wait.")}, []adapter.Entry{{Call: launch}}, 1, continuation.ReasonBackground},
		"it has reported":       {buildTodos, []sdkAnswer{says("Next."), calls(edit("1"))}, []adapter.Entry{{Automatic: report}, {Call: launch}}, 1, continuation.ReasonToolCalls},
		"several continuations": {buildTodos, []sdkAnswer{says("a:"), says("b:"), says("c:"), calls(edit("1"))}, nil, 1, continuation.ReasonToolCalls},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model, reads := &sdkClient{turns: c.turns}, 0
			request := describe(fixTheBuild)
			request.History = func(yield func(adapter.Entry) bool) {
				reads++
				for _, e := range c.history {
					if !yield(e) {
						return
					}
				}
			}
			ctx, outcomes := middleware.Capture(t.Context())
			call := begin(ctx, middleware.New(c.todos, unhurried), request)
			_, err := middleware.Unary(call, &answers{usageTotals: newUsageTotals()}, func(ctx context.Context, k *adapter.Continuation) (sdkAnswer, error) {
				return model.Complete(ctx, extend(call, fixTheBuild, k))
			})
			require.NoError(t, err)
			assert.Equal(t, c.reads, reads)
			assert.Equal(t, c.reason, outcomes.Last().Reason)
			assert.Len(t, model.requests, len(c.turns))
		})
	}
}

// A member of a team goes on only with what is its own.
func TestTodosOfOtherAgentsAreNoReasonToGoOn(t *testing.T) {
	t.Parallel()
	message := `<teammate-message teammate_id="team-lead">You are ada, a member of the team "builders". Take a task.</teammate-message>`
	claim := todo.Call{ID: "1", Name: "TaskUpdate", Arguments: `{"taskId":"1","owner":"ada"}`, Result: "Updated task #1 owner", Answered: true}
	history := func(yield func(adapter.Entry) bool) {
		_ = yield(adapter.Entry{Call: claim}) && yield(adapter.Entry{Automatic: message})
	}
	for name, c := range map[string]struct {
		list   []todo.Todo
		reason continuation.Reason
		others int
		next   string
	}{
		"its own is open": {
			[]todo.Todo{{ID: "1", Content: "Form", Status: todo.Pending, Owner: "ada"}, {ID: "2", Content: "Style", Status: todo.InProgress, Owner: "bob"}},
			continuation.ReasonSatisfied, 1, "Form",
		},
		"its own is done": {
			[]todo.Todo{{ID: "1", Content: "Form", Status: todo.Completed, Owner: "ada"}, {ID: "2", Content: "Style", Status: todo.InProgress, Owner: "bob"}},
			continuation.ReasonOthersWork, 1, "",
		},
		"its own waits for another's": {
			[]todo.Todo{{ID: "1", Content: "Form", Status: todo.Pending, Owner: "ada", BlockedBy: "2"}, {ID: "2", Content: "Style", Status: todo.InProgress, Owner: "bob"}},
			continuation.ReasonOthersWork, 2, "",
		},
	} {
		request := describe(fixTheBuild)
		request.History, request.Users, request.User = history, 0, ""
		s := newSetup(nil, middleware.WithDryRun())
		source := todo.ProviderFunc(func(context.Context) ([]todo.Todo, error) { return c.list, nil })
		mw := middleware.New(source, middleware.WithDryRun(), middleware.WithObserver(s.events.Observer()))
		call := begin(t.Context(), mw, request)
		_, err := middleware.Unary(call, &answers{usageTotals: newUsageTotals()}, func(context.Context, *adapter.Continuation) (sdkAnswer, error) {
			return says("Next:"), nil
		})
		require.NoError(t, err)
		outcome := call.Outcome()
		assert.Equal(t, c.reason, outcome.Reason, name)
		assert.Equal(t, c.others, outcome.List.Others, name)
		assert.Equal(t, c.next, s.events.Decisions()[0].Evaluation.Todo.Content, name)
	}
}
