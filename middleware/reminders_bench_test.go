package middleware_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/adapter/join"
	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/internal/testkit/measure"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// withoutTodos runs calls in a session that end in text with no todos.
func withoutTodos(tb testing.TB, opts ...middleware.Option) func() {
	tb.Helper()
	mw := middleware.New(todo.Static(), opts...)
	ctx := inSession(tb, "s")
	attachable := func(int) (string, bool) { return "Fix the build.", true }
	request := adapter.Request{Tools: 1, Users: 1, User: "Fix the build.", Messages: 1, Attachable: attachable}
	return func() {
		call := begin(ctx, mw, request)
		call.Additions()
		_, err := join.Unary(call, &answers{usageTotals: newUsageTotals()}, func(context.Context, *adapter.Continuation) (sdkAnswer, error) {
			return says("Done."), nil
		})
		if err != nil {
			tb.Fatal(err)
		}
	}
}

// BenchmarkTasksWithNothingToSay compares calls without background tasks and
// those with a manager that has nothing to say.
func BenchmarkTasksWithNothingToSay(b *testing.B) {
	for name, opts := range map[string][]middleware.Option{
		"none":  nil,
		"tasks": {middleware.WithTasks(asynctask.NewManager())},
	} {
		b.Run(name, func(b *testing.B) {
			call := withoutTodos(b, opts...)
			b.ReportAllocs()
			for b.Loop() {
				call()
			}
		})
	}
}

func TestTasksWithNothingToSayAllocateNothing(t *testing.T) {
	bare := measure.Allocations(withoutTodos(t))
	told := measure.Allocations(withoutTodos(t, middleware.WithTasks(asynctask.NewManager())))
	assert.InDelta(t, bare, told, 0.5)
}
