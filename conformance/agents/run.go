package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/pause"
)

const task = "Build a small web page about tea: index.html, style.css and README.md. Keep a todo list."

// patience is how long an agent may take.
const patience = 3 * time.Minute

// runner runs agents.
type runner struct {
	agents string         // this folder
	bin    string         // the folder of the built programs
	only   *regexp.Regexp // matches the names and kinds of the agents to run
	named  bool           // the vendors' hosts have addresses here; else only a proxy reaches them
	log    io.Writer      // gets the agents' output; nil to drop it
	record string         // the file that gets what a terminal was sent; "" for none
}

// result is the result of a run.
type result struct {
	files   int // written
	added   int // requests that carryon added
	prompts int // requests whose history contains a prompt of carryon's
	says    string
	tools   []string // that the agent has offered, in order
}

// run has an agent work in its own folder, under carryon or without it.
func (r runner) run(ctx context.Context, a agent, under bool) (result, error) {
	w, err := newWorkplace(a, r)
	if err != nil {
		return result{}, err
	}
	defer w.Close()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if a.before {
		r.start(ctx, a, false, w)
		if err := w.reset(); err != nil {
			return result{}, err
		}
	}
	before := len(w.server.Requests())
	out, _ := r.start(ctx, a, under, w)
	return resultOf(w.dir, w.server.Requests()[before:], out), nil
}

// ending is how an agent ends.
type ending struct {
	out  string // what it has printed
	code int    // its exit code
}

// ends has an agent run as [runner.run] does, and returns how it ends.
func (r runner) ends(ctx context.Context, a agent, under bool) (ending, error) {
	w, err := newWorkplace(a, r)
	if err != nil {
		return ending{}, err
	}
	defer w.Close()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	out, code := r.start(ctx, a, under, w)
	return ending{strings.ReplaceAll(out, w.dir, "{HOME}"), code}, nil
}

// start runs an agent to its end, and returns what it printed and its exit code.
func (r runner) start(ctx context.Context, a agent, under bool, w *workplace) (string, int) {
	w.model.ended.Store(false)
	c := exec.CommandContext(ctx, "env", w.filled(command(filepath.Join(r.bin, "carryon"), a, under))...) // env finds the program in the PATH that it gets
	c.WaitDelay = 5 * time.Second
	c.Dir = w.dir
	c.Env = w.filled(append(r.environment(a, w.dir, under), w.network()...))
	var out []byte
	var err error
	if a.onScreen {
		size := wide
		if r.record != "" {
			size = recorded
		}
		out, err = inTerminal(ctx, c, size, w.model.ended.Load)
		if r.record != "" && under {
			err = errors.Join(err, os.WriteFile(r.record, out, 0o600))
		}
		out = controls.ReplaceAll(out, nil)
	} else {
		group(c)
		out, err = c.CombinedOutput()
	}
	if c.Process != nil {
		_ = endGroup(c.Process.Pid) // most have ended
	}
	if r.log != nil {
		_, _ = fmt.Fprintf(r.log, "--- %s: %v\n%s\n", strings.Join(c.Args[1:], " "), err, out)
	}
	return string(out), c.ProcessState.ExitCode()
}

// command returns the program to run, and its arguments.
func command(carryon string, a agent, under bool) []string {
	if !under {
		return a.command
	}
	command := append([]string{carryon, "run"}, a.flags...)
	if a.list {
		command = append(command, "-list")
	}
	return append(append(command, "--"), a.command...)
}

// environment returns the environment of a user who has never run an agent.
func (r runner) environment(a agent, home string, under bool) []string {
	modules := filepath.Join(r.agents, "node_modules")
	path := []string{r.bin, filepath.Join(modules, ".bin"), os.Getenv("PATH")}
	env := append([]string{
		"PATH=" + strings.Join(path, string(os.PathListSeparator)), "HOME=" + home, "NODE_PATH=" + modules,
		"DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "OPENCODE_DISABLE_AUTOUPDATE=1",
	}, a.env...)
	if a.onScreen {
		env = append(env, "TERM=xterm-256color")
	} else {
		env = append(env, "TERM=dumb", "CI=1")
	}
	if under {
		return env
	}
	return append(env, a.alone...)
}

func resultOf(dir string, requests []fakellm.Request, out string) (r result) {
	for _, f := range files {
		if _, err := os.Stat(filepath.Join(dir, f)); err == nil {
			r.files++
		}
	}
	for _, request := range requests {
		r.tools = append(r.tools, request.Tools...)
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
	slices.Sort(r.tools)
	r.tools = slices.DeleteFunc(slices.Compact(r.tools), pause.Is)
	for line := range strings.Lines(out) {
		if _, says, ok := strings.Cut(line, "carryon: "); ok && strings.Contains(says, " request") { // not what continuations were worth
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
	if len(a.command) == 0 {
		return ""
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
		"carryon": filepath.Join(root, "cmd", "carryon"),
		"eino":    filepath.Join(r.agents, "eino"),
	} {
		c := exec.CommandContext(ctx, "go", "build", "-o", filepath.Join(r.bin, program), ".")
		c.Dir, c.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w\n%s", program, err, out)
		}
	}
	return nil
}
