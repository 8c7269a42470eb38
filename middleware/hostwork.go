package middleware

import (
	"iter"
	"slices"
	"strings"

	"github.com/carryon-go/carryon/todo"
)

// The bounds of the search for work that the program has begun in the background.
const (
	maxAwaited = 32      // calls, the newest
	maxNotice  = 4 << 10 // bytes of a result: what only quotes a promise, such as a file, is mostly longer
)

// promises are what agents say, in small letters, in the result of a call that
// has begun work in the background and whose outcome they will report
// themselves. A command that the model has to ask after is none.
var promises = []string{ //nolint:gochecknoglobals // a table
	"you will be notified when",               // Claude Code's commands
	"you will be notified automatically when", // Claude Code's agents, opencode's tasks
	"you'll be notified when",                 // Claude Code's workflows
	"async agent launched successfully",       // Claude Code's agents, before it promised
	"<task-notification>",                     // qwen-code's agents
	"system notifies on completion",           // oh-my-opencode's tasks
}

// awaitsReport reports whether a recent call has begun work in the background of
// which the program will report: until then the model can only wait.
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
