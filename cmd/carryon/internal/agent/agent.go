// Package agent points coding agents to a model endpoint, and turns on the todo
// list of agents that have it off by default.
package agent

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// Launch is one run of an agent's command.
type Launch struct {
	Args  []string          // the command first
	Env   map[string]string // added to the environment
	Files []File            // written before the run, deleted after it
	Note  string            // what the user has to do, or ""
}

// File is a temporary file.
type File struct {
	Told    string // the variable or flag that gets its path; flags start with "-"
	Name    string
	Content string
}

// Endpoint is the address of the proxy, which the agent uses as its model endpoint.
type Endpoint struct {
	Root  string // such as http://127.0.0.1:8787
	Model string // the model that the user has chosen, or ""
}

// Base returns the base URL in the form that most SDKs expect, ending in /v1.
func (e Endpoint) Base() string { return e.Root + "/v1" }

// Agent describes how to configure one agent. The zero value stands for any program
// whose SDK reads its base URL from the environment.
type Agent struct {
	Name string

	baseURLs []string // variables that hold the user's base URL; nil for those of OpenAI's SDKs
	packages []string // names of npm packages, for npx and similar
	env      func(e Endpoint, command []string) map[string]string
	args     func(Endpoint) []string // flags that go right after the agent's name
	files    func(e Endpoint, command []string) []File
	list     settings
	modes    Modes
	note     func(e Endpoint, command []string) string
}

// settings turn on an agent's todo list.
type settings struct {
	args  []string
	env   map[string]string
	files []File
	how   string // the permanent setting, in words
}

// HasListSetting reports whether the agent's todo list is off by default.
func (a Agent) HasListSetting() bool { return a.list.how != "" }

// ListSetting describes the setting that turns the list on permanently, or is "".
func (a Agent) ListSetting() string { return a.list.how }

// Of returns the agent that a command starts, and the index in command at which the
// agent's own flags begin. For an unknown program it returns the zero Agent.
func Of(command []string) (Agent, int) {
	for at, word := range command {
		name := strings.TrimSuffix(filepath.Base(word), ".exe")
		for _, a := range agents() {
			if at == 0 && name == a.Name || at > 0 && slices.Contains(a.packages, withoutVersion(word)) || at == 1 && name == a.Name {
				return a, at + 1
			}
		}
		if at == 0 && !slices.Contains([]string{"npx", "bunx", "pnpm", "pnpx", "yarn", "npm", "node", "bun", "uvx", "env"}, name) {
			break
		}
	}
	return Agent{}, min(1, len(command))
}

// withoutVersion returns the name of a package such as @openai/codex@0.169.
func withoutVersion(word string) string {
	if at := strings.LastIndexByte(word, '@'); at > 0 {
		return word[:at]
	}
	return word
}

// Launch returns the run of a command of this agent. The command and position are
// those of [Of]; list turns on the todo list.
func (a Agent) Launch(command []string, position int, e Endpoint, list bool) Launch {
	l := Launch{Env: variables(e)}
	var own []string
	if a.env != nil {
		l.Env = a.env(e, command)
	}
	if a.args != nil {
		own = a.args(e)
	}
	if a.files != nil {
		l.Files = a.files(e, command)
	}
	if list {
		own = append(own, a.list.args...)
		maps.Copy(l.Env, a.list.env)
		l.Files = append(l.Files, a.list.files...)
	}
	if a.note != nil {
		l.Note = a.note(e, command)
	}
	l.Args = slices.Concat(command[:position], own, command[position:])
	return l
}

// The default base URLs.
const (
	openAI    = "https://api.openai.com/v1"
	anthropic = "https://api.anthropic.com/v1"
)

// Upstreams returns the base URLs that the agent would use without carryon, one for
// OpenAI-compatible APIs and one for Anthropic's. Each comes from the environment,
// or is the provider's own address.
func (a Agent) Upstreams(getenv func(string) string) (forOpenAI, forAnthropic string) {
	variables := a.baseURLs
	if len(variables) == 0 {
		variables = []string{"OPENAI_BASE_URL", "OPENAI_API_BASE"}
	}
	forOpenAI, forAnthropic = openAI, anthropic
	for _, name := range variables {
		if url := strings.TrimRight(getenv(name), "/"); url != "" {
			forOpenAI = url
			break
		}
	}
	if url := strings.TrimRight(getenv("ANTHROPIC_BASE_URL"), "/"); url != "" {
		forAnthropic = strings.TrimSuffix(url, "/v1") + "/v1" // its SDKs expect it without
	}
	return forOpenAI, forAnthropic
}

// variables returns the variables from which SDKs and agents read a base URL.
func variables(e Endpoint) map[string]string {
	return map[string]string{
		"OPENAI_BASE_URL": e.Base(), "OPENAI_API_BASE": e.Base(), "OPENAI_HOST": e.Root,
		"ANTHROPIC_BASE_URL": e.Root, "COPILOT_PROVIDER_BASE_URL": e.Base(), "GROK_BASE_URL": e.Base(),
	}
}

// flagValue returns the value of the first of these flags in the command, or "".
func flagValue(command []string, flags ...string) string {
	for i, word := range command {
		name, value, joined := strings.Cut(word, "=")
		switch {
		case !slices.Contains(flags, name):
		case joined:
			return value
		case i+1 < len(command):
			return command[i+1]
		}
	}
	return ""
}

func toJSON(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic("carryon/cmd/carryon/internal/agent: " + err.Error()) // it consists of strings and booleans
	}
	return string(text)
}
