package todo

import (
	"slices"
	"strings"
	"sync"

	"github.com/carryon-go/carryon/internal/agents"
)

// toolName is the name of a tool in lower case, without "_" and "-": agents
// spell the same tool todo_write, TodoWrite, todowrite and todo-write.
type toolName string

// toolKind is what a tool does to a list.
type toolKind = agents.ToolKind

const (
	otherTool    = agents.NoList
	wholeTool    = agents.WritesList
	createTool   = agents.CreatesItem
	updateTool   = agents.UpdatesItems
	completeTool = agents.CompletesOne
	listTool     = agents.ShowsList
	sqlTool      = agents.RunsSQL
	scriptTool   = agents.RunsScripts
	waitTool     = agents.AwaitsScript
)

// tool is a known tool.
type tool struct {
	name toolName
	kind toolKind
}

// agentTools are the tools of agents, each name once.
var agentTools = sync.OnceValue(func() (known struct{ lists, scripts, wrappers, searches []tool }) { //nolint:gochecknoglobals // facts, put together once
	add := func(to []tool, t tool) []tool {
		if slices.Contains(to, t) {
			return to
		}
		return append(to, t)
	}
	for _, t := range agents.Collect(func(a *agents.Agent) []agents.Tool { return a.Tools }) {
		switch found := (tool{newToolName(t.Name), t.Kind}); t.Kind {
		case scriptTool, waitTool:
			known.scripts = add(known.scripts, found)
		case agents.CallsTool:
			known.wrappers = add(known.wrappers, found)
		case agents.FindsTools:
			known.searches = add(known.searches, found)
		default:
			known.lists = add(known.lists, found)
		}
	}
	return known
})

// knownTools returns the tools of agents that have to do with a list, in a slice that may
// grow.
func knownTools() []tool { return slices.Clip(agentTools().lists) }

// scriptTools returns the tools that run scripts. Their names are common, so the tools of
// WithToolNames go first.
func scriptTools() []tool { return agentTools().scripts }

// writes reports whether calls of a tool of a kind can change the list.
func writes(kind toolKind) bool {
	return kind != otherTool && kind != listTool && kind != scriptTool && kind != waitTool
}

// isWrapper reports whether a tool calls another one, which its arguments name.
func isWrapper(tool string) bool { return isOneOf(agentTools().wrappers, tool) }

// isSearch reports whether a tool finds other tools, which requests offer from then on.
func isSearch(tool string) bool { return isOneOf(agentTools().searches, tool) }

func isOneOf(tools []tool, name string) bool {
	for i := range tools {
		if tools[i].name.matches(name) {
			return true
		}
	}
	return false
}

func newToolName(name string) toolName {
	plain := strings.ReplaceAll(strings.ReplaceAll(strings.TrimSpace(name), "_", ""), "-", "")
	return toolName(strings.ToLower(plain))
}

// matches reports whether tool is a spelling of n. It runs for every call of a
// history, so it allocates nothing.
func (n toolName) matches(tool string) bool {
	at := 0
	for i := range len(tool) {
		letter := tool[i]
		switch {
		case letter == '_' || letter == '-':
			continue
		case 'A' <= letter && letter <= 'Z':
			letter += 'a' - 'A'
		}
		if at == len(n) || n[at] != letter {
			return false
		}
		at++
	}
	return at == len(n)
}
