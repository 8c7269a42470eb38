package middleware

import (
	"iter"
	"slices"
	"strings"

	"github.com/carryon-go/carryon/todo"
)

// Bounds of the search for work that the program has begun in the background.
const (
	maxAwaited = 32      // calls, the newest
	maxNotice  = 4 << 10 // bytes of a result: a longer one, such as a file, mostly just quotes a promise
)

// promises are phrases, in lower case, with which agents say in the result of a call
// that it has begun work in the background whose outcome they will report. A command
// that the model must check on itself promises nothing.
var promises = []string{ //nolint:gochecknoglobals // a table
	"you will be notified when",               // Claude Code's commands
	"you will be notified automatically when", // Claude Code's agents, opencode's tasks
	"you'll be notified when",                 // Claude Code's workflows
	"async agent launched successfully",       // Claude Code's agents, before it promised
	"<task-notification>",                     // qwen-code's agents
	"system notifies on completion",           // oh-my-opencode's tasks
}

// awaitsReport reports whether a recent call has begun work in the background that
// the program will report on: until then the model can only wait.
func awaitsReport(history iter.Seq[todo.Call]) bool {
	if history == nil {
		return false
	}
	left := maxAwaited
	for call := range history {
		if !call.Recent || left == 0 {
			return false
		}
		if promisesReport(call.Result) {
			return true
		}
		left--
	}
	return false
}

func promisesReport(result string) bool {
	if len(result) > maxNotice {
		return false
	}
	lower := strings.ToLower(result)
	return slices.ContainsFunc(promises, func(p string) bool { return strings.Contains(lower, p) })
}
