package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carryon-go/carryon/internal/testkit/fakellm"
)

const task = "Build a small web page about tea: index.html, style.css and README.md. Keep a todo list."

// patience is how long an agent may take.
const patience = 2 * time.Minute

// runner runs agents.
type runner struct {
	agents  string    // this folder
	bin     string    // the folder of the built programs
	carryon string    // the command
	log     io.Writer // gets the agents' output; nil to drop it
}

// result is the result of a run.
type result struct {
	files   int // written
	added   int // requests that carryon added
	prompts int // requests whose history contains a prompt of carryon's
	says    string
}

// run has an agent work in its own folder, under carryon or without it.
func (r runner) run(ctx context.Context, a agent, under bool) (result, error) {
	dir, err := os.MkdirTemp("", "carryon-agents-")
	if err != nil {
		return result{}, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // the system's to clean up
	fill := strings.NewReplacer("{AGENTS}", r.agents, "{HOME}", dir)
	for name, content := range a.home {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(fill.Replace(content)), 0o600)); err != nil {
			return result{}, err
		}
	}
	turns := make([]fakellm.Turn, 200)
	for i := range turns {
		turns[i] = fakellm.Func(model{dir}.respond)
	}
	server := fakellm.Start(turns...)
	defer server.Close()
	vendors, err := startVendors(server.Handler(), filepath.Join(dir, "ca.pem"), r.log)
	if err != nil {
		return result{}, err
	}
	defer vendors.Close()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	w := workplace{dir: dir, fill: fill, server: server, proxy: vendors.URL()}
	defer w.endLeftovers()
	if a.before {
		r.start(ctx, a, false, w)
		for _, f := range files {
			if err := os.Remove(filepath.Join(dir, f)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return result{}, err
			}
		}
	}
	before := len(server.Requests())
	out := r.start(ctx, a, under, w)
	return resultOf(dir, server.Requests()[before:], out), nil
}

// workplace is where an agent works.
type workplace struct {
	dir    string // its home, too
	fill   *strings.Replacer
	server *fakellm.Server
	proxy  string // the URL of the stand-in
}

// start runs an agent to its end, and returns what it printed.
func (r runner) start(ctx context.Context, a agent, under bool, w workplace) string {
	url := ""
	if !a.vendors {
		url = w.server.URL()
	}
	c := exec.CommandContext(ctx, "env", r.command(a, url, under, w.fill)...) // env finds the program in the PATH that it gets
	c.WaitDelay = 5 * time.Second
	c.Dir = w.dir
	c.Env = append(r.environment(a, w.dir, url, under, w.fill), cutOff(w.proxy, w.dir)...)
	var out []byte
	var err error
	if a.terminal {
		out, err = inTerminal(ctx, c, func() int { return len(w.server.Requests()) })
	} else {
		out, err = c.CombinedOutput()
	}
	if r.log != nil {
		_, _ = fmt.Fprintf(r.log, "--- %s: %v\n%s\n", strings.Join(c.Args[1:], " "), err, out)
	}
	return string(out)
}

// endLeftovers ends the programs that an agent has installed in its home and left behind, where the system can name
// them: Codex leaves a server.
func (w workplace) endLeftovers() {
	processes, _ := filepath.Glob("/proc/[0-9]*")
	for _, process := range processes {
		program, err := os.Readlink(filepath.Join(process, "exe"))
		if err != nil || !strings.HasPrefix(program, w.dir+string(filepath.Separator)) {
			continue
		}
		id, err := strconv.Atoi(filepath.Base(process))
		if err != nil {
			continue
		}
		if p, err := os.FindProcess(id); err == nil {
			_ = p.Kill() // it may have ended
		}
	}
}

// command returns the program to run, and its arguments.
func (r runner) command(a agent, url string, under bool, fill *strings.Replacer) []string {
	var command []string
	switch {
	case under:
		command = []string{r.carryon, "run"}
		if url != "" {
			command = append(command, "-upstream", url)
		}
		if a.list {
			command = append(command, "-list")
		}
		command = append(append(command, "--"), a.command...)
	case a.direct != nil:
		command = a.direct(url)
	default:
		command = slices.Clone(a.command)
	}
	for i := range command {
		command[i] = fill.Replace(command[i])
	}
	return command
}

