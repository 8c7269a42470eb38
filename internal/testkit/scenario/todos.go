package scenario

import (
	"context"
	"slices"
	"sync"

	"github.com/carryon-go/carryon/todo"
)

// TwoTodos returns the list of most tests: one todo in progress, one pending.
func TwoTodos() todo.Provider {
	return todo.Static(
		todo.Todo{ID: "1", Content: "Write the parser", Status: todo.InProgress},
		todo.Todo{ID: "2", Content: "Test the parser", Status: todo.Pending},
	)
}

// List is a todo list that a test can change.
type List struct {
	mu    sync.Mutex
	todos []todo.Todo
	reads int
}

// NewList returns a list of the todos.
func NewList(todos ...todo.Todo) *List { return &List{todos: todos} }

// Todos returns the todos, and counts that it was called.
func (l *List) Todos(context.Context) ([]todo.Todo, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reads++
	return slices.Clone(l.todos), nil
}

// Set replaces the todos.
func (l *List) Set(todos ...todo.Todo) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.todos = todos
}

// Reads returns how often the list was read.
func (l *List) Reads() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.reads
}

// Pending returns a todo that is pending.
func Pending(content string) todo.Todo {
	return todo.Todo{ID: content, Content: content, Status: todo.Pending}
}

// InProgress returns a todo that is in progress.
func InProgress(content string) todo.Todo {
	return todo.Todo{ID: content, Content: content, Status: todo.InProgress}
}

// Completed returns a todo that is completed.
func Completed(content string) todo.Todo {
	return todo.Todo{ID: content, Content: content, Status: todo.Completed}
}
