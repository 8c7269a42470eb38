package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/carryon-go/carryon/examples/chat/terminal"
	"github.com/carryon-go/carryon/examples/internal/plaintext"
	"github.com/carryon-go/carryon/todo"
)

// panel returns the lines of the panel: a title with the status, and up to most
// todos around the next one.
func panel(status string, list []todo.Todo, columns, most int) []string {
	title := "-- " + status + " "
	if len(list) > 0 {
		title = fmt.Sprintf("-- %d of %d done, %s ", len(list)-len(open(list)), len(list), status)
	}
	title, most = terminal.Fit(title, columns), max(most, 1)
	lines := make([]string, 0, 1+most)
	lines = append(lines, title+strings.Repeat("-", columns-terminal.Width(title)))
	next := slices.IndexFunc(list, func(t todo.Todo) bool { return t.Status.Active() })
	if next < 0 {
		next = len(list)
	}
	from := max(0, min(next-most/3, len(list)-most))
	for _, t := range list[from:min(from+most, len(list))] {
		lines = append(lines, terminal.Fit(box(t), columns))
	}
	return lines
}

// open returns the active todos.
func open(list []todo.Todo) (active []todo.Todo) {
	for _, t := range list {
		if t.Status.Active() {
			active = append(active, t)
		}
	}
	return active
}

// box returns a todo as one line.
func box(t todo.Todo) string {
	mark := "[?] "
	switch t.Status {
	case todo.Pending:
		mark = "[ ] "
	case todo.InProgress:
		mark = "[>] "
	case todo.Completed:
		mark = "[x] "
	case todo.Cancelled:
		mark = "[-] "
	}
	return mark + plaintext.OneLine(t.Content)
}
