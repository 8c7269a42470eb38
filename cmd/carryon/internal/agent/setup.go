package agent

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// User is where an agent finds its user's settings.
type User struct {
	Getenv func(string) string
	Home   string // the user's home
	Dir    string // where the agent works
}

// Launch is one run of an agent's command.
type Launch struct {
	Args   []string          // the command first
	Env    map[string]string // added to the environment
	Files  []File            // written before the run, deleted after it
	Main   Upstream          // where requests below /v1 go
	Routes []Upstream        // where others go, and those with certain headers; the first that matches counts
	Notes  []string          // what the user should know before the run
}

// File is a temporary file.
type File struct {
	Told    string // the variable or flag that gets its path; flags start with "-"
	Name    string
	Content string
}

// Upstream is an endpoint that the agent would use without carryon.
type Upstream struct {
	Prefix string // of the paths at the proxy that belong to it; "" stands for every path. Main has none: it is /v1
	Header string // only requests with this header belong to it; "" for all
	Base   string // base URL
	Source string // what the base URL comes from
}

// setup prepares a launch.
type setup struct {
	Launch

	user     User
	root     string   // of the proxy, such as http://127.0.0.1:8787
	command  []string // as the user wrote it
	position int      // where the agent's own words begin in command
	list     bool     // carryon turns its todo list on
	own      []string // words that go right after the agent's name
}

// words returns the agent's own words.
func (s *setup) words() []string { return s.command[s.position:] }

// flag returns the value of the first of these flags in the command, or "".
func (s *setup) flag(names ...string) string { return flagValue(s.words(), names...) }

// base is the base URL that most SDKs expect.
func (s *setup) base() string { return s.root + "/v1" }

// note adds a line for the user.
func (s *setup) note(format string, args ...any) {
	s.Notes = append(s.Notes, fmt.Sprintf(format, args...))
}

// route adds an endpoint with a prefix of its own, and returns the base URL at the
// proxy that stands for it. The agent may call any path below it.
func (s *setup) route(name, base, source string) string {
	base = strings.TrimRight(base, "/")
	prefix := "/to/" + slug(name)
	for n := 2; ; n++ {
		i := slices.IndexFunc(s.Routes, func(u Upstream) bool { return u.Prefix == prefix })
		if i < 0 {
			break
		}
		if s.Routes[i].Base == base {
			return s.root + prefix
		}
		prefix = fmt.Sprintf("/to/%s-%d", slug(name), n)
	}
	s.Routes = append(s.Routes, Upstream{Prefix: prefix, Base: base, Source: source})
	return s.root + prefix
}

// slug returns a name as a part of a path.
func slug(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '-'
	}, name)
}

// bypassProxies keeps requests to carryon away from the proxy of the user's network,
// if there is one: that proxy cannot reach this machine.
func (s *setup) bypassProxies() {
	proxied := []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"}
	if !slices.ContainsFunc(proxied, func(name string) bool { return s.user.Getenv(name) != "" }) {
		return
	}
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		list := strings.Split(s.user.Getenv(name), ",")
		for _, host := range []string{"127.0.0.1", "localhost"} {
			if !slices.Contains(list, host) {
				list = append(list, host)
			}
		}
		s.Env[name] = strings.Trim(strings.Join(list, ","), ",")
	}
}

// home returns a path below the user's home.
func (s *setup) home(elements ...string) string {
	return filepath.Join(append([]string{s.user.Home}, elements...)...)
}

// here returns a path below the folder in which the agent works.
func (s *setup) here(elements ...string) string {
	return filepath.Join(append([]string{s.user.Dir}, elements...)...)
}

// Launch returns the run of a command of this agent. The command and position are
// those of [Of], root is the URL of the proxy, and list turns on the todo list.
func (a Agent) Launch(command []string, position int, root string, user User, list bool) Launch {
	s := setup{
		Launch: Launch{Env: make(map[string]string), Main: Upstream{Base: openAI, Source: "OpenAI"}},
		user:   user, root: root, command: slices.Clone(command), position: position, list: list,
	}
	if a.prepare != nil {
		a.prepare(&s)
	} else {
		program(&s)
	}
	if list {
		s.own = append(s.own, a.list.args...)
		maps.Copy(s.Env, a.list.env)
	}
	s.bypassProxies()
	s.Args = slices.Concat(s.command[:position], s.own, s.words())
	return s.Launch
}

// flagValue returns the value of the first of these flags in the words, or "".
func flagValue(words []string, flags ...string) string {
	for i, word := range words {
		name, value, joined := strings.Cut(word, "=")
		switch {
		case !slices.Contains(flags, name):
		case joined:
			return value
		case i+1 < len(words):
			return words[i+1]
		}
	}
	return ""
}

// replaceFlag gives a flag of the command another value.
func (s *setup) replaceFlag(flag, value string) {
	words := s.words()
	for i, word := range words {
		switch {
		case strings.HasPrefix(word, flag+"="):
			words[i] = flag + "=" + value
			return
		case word == flag && i+1 < len(words):
			words[i+1] = value
			return
		}
	}
}

// noteGoal tells the user of a goal that the agent pursues by itself.
func (s *setup) noteGoal(agent string) {
	if slices.ContainsFunc(s.words(), func(word string) bool { return strings.HasPrefix(word, "/goal") }) {
		s.note("%s goes on by itself until its goal is reached: carryon is not needed for that.", agent)
	}
}
