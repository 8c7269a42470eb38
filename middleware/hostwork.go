package middleware

import (
	"iter"
	"slices"
	"strings"

	"github.com/carryon-go/carryon/adapter"
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

// awaitsReport reports whether a call of this user turn has begun work in the
// background that the program has not reported on since: until then the model can only
// wait.
func awaitsReport(history iter.Seq[adapter.Entry]) bool {
	if history == nil {
		return false
	}
	left := maxAwaited
	for e := range history {
		switch {
		case e.Automatic != "":
			if adapter.IsReport(e.Automatic) {
				return false
			}
		case e.Call.UserMessagesAfter > 0 || left == 0:
			return false
		case promisesReport(e.Call.Result):
			return true
		default:
			left--
		}
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
