package agents_test

import (
	"context"
	"testing"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/todo"
)

// noneOf is a source without todos.
func noneOf(t *testing.T) todo.Provider {
	t.Helper()
	return todo.Static()
}

// sessionsOf is a source that records the sessions it was asked for.
func sessionsOf(sessions *[]string) todo.Provider {
	return todo.ProviderFunc(func(ctx context.Context) ([]todo.Todo, error) {
		*sessions = append(*sessions, continuation.Session(ctx))
		return twoTodos.Todos(ctx)
	})
}
