// Package todolist says what the decision reads from a todo list: which todos
// count and which comes next (this file), what progress is (progress.go), and
// whether a list has changed (digest.go).
package todolist

import (
	"github.com/carryon-go/carryon/internal/description"
	"github.com/carryon-go/carryon/todo"
)

// Summary is what one pass over a list finds.
type Summary struct {
	Active    int       // todos pending or in progress
	Completed int       // todos completed
	Next      todo.Todo // the first in progress, else the first pending; never a blank one
	HasNext   bool      // false: no active todo has a content to describe
}

// Summarize reads the list once and does not allocate. A todo of an unknown
// status is not active.
func Summarize(todos []todo.Todo) Summary {
	var s Summary
	next := -1
	for i := range todos {
		t := &todos[i]
		if t.Status == todo.Completed {
			s.Completed++
		}
		if !t.Status.Active() {
			continue
		}
		s.Active++
		preferred := next < 0 || t.Status == todo.InProgress && todos[next].Status == todo.Pending
		if preferred && !description.Blank(t.Content) {
			next = i
		}
	}
	if next >= 0 {
		s.Next, s.HasNext = todos[next], true
	}
	return s
}
