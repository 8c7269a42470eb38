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
