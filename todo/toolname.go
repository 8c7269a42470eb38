package todo

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/carryon-go/carryon/internal/agents"
	"github.com/carryon-go/carryon/internal/toolcall"
)

// toolKind is what a tool does to a list.
type toolKind = agents.ToolKind

const (
	otherTool    = agents.NoList
	wholeTool    = agents.WritesList
	createTool   = agents.CreatesItem
	addTool      = agents.CreatesItems
	updateTool   = agents.UpdatesItems
	completeTool = agents.CompletesItems
	removeTool   = agents.RemovesItems
	listTool     = agents.ShowsList
)

// tool is a known tool.
type tool struct {
	name toolcall.Name
	kind toolKind
}

// agentTools are the tools of agents, each name once.
var agentTools = sync.OnceValue(func() (known struct{ lists, wrappers, searches []tool }) { //nolint:gochecknoglobals // facts, put together once
	add := func(to []tool, t tool) []tool {
		if slices.Contains(to, t) {
			return to
		}
		return append(to, t)
	}
	for _, t := range agents.Collect(func(a *agents.Agent) []agents.Tool { return a.Tools }) {
		switch found := (tool{toolcall.NewName(t.Name), t.Kind}); t.Kind {
		case agents.RunsSQL, agents.RunsScripts, agents.AwaitsScript: // for a Reader
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

// writes reports whether calls of a tool of a kind can change the list.
func writes(kind toolKind) bool {
	return kind != otherTool && kind != listTool
}

// WritesList reports whether tool is the name of a tool that writes the list, or
// of one that may call or find such a tool.
func (c *conversationSource) WritesList(tool string) bool {
	return writes(c.kindOf(tool)) || c.isReaderTool(tool) || isWrapper(tool) || isSearch(tool)
}

// DoneTool returns the name of the tool with which the model marks todos of a list from
// origin as done, or "" if that is not known. offered are the tools of the request, or nil.
func (c *conversationSource) DoneTool(origin Origin, offered iter.Seq[string]) string {
	var changing, whole []string
	some, called := false, marksDone(c.kindOf(origin.Tool)) || c.isReaderTool(origin.Tool)
	if offered != nil {
		for name := range offered {
			some = true
			switch kind := c.kindOf(name); {
			case called && (name == origin.Tool || isWrapper(name)):
				return origin.Tool
			case kind == updateTool || kind == completeTool:
				changing = append(changing, name)
			case kind == wholeTool:
				whole = append(whole, name)
			}
		}
	}
	if called && !some {
		return origin.Tool
	}
	return cmp.Or(only(changing), only(whole))
}

// only returns the name, if there is only one.
func only(names []string) string {
	if len(names) != 1 {
		return ""
	}
	return names[0]
}

// marksDone reports whether a tool of a kind can mark todos as done.
func marksDone(kind toolKind) bool {
	switch kind {
	case wholeTool, updateTool, completeTool:
		return true
	default:
		return false
	}
}

// kindOf returns what a tool does to the list, by its name.
func (c *conversationSource) kindOf(name string) toolKind {
	bare := toolcall.Bare(name)
	for i := range c.tools {
		known := &c.tools[i]
		if known.name.Matches(bare) || len(bare) < len(name) && known.name.Matches(name) {
			return known.kind
		}
	}
	return otherTool
}

// isWrapper reports whether a tool calls another one, which its arguments name.
func isWrapper(tool string) bool { return isOneOf(agentTools().wrappers, tool) }

// isSearch reports whether a tool finds other tools, which requests offer from then on.
func isSearch(tool string) bool { return isOneOf(agentTools().searches, tool) }

func isOneOf(tools []tool, name string) bool {
	for i := range tools {
		if tools[i].name.Matches(name) {
			return true
		}
	}
	return false
}

const (
	// maxNamed is how many tools an error names.
	maxNamed = 8
	// maxOthers is how many tools are examined to find one that writes lists.
	maxOthers = 32
	// maxLookalikeArguments is how many bytes of their arguments are read for that.
	maxLookalikeArguments = 32 << 10
)

// unknownTools are the tools of a conversation that are not known to write a list. They
// are examined only if there is no list.
type unknownTools struct {
	newest []Call // the newest call of each tool
	read   int    // bytes of arguments that were read
}

// add adds the tool of a call. It runs for every call that is newer than the list.
func (o *unknownTools) add(call *Call) {
	for i := range o.newest {
		if o.newest[i].Name == call.Name {
			return
		}
	}
	if len(o.newest) < maxOthers && call.Name != "" {
		o.newest = append(o.newest, *call)
	}
}

// looksLikeTodoTool reports whether a name looks like that of a tool that writes a
// list.
func looksLikeTodoTool(name string) bool {
	plain := string(toolcall.NewName(name))
	for _, other := range [...]string{"read", "get", "pause", "tasklist"} { // the last is a known tool that shows the list
		if strings.Contains(plain, other) {
			return false
		}
	}
	return strings.Contains(plain, "todo") || strings.Contains(plain, "checklist")
}

// isList reports whether the arguments or the result of a call would be read as a list, with
// statuses that carryon knows, if the tool were named.
func (o *unknownTools) isList(call *Call) bool {
	size := len(call.Arguments) + len(call.Result)
	if o.read+size > maxLookalikeArguments {
		return false
	}
	o.read += size
	s := search{unread: size}
	s.lookAtList(wholeTool, call)
	return s.found && !slices.ContainsFunc(s.list, func(t Todo) bool { return t.Status == notStated })
}

// maySayStatus reports whether the arguments of a call may have items with statuses. It is
// fast, and may be wrong only if it returns true.
func maySayStatus(call *Call) bool {
	for _, word := range [...]string{"status", "state", "omplete", "done", "Done"} {
		if strings.Contains(call.Arguments, word) {
			return true
		}
	}
	return false
}

// none returns the error that says what was found instead of a list.
func (o *unknownTools) none() error {
	found := new(NoListError)
	add := func(to *[]string, name string) {
		if len(*to) < maxNamed {
			*to = append(*to, strings.Clone(name)) // it may be a part of a large request
		}
	}
	for i := range o.newest {
		call := &o.newest[i]
		add(&found.Called, call.Name)
		switch isAlike := looksLikeTodoTool(call.Name); {
		case (isAlike || maySayStatus(call)) && o.isList(call):
			if isAlike || hasStatuses(call) {
				add(&found.Lookalikes, call.Name)
			}
		case isAlike:
			add(&found.ItemTools, call.Name)
		}
	}
	return found
}

// hasStatuses reports whether the arguments of a call are a list of items with
// statuses.
func hasStatuses(call *Call) bool {
	parsed, err := parseArguments(call.Arguments)
	return err == nil && !parsed.single && len(parsed.items) > 0 && allHaveStatus(parsed.items)
}
