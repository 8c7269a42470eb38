package reading

import (
	"iter"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/todo"
)

// CallsOf returns the tool calls of a history, or nil if the history is nil.
func CallsOf(history iter.Seq[adapter.Entry]) iter.Seq[todo.Call] {
	if history == nil {
		return nil
	}
	return func(yield func(todo.Call) bool) {
		for e := range history {
			if e.IsCall() && !yield(e.Call) {
				return
			}
		}
	}
}
