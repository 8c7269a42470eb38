// Package agent knows what differs between agents: how each is told to work without a
// user, and how its todo list is turned on. It starts them, and tells where a run's
// requests go. How they are reached is the same for all.
package agent

import (
	"path/filepath"
	"slices"
	"strings"
)

// Agent is what is known about an agent. The zero value stands for any program.
type Agent struct {
	Name string

	packages []string // names of npm packages, for npx and similar
	modes    modes    // how it runs without a user
	list     list
	goal     goal
	signed   string  // the variable that makes it use a cloud with signed requests
	helper   *helper // a process that it leaves behind, or nil

	// Unreached says why the tunnel does not reach the agent, and as of which version;
	// Instead says what to do. Both are "" for all others.
	Unreached, Instead string
}

// goal is how an agent is told to go on by itself.
type goal struct {
	words []string // flags, and beginnings of prompts
	says  string   // what its user should know then
}

// list turns on an agent's todo list.
type list struct {
	args []string
	env  map[string]string
	file func(getenv func(string) string) File // settings in a file, or nil
	how  string                                // the permanent setting, in words
	only bool                                  // nothing else turns it on
}

// helper is a process that an agent starts for all its runs. It would keep what one run
// has told it, so each run gets one of its own, which ends with it.
type helper struct {
	port   string // the variable of its port
	folder string // the variable of the file in which it says where it is
	mark   string // a variable that it has, and no other process of the agent
}

// Known reports whether the agent is known to obey the variables of a tunnel. Any other
// program also gets those with which SDKs find their models.
func (a Agent) Known() bool { return a.Name != "" }

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
		for _, a := range agents {
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
