package continuation_test

import (
	"context"
	"fmt"

	"github.com/carryon-go/carryon/continuation"
)

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
