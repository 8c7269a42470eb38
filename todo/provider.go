package todo

import (
	"context"
	"slices"
)

// Provider is where carryon reads the todo list from. It is read-only: carryon
// never changes a todo.
//
// Todos may be called concurrently, also for one session. Its ctx is that of
// the model call, with a deadline, and holds the resolved session and the
// Conversation of the request. It runs on the goroutine of the call and must
// honour its ctx: if it does not, the answer waits for as long as it takes. The
// order of the list is the order of work. An empty list, nil included, means
// there is nothing to do; an error counts as no todos and does not fail the
// model call.
//
// The provider must not change the returned slice afterwards; one that keeps
// its list in place returns a copy.
type Provider interface {
	Todos(ctx context.Context) ([]Todo, error)
}

// ProviderFunc is a function used as a Provider.
type ProviderFunc func(ctx context.Context) ([]Todo, error)

// Todos calls f. It panics if f is nil.
func (f ProviderFunc) Todos(ctx context.Context) ([]Todo, error) {
	if f == nil {
		panic("todo: nil ProviderFunc")
	}
	return f(ctx)
}

// Static returns a Provider that always has a copy of todos, whatever the
// session. Since no tool can change the list it is stale by nature: good for
// tests and experiments. For an agent that works on its list use NewMemory.
func Static(todos ...Todo) Provider {
	list := slices.Clone(todos)
	return ProviderFunc(func(context.Context) ([]Todo, error) {
		return slices.Clone(list), nil
	})
}
