package todo

import (
	"context"
	"slices"
)

// Provider returns the todo list that carryon follows. carryon never changes a
// todo.
//
// Todos may be called concurrently, even for one session. Its ctx is derived from
// that of the model call, has a deadline, and holds the resolved session and the
// Conversation of the request. Todos runs on the goroutine of the model call and must
// return when its ctx ends, because the caller's answer waits for it. The list is in
// the order of work. An empty or nil list means that nothing is left to do. An error
// means that there is no list: the model call does not fail, but it is not continued,
// and its outcome has the error. [ErrNoList], [ErrUnreadable] and [ErrNoSession] each
// have a reason of their own.
//
// A status may be spelled as [ParseStatus] reads it.
//
// The provider must not change a slice after returning it; a provider that
// edits its list in place returns a copy.
type Provider interface {
	Todos(ctx context.Context) ([]Todo, error)
}

// ProviderFunc is a function used as a Provider.
type ProviderFunc func(ctx context.Context) ([]Todo, error)

// Todos calls f. It panics if f is nil; middleware.New refuses a nil f.
func (f ProviderFunc) Todos(ctx context.Context) ([]Todo, error) {
	if f == nil {
		panic("carryon/todo: nil ProviderFunc")
	}
	return f(ctx)
}

// Static returns a Provider that returns a copy of todos in every call, for
// every session. No tool can change that list, so it suits tests and
// experiments; use NewMemory for an agent that works on its list.
func Static(todos ...Todo) Provider {
	list := slices.Clone(todos)
	return ProviderFunc(func(context.Context) ([]Todo, error) {
		return slices.Clone(list), nil
	})
}