// environment returns the environment of a user who has never run an agent.
func (r runner) environment(a agent, home, url string, under bool, fill *strings.Replacer) []string {
	modules := filepath.Join(r.agents, "node_modules")
	path := []string{r.bin, filepath.Join(modules, ".bin"), os.Getenv("PATH")}
	env := append([]string{
		"PATH=" + strings.Join(path, string(os.PathListSeparator)), "HOME=" + home, "NODE_PATH=" + modules,
		"DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "OPENCODE_DISABLE_AUTOUPDATE=1",
	}, a.env...)
	if a.terminal {
		env = append(env, "TERM=xterm-256color")
	} else {
		env = append(env, "TERM=dumb", "CI=1")
	}
	if !a.vendors {
		env = append(env, "OPENAI_API_KEY=sk-none", "ANTHROPIC_API_KEY=sk-ant-none", "OPENAI_MODEL=some-model")
	}
	switch {
	case under:
		return env
	case !a.vendors:
		env = append(env, "OPENAI_BASE_URL="+url, "ANTHROPIC_BASE_URL="+strings.TrimSuffix(url, "/v1"))
	}
	for _, variable := range a.alone {
		env = append(env, fill.Replace(variable))
	}
	return env
}

// cutOff returns the variables that send an agent, and carryon, to the stand-in for all hosts but this one.
func cutOff(proxy, home string) []string {
	certificate := filepath.Join(home, "ca.pem")
	return []string{
		"HTTP_PROXY=" + proxy, "HTTPS_PROXY=" + proxy, "http_proxy=" + proxy, "https_proxy=" + proxy, "NO_PROXY=127.0.0.1,localhost", "no_proxy=127.0.0.1,localhost",
		"SSL_CERT_FILE=" + certificate, "NODE_EXTRA_CA_CERTS=" + certificate, "CODEX_CA_CERTIFICATE=" + certificate, "NODE_USE_ENV_PROXY=1",
	}
}

func resultOf(dir string, requests []fakellm.Request, out string) (r result) {
	for _, f := range files {
		if _, err := os.Stat(filepath.Join(dir, f)); err == nil {
			r.files++
		}
	}
	for _, request := range requests {
		if asked(request) {
			r.added++
		}
		for i, m := range request.Messages {
			if i < len(request.Messages)-1 && isPrompt(m.Content) {
				r.prompts++
				break
			}
		}
	}
	for line := range strings.Lines(out) {
		if says, ok := strings.CutPrefix(line, "carryon: "); ok {
			r.says = strings.TrimSpace(says)
		}
	}
	return r
}

// versionOf returns the version of the installed npm package, or of the module that the agent's folder requires; "" if
// there is none.
func (r runner) versionOf(a agent) string {
	var installed struct{ Version string }
	text, err := os.ReadFile(filepath.Join(r.agents, "node_modules", a.pkg, "package.json"))
	if err == nil && json.Unmarshal(text, &installed) == nil {
		return installed.Version
	}
	text, err = os.ReadFile(filepath.Join(r.agents, a.command[0], "go.mod"))
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(text), a.pkg+" v")
	version, _, _ := strings.Cut(rest, "\n")
	return version
}

// build builds the command, and the agents that are Go programs.
func (r runner) build(ctx context.Context) error {
	root := filepath.Join(r.agents, "..", "..")
	for program, dir := range map[string]string{
		r.carryon:                    filepath.Join(root, "cmd", "carryon"),
		filepath.Join(r.bin, "eino"): filepath.Join(r.agents, "eino"),
	} {
		c := exec.CommandContext(ctx, "go", "build", "-o", program, ".")
		c.Dir, c.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w\n%s", program, err, out)
		}
	}
	return nil
}
