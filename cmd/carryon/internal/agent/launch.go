package agent

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/carryon-go/carryon/cmd/carryon/internal/providers"
)

// Launch is one run of an agent's command.
type Launch struct {
	Args   []string          // the command first
	Env    map[string]string // added to the environment
	Files  []File            // written before the run, deleted after it
	Main   Upstream          // where requests below /v1 go
	Routes []Upstream        // where others go, and those with certain headers; the first that matches counts
	Hosts  []string          // hosts of models that the environment names
	Local  []string          // variables with an endpoint in plain HTTP
	Notes  []string          // what the user should know before the run

	helper *helper
}

// File is a temporary file.
type File struct {
	Variable string // gets its path
	Name     string
	Content  string
}

// Upstream is an endpoint that the agent would use without carryon.
type Upstream struct {
	Prefix string // of the paths at the proxy that belong to it; Main has none: it is /v1
	Header string // only requests with this header belong to it; "" for all
	Base   string // base URL
	Source string // what the base URL comes from
}

// Launch returns the run of a command of this agent. The command and position are those
// of [Of], root is the URL of the proxy, and wantsList turns on the todo list.
func (a Agent) Launch(command []string, position int, root string, getenv func(string) string, wantsList bool) Launch {
	l := Launch{Env: make(map[string]string), Main: Upstream{Base: providers.Variables[0].Default, Source: "OpenAI"}, helper: a.helper}
	var own []string
	if wantsList {
		own = a.list.args
		maps.Copy(l.Env, a.list.env)
		if a.list.file != nil {
			l.Files = append(l.Files, a.list.file(getenv))
		}
		if a.list.only {
			l.note("%s gets its list with %s; -list does not change that", a.Name, a.list.how)
		}
	}
	l.bases(root, getenv, !a.Known())
	words := command[position:]
	switch on := getenv(a.signed); {
	case a.goal.isIn(words):
		l.note("%s", a.goal.says)
	case a.signed != "" && on != "" && on != "0" && on != "false":
		l.note("%s is set: the requests of that cloud are signed, so %s runs without carryon", a.signed, a.Name)
	}
	l.Args = slices.Concat(command[:position], own, words)
	return l
}

// isIn reports whether an agent's words begin a goal.
func (g *goal) isIn(words []string) bool {
	return anyOf(words, g.words) || slices.ContainsFunc(words, func(word string) bool {
		command, _, _ := strings.Cut(word, " ")
		return slices.Contains(g.words, command)
	})
}

// note adds a line for the user.
func (l *Launch) note(format string, args ...any) {
	l.Notes = append(l.Notes, fmt.Sprintf(format, args...))
}

// bases points base URLs to the proxy: those of plain HTTP, which no tunnel can read,
// and for a program that may do without the tunnel all that SDKs read.
func (l *Launch) bases(root string, getenv func(string) string, all bool) {
	for _, v := range providers.Variables {
		value := strings.TrimRight(getenv(v.Name), "/")
		u, err := url.Parse(value)
		isPlain := err == nil && u.Scheme == "http" && u.Host != ""
		switch {
		case isPlain:
			l.Local = append(l.Local, v.Name)
		case err == nil && u.Scheme == "https" && u.Host != "":
			l.Hosts = append(l.Hosts, u.Host)
		}
		switch base := cmp.Or(value, v.Default); {
		case all && base != "":
			l.Env[v.Name] = l.shared(root, v.Name, base, value != "")
		case isPlain:
			l.Env[v.Name] = l.route(root, v.Name, base)
		}
	}
}

// shared returns the address at the proxy that a program with an SDK gets for a variable.
// Such programs often build other paths from it than the variable's own.
func (l *Launch) shared(root, variable, base string, isSet bool) string {
	switch {
	case variable == "OPENAI_BASE_URL", variable == "OPENAI_API_BASE":
		if isSet && l.Main.Source == "OpenAI" {
			l.Main = Upstream{Base: base, Source: variable}
		}
		return root + "/v1"
	case variable == "OPENAI_HOST" && !isSet:
		return root
	case variable == "ANTHROPIC_BASE_URL":
		l.Routes = append(l.Routes, Upstream{
			Prefix: "/v1", Header: "Anthropic-Version", // its SDKs always send it
			Base: strings.TrimSuffix(base, "/v1") + "/v1", Source: variable,
		})
		return root
	}
	return l.route(root, variable, base)
}

// route returns an address at the proxy of its own for a base URL.
func (l *Launch) route(root, variable, base string) string {
	prefix := "/to/" + strings.ToLower(strings.ReplaceAll(variable, "_", "-"))
	l.Routes = append(l.Routes, Upstream{Prefix: prefix, Base: base, Source: variable})
	return root + prefix
}
