// Package agent points coding agents to a model endpoint, and turns on the todo
// list of agents that have it off by default.
package agent

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
)

// Agent describes how to configure one agent. The zero value stands for any program
// whose SDK reads its base URL from the environment.
type Agent struct {
	Name string

	packages []string     // names of npm packages, for npx and similar
	modes    modes        // how it runs without a user
	prepare  func(*setup) // points it to the proxy; nil for the variables that SDKs read
	list     settings
	hint     string // how to point it to carryon by hand, or ""
}

// settings turn on an agent's todo list.
type settings struct {
	args []string
	env  map[string]string
	how  string // the permanent setting, in words
	only bool   // nothing else turns it on
}

// Hint says how to point the agent to carryon by hand.
func (a Agent) Hint() string {
	return cmp.Or(a.hint, "set its base URL to that of a carryon proxy")
}

// HasListSetting reports whether the agent's todo list is off by default.
func (a Agent) HasListSetting() bool { return a.list.how != "" }

// ListAdvice says how to turn the list on.
func (a Agent) ListAdvice() string {
	if a.list.only {
		return "turn it on with " + a.list.how
	}
	return "turn it on with carryon run -list, or with " + a.list.how
}

// Of returns the agent that a command starts, and the index in command at which the
// agent's own flags begin. For an unknown program it returns the zero Agent.
func Of(command []string) (Agent, int) {
	for at, word := range command {
		name := strings.TrimSuffix(filepath.Base(word), ".exe")
		for _, a := range agents() {
			if at == 0 && name == a.Name || at > 0 && slices.Contains(a.packages, packageOf(word)) || at == 1 && name == a.Name {
				return a, at + 1
			}
		}
		if at == 0 && !slices.Contains([]string{"npx", "bunx", "pnpm", "pnpx", "yarn", "npm", "node", "bun", "uvx", "env"}, name) {
			break
		}
	}
	return Agent{}, min(1, len(command))
}

// packageOf returns the name of a package such as @openai/codex@0.169.
func packageOf(word string) string {
	if at := strings.LastIndexByte(word, '@'); at > 0 {
		return word[:at]
	}
	return word
}
