package continuation_test

import (
	"context"
	"fmt"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/records"
)

// The engine here is in memory. Replicas share one of carryon/stores/redis or
// carryon/stores/postgres.
func ExampleNewSharedStore() {
	engine := records.NewMemoryEngine()
	a, b := continuation.NewSharedStore(engine), continuation.NewSharedStore(engine)

	ctx := context.Background()
	err := a.Update(ctx, "conversation-42", func(s continuation.State) continuation.State {
		s.Continuations++
		return s
	})
	fmt.Println(err)
	err = b.Update(ctx, "conversation-42", func(s continuation.State) continuation.State {
		fmt.Println(s.Continuations)
		return s
	})
	fmt.Println(err)
	// Output:
	// <nil>
	// 1
	// <nil>
}

// A session's settings are part of its state, so every replica obeys them.
func ExampleNewSharedSettings() {
	store := continuation.NewSharedStore(records.NewMemoryEngine())
	a := continuation.NewSharedSettings(continuation.DefaultValues(), store) // for middleware.WithSettings,
	b := continuation.NewSharedSettings(continuation.DefaultValues(), store) // with the same store for WithStore

	ctx := context.Background()
	fmt.Println(a.SetApprovalMode(ctx, "conversation-42", continuation.ApprovalYOLO))
	values, err := b.Load(ctx, "conversation-42")
	fmt.Println(values.ApprovalMode, err)
	values, err = b.Load(ctx, "conversation-43")
	fmt.Println(values.ApprovalMode, err)
	// Output:
	// <nil>
	// yolo <nil>
	// default <nil>
}
