package records_test

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/records"
	"github.com/carryon-go/carryon/todo"
)

// Two replicas share an engine: here one in memory, in production that of
// carryon/stores/redis or carryon/stores/postgres.
func Example() {
	engine := records.WithPrefix(records.NewMemoryEngine(), "staging:")
	replica := func() *middleware.Middleware {
		return middleware.New(todo.NewMemory(todo.WithRecords(engine)), middleware.WithStore(continuation.NewSharedStore(engine)))
	}
	a, b := replica(), replica()

	ctx := continuation.WithSession(context.Background(), "conversation-42")
	answer, err := a.Settings().CommandFor(ctx, "conversation-42", "/set todo-continuation off")
	fmt.Println(answer, err)
	values, err := b.Settings().Load(ctx, "conversation-42")
	fmt.Println(values.TodoContinuation, err)
	// Output:
	// todo-continuation is now false. <nil>
	// false <nil>
}

func ExampleMemory() {
	engine := records.NewMemoryEngine()
	for range 2 {
		err := engine.Update(context.Background(), "visits", func(_ time.Time, old []byte) ([]byte, time.Duration, error) {
			return append(slices.Clip(old), 'x'), time.Hour, nil
		})
		if err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(engine.Len())
	// Output:
	// 1
}
