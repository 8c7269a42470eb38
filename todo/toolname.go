package todo

import "strings"

// toolName is the name of a tool in lower case, without "_" and "-": agents
// spell the same tool todo_write, TodoWrite, todowrite and todo-write.
type toolName string

// toolKind is what a tool does to a list.
type toolKind uint8

const (
	otherTool    toolKind = iota // nothing
	wholeTool                    // writes a whole list, or a part of one, as its arguments say
	createTool                   // adds one todo
	updateTool                   // changes one todo, or several
	completeTool                 // completes one todo
	listTool                     // shows the list
)

// knownTools returns the tools of common agents, by what they do. Names are in
// lower case and without "_" and "-", or they match nothing.
func knownTools() map[toolKind][]toolName {
	return map[toolKind][]toolName{
		wholeTool: {
			"todowrite",      // Claude Code, opencode, Qwen Code, Cursor, goose, and this package
			"writetodos",     // LangChain, deepagents, Eino, Gemini CLI
			"updateplan",     // Codex, Zed
			"updatetodolist", // Roo Code; grok-cli changes a part of its list with it
			"createtodolist", // grok-cli
			"managetodolist", // Copilot in VS Code
			"updatetodo",     // Copilot CLI
			"settodolist",    // Kimi CLI
			"taskwrite",      // Mastra
			"todolist",       // Hermes
			"todos",          // Crush
			"todo",           // Mistral Vibe, pi
			"tasktracker",    // OpenHands
			"checklist",      // Continue
		},
		createTool:   {"taskcreate", "trackercreatetask"}, // Claude Code, Gemini CLI
		updateTool:   {"taskupdate", "trackerupdatetask"}, // Claude Code, Mastra, Gemini CLI
		completeTool: {"taskcomplete"},                    // Mastra
		listTool:     {"tasklist", "trackerlisttasks", "todoread"},
	}
}

// isWrapper reports whether a tool calls another one, which its arguments name.
func isWrapper(tool string) bool { return toolName("toolcall").matches(tool) } // Qwen Code

func newToolName(name string) toolName {
	return toolName(strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(strings.TrimSpace(name))))
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
