package background

import (
	"slices"
	"strings"

	"github.com/carryon-go/carryon/internal/agents"
	"github.com/carryon-go/carryon/todo"
)

// toolOf returns the name of the tool that a call calls, which may be an argument.
func toolOf(c *todo.Call) string {
	if c.Result == "" || len(c.Result) > maxResult {
		return c.Name // nothing is launched
	}
	for i := range known().wrappers {
		if c.Name == known().wrappers[i].Name {
			return argument(c.Arguments, "name")
		}
	}
	return c.Name
}

// launches reports whether a tool makes launches of that kind: it is known for them, or its
// name says so. The name is that behind the name of a server.
func launches(tool string, l *agents.Launch) bool {
	tool = tool[strings.LastIndexAny(tool, "./:")+1:]
	tool = tool[max(strings.LastIndex(tool, "__")+len("__"), len("__"))-len("__"):]
	tool = strings.TrimLeft(tool, "_")
	var room [maxName]byte
	name := string(fold(room[:0], tool))
	for known := range strings.SplitSeq(l.Tools, "|") {
		if name == known {
			return true
		}
	}
	if known().tools[name].does != nothing || hasOneOf(name, reading) {
		return false
	}
	if l.Command {
		return hasOneOf(name, running)
	}
	return hasOneOf(name, launching) || strings.Contains(name, "task") && (name == "task" || hasOneOf(name, starting))
}

// What stands in the names of tools, in lower case and without "_" and "-".
var (
	launching = []string{ //nolint:gochecknoglobals // constant
		"agent", "spawn", "delegat", "background", "dispatch", "workflow", "teammate", "subtask", "worker", "job", "launch", "async",
	}
	starting = []string{"run", "start", "begin", "new"} //nolint:gochecknoglobals // constant
	running  = []string{                                //nolint:gochecknoglobals // constant
		"bash", "shell", "command", "exec", "terminal", "process", "background", "monitor", "schedule",
	}
	reading = []string{ //nolint:gochecknoglobals // constant
		"read", "get", "list", "fetch", "view", "show", "search", "find", "output", "result", "status", "wait", "check", "stop", "kill", "cancel", "log",
	}
)

func hasOneOf(name string, words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(name, word) })
}
