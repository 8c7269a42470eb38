// Package todolist evaluates a todo list for the decision: which todos count
// and which comes next (this file), what progress is (progress.go), and whether
// a list has changed (digest.go).
package todolist

import (
	"github.com/carryon-go/carryon/internal/description"
	"github.com/carryon-go/carryon/todo"
)

// Summary is the result of one pass over a list.
type Summary struct {
	Todos     int         // all of them
	Active    int         // todos pending or in progress
	Completed int         // todos completed
	Cancelled int         // todos cancelled
	Others    int         // active todos that are not for this agent to do now
	Unknown   todo.Status // the first status that is not known, "" if all are
	Next      todo.Todo   // the first in progress, else the first pending; never a blank one
	HasNext   bool        // false: no active todo has a content to describe
}

// Summarize reads the list once. It allocates only if the spelling of a status
// differs from this module's. A todo of an unknown status is not active. others are the
// indexes, in order, of active todos that are not for this agent to do now: none of them
// is Next.
func Summarize(todos []todo.Todo, others []int) Summary {
	s := Summary{Todos: len(todos)}
	next, started := -1, false // the todo to go on with, and whether it is in progress
	for i := range todos {
		status, known := todo.ParseStatus(string(todos[i].Status))
		s.count(status, known)
		if len(others) > 0 && others[0] == i {
			others = others[1:]
			if status.Active() {
				s.Others++
			}
			continue
		}
		if !status.Active() || started || next >= 0 && status == todo.Pending || description.Blank(todos[i].Content) {
			continue
		}
		next, started = i, status == todo.InProgress
	}
	if next >= 0 {
		s.Next, s.HasNext = todos[next], true
	}
	return s
}

func (s *Summary) count(status todo.Status, known bool) {
	switch {
	case !known:
		if s.Unknown == "" {
			s.Unknown = status
		}
	case status == todo.Completed:
		s.Completed++
	case status == todo.Cancelled:
		s.Cancelled++
	default:
		s.Active++
	}
}
