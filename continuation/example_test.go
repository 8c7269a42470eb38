package continuation_test

import (
	"context"
	"fmt"
	"time"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/todo"
)

func ExampleEvaluate() {
	limits, err := continuation.Limits{}.WithDefaults()
	if err != nil {
		fmt.Println(err)
		return
	}
	in := continuation.Input{
		Settings: continuation.DefaultValues(),
		Turn:     continuation.EndedTurn{Finish: "stop"},
		Limits:   limits,
		Now:      time.Now(),
	}
	fmt.Println(continuation.Evaluate(in).Reason) // nothing speaks against it so far

	in.TodosKnown = true
	in.Todos = []todo.Todo{
		{ID: "1", Content: "Read the code", Status: todo.Completed},
		{ID: "2", Content: "Fix the bug", Status: todo.InProgress},
	}
	ev := continuation.Evaluate(in)
	fmt.Println(ev.Continue, ev.Reason, ev.Todo.ID, ev.Attempt)

	in.Turn.ToolCalls = true
	ev = continuation.Evaluate(in)
	fmt.Println(ev.Continue, ev.Reason)
	fmt.Println(ev.Conditions)
	// Output:
	// The todos have not been asked for yet
	// true All continuation conditions satisfied 2 1
	// false Tool calls were made during stream - no continuation needed
	// enabled in_scope unbroken !no_tool_calls
}

func ExampleLimits() {
	limits, err := continuation.Limits{
		MaxAttempts: 5,
		MinInterval: continuation.Off,
		TokenBudget: 20_000,
	}.WithDefaults()
	fmt.Println(limits.MaxAttempts, limits.MaxWithoutProgress, limits.TokenBudget, limits.ResponseTimeout, err)

	// Output:
	// 5 10 20000 30s <nil>
}

func ExampleWithSession() {
	ctx := context.Background()
	ctx = continuation.WithSession(ctx, "conversation-42")
	fmt.Println(continuation.Session(ctx))
	// Output: conversation-42
}

// A program that reads its limits from a configuration reports a wrong value before it
// makes a Middleware, which would panic.
func ExampleLimits_Check() {
	configured := continuation.Limits{MaxAttempts: -5}
	fmt.Println(configured.Check())
	// Output: limit MaxAttempts is negative: -5 (use continuation.Off for no limit)
}

func ExampleTemplates_Check() {
	configured := continuation.Templates{Standard: continuation.StandardTemplates{Base: "Go on with {task}."}}
	fmt.Println(configured.Check())
	// Output: continuation: template Standard.Base: unknown placeholder {task}
}
