// Package agent knows how coding agents are told where their model is, and how
// those that keep no todo list by default are told to keep one.
package agent

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// Launch is an agent's command, as it is run once.
type Launch struct {
	Args  []string          // the command first
	Env   map[string]string // added to the environment
	Files []File            // there while the program runs
	Note  string            // what the user has to do, or "" if nothing
}

// File is a temporary file.
type File struct {
	Told    string // the variable that gets its path, or the flag
	Name    string
	Content string
}

// Endpoint is where an agent is to look for its model.
type Endpoint struct {
	Root  string // such as http://127.0.0.1:8787
	Model string // the model that the agent is told to ask for, or ""
}

// Base returns the base URL that most SDKs want.
func (e Endpoint) Base() string { return e.Root + "/v1" }

// Agent is what is known of an agent. The zero value is any program whose SDK
// reads its base URL from the environment.
type Agent struct {
	Name string

	baseURLs []string // variables in which the user may have set where its model is; OpenAI's SDKs' if there are none
	packages []string // of npm, by which npx and the like start it
	env      func(e Endpoint, command []string) map[string]string
	args     func(Endpoint) []string // put behind the command
	files    func(e Endpoint, command []string) []File
	list     settings
	note     func(e Endpoint, command []string) string
}

// settings turn on an agent's todo list.
type settings struct {
	args  []string
	env   map[string]string
	files []File
	how   string // in words, for users who want it for good
}

// HasListSetting reports whether the agent keeps no todo list unless it is told to.
func (a Agent) HasListSetting() bool { return a.list.how != "" }

// ListSetting says how the list is turned on for good, or "".
func (a Agent) ListSetting() string { return a.list.how }

// Of returns what is known of the agent that a command starts, and the position in
// the command behind which flags of its own stand.
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

// Launch returns how to run the command, which was found to be this agent's, with
// its own flags behind the position.
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

// Where models are by default.
const (
	openAI    = "https://api.openai.com/v1"
	anthropic = "https://api.anthropic.com/v1"
)

// Upstreams returns where the agent would look for its model: where a variable
// of the environment says, or at the provider's own address. One that speaks to
// Anthropic's API looks elsewhere than one that speaks to OpenAI's, or to any that
// is like it.
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
		forAnthropic = strings.TrimSuffix(url, "/v1") + "/v1" // its SDKs want it without
	}
	return forOpenAI, forAnthropic
}

// variables returns those by which SDKs and agents are told a base URL.
func variables(e Endpoint) map[string]string {
	return map[string]string{
		"OPENAI_BASE_URL": e.Base(), "OPENAI_API_BASE": e.Base(), "OPENAI_HOST": e.Root,
		"ANTHROPIC_BASE_URL": e.Root, "COPILOT_PROVIDER_BASE_URL": e.Base(), "GROK_BASE_URL": e.Base(),
	}
}

// flagValue returns the value of the first of the flags that the command has.
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
		panic("carryon/cmd/carryon/internal/agent: " + err.Error()) // only maps of texts
	}
	return string(text)
}
