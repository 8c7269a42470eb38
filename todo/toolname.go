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
	sqlTool                      // runs SQL statements, which may change or show a list in a table
	scriptTool                   // runs a script, which may call a tool that writes a whole list
	waitTool                     // waits for a script
)

// tool is a known tool.
type tool struct {
	name toolName
	kind toolKind
}

// knownTools returns the tools of common agents. Names are in lower case and
// without "_" and "-", or they match nothing.
func knownTools() []tool {
	return []tool{
		{"todowrite", wholeTool},          // Claude Code, opencode, Qwen Code, Cursor, goose, and this package
		{"writetodos", wholeTool},         // LangChain, deepagents, Eino, Gemini CLI
		{"updateplan", wholeTool},         // Codex, Zed
		{"updatetodolist", wholeTool},     // Roo Code; grok-cli changes a part of its list with it
		{"createtodolist", wholeTool},     // grok-cli
		{"managetodolist", wholeTool},     // Copilot in VS Code
		{"updatetodo", wholeTool},         // older versions of Copilot CLI
		{"settodolist", wholeTool},        // Kimi CLI
		{"taskwrite", wholeTool},          // Mastra
		{"todolist", wholeTool},           // Hermes
		{"todos", wholeTool},              // Crush
		{"todo", wholeTool},               // Mistral Vibe, pi
		{"tasktracker", wholeTool},        // OpenHands
		{"checklist", wholeTool},          // Continue
		{"taskcreate", createTool},        // Claude Code
		{"taskupdate", updateTool},        // Claude Code, Mastra
		{"taskcomplete", completeTool},    // Mastra
		{"tasklist", listTool},            // Claude Code
		{"trackercreatetask", createTool}, // Gemini CLI; so are the next two
		{"trackerupdatetask", updateTool},
		{"trackerlisttasks", listTool},
		{"sql", sqlTool},       // Copilot CLI
		{"todoread", listTool}, // this package, and older versions of Claude Code
	}
}

// scriptTools returns the tools with which Codex runs scripts. Their names are common,
// so those of WithToolNames go first.
func scriptTools() []tool { return []tool{{"exec", scriptTool}, {"wait", waitTool}} }

// writes reports whether calls of such a tool can change the list.
func (k toolKind) writes() bool {
	switch k {
	case otherTool, listTool, scriptTool, waitTool:
		return false
	case wholeTool, createTool, updateTool, completeTool, sqlTool:
		return true
	}
	return false
}

// isWrapper reports whether a tool calls another one, which its arguments name.
func isWrapper(tool string) bool { return toolName("toolcall").matches(tool) } // Qwen Code

// isSearch reports whether a tool finds other tools, which requests offer from then
// on.
func isSearch(tool string) bool {
	for _, known := range [...]toolName{"toolsearch", "toolsearchtoolregex", "toolsearchtoolbm25"} { // Claude Code and the providers' own
		if known.matches(tool) {
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
