package todo

import "strings"

// toolName is the name of a tool in lower case, without "_" and "-": agents
// spell the same tool todo_write, TodoWrite, todowrite and todo-write.
type toolName string

// knownTools returns the tools of common agents that write a whole list. Names are
// in lower case and without "_" and "-", or they match nothing.
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
