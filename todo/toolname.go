package todo

import "strings"

// toolName is the name of a tool in lower case and without "_" and "-". Agents
// call the same tool todo_write, TodoWrite, todowrite and todo-write.
type toolName string

// knownTools are the tools of agents in use that write a whole list.
func knownTools() []toolName {
	return []toolName{
		"todowrite",      // Claude Code, opencode, Qwen Code, Cursor, goose, and this package
		"writetodos",     // LangChain, deepagents, Eino, Gemini CLI
		"updateplan",     // Codex, Zed
		"updatetodolist", // Roo Code
		"managetodolist", // Copilot in VS Code
		"settodolist",    // Kimi CLI
		"todolist",       // Hermes
		"todos",          // Crush
		"todo",           // Mistral Vibe
		"tasktracker",    // OpenHands
		"checklist",      // Continue
	}
}

func newToolName(name string) toolName {
	return toolName(strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(strings.TrimSpace(name))))
}

// namespaced splits off the namespace that clients of MCP put before a name.
func namespaced(tool string) (bare string, ok bool) {
	end := strings.LastIndex(tool, "__")
	if end < 0 {
		return tool, false
	}
	return tool[end+len("__"):], true
}

// spells reports whether tool is n in another spelling. It is asked for every
// call of a history, so it allocates nothing.
func (n toolName) spells(tool string) bool {
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
