package middleware_test

import (
	"fmt"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// A program that reads its limits from a configuration file reports a wrong value
// instead of crashing on it.
func ExampleTryNew() {
	configured := continuation.Limits{MaxAttempts: -3}

	_, err := middleware.TryNew(todo.FromConversation(), middleware.WithLimits(configured))

	fmt.Println(err)
	// Output:
	// middleware: limit MaxAttempts is negative: -3 (use continuation.Off for no limit)
}
