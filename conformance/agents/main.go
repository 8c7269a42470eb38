// Command agents runs unmodified agents against a scripted model that stalls, once
// as they are and once under "carryon run", and prints a line for each: whether
// they finish their list, what carryon added, and whether they noticed.
//
//	npm ci --prefix conformance/agents
//	make agents
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/carryon-go/carryon/internal/fakellm"
)

const task = "Build a small web page about tea: index.html, style.css and README.md. Keep a todo list."

// patience is how long an agent may take.
const patience = 2 * time.Minute

var dir string //nolint:gochecknoglobals // where the agent under test works, which the model is told by nobody

func workspace(file string) string { return filepath.Join(dir, file) }

func main() {
	only := flag.String("only", "", "run the agents whose `name` contains this")
	carryon := flag.String("carryon", ".bin/carryon", "the `program` to run them with")
	verbose := flag.Bool("v", false, "show what the agents print")
	document := flag.String("write", "", "write the table into this `document`, between its marks")
	flag.Parse()
	program, err := filepath.Abs(*carryon)
	if err != nil {
		panic(err)
	}
	var table strings.Builder
	out := io.MultiWriter(os.Stdout, &table)
	_, _ = fmt.Fprintln(out, "| agent | protocol | files, of 3, without | with | requests without | with | prompts in its history | carryon says |")
	_, _ = fmt.Fprintln(out, "|---|---|---|---|---|---|---|---|")
	failed := false
	for _, a := range agents() {
		if !strings.Contains(a.name, *only) {
			continue
		}
		alone := run(a, "", *verbose)
		with := run(a, program, *verbose)
		_, _ = fmt.Fprintf(out, "| %s | %s | %d | %d | %d | %d | %d | %s |\n",
			a.name+versionOf(a.pkg), a.protocol, alone.files, with.files, alone.requests, with.requests, with.prompts, with.says)
		failed = failed || with.files != len(files) || with.prompts > 0
	}
	if *document != "" {
		if err := write(*document, table.String()); err != nil {
			panic(err)
		}
	}
	if failed {
		os.Exit(1)
	}
}

// The marks between which the table stands in a document.
const (
	begin = "<!-- agents: written by make agents -->\n"
	end   = "<!-- agents: end -->\n"
)

// write puts the table into a document.
func write(document, table string) error {
	text, err := os.ReadFile(document)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(text), begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		return fmt.Errorf("%s has no place for the table", document)
	}
	return os.WriteFile(document, []byte(before+begin+table+end+after), 0o600)
}

// versionOf returns the version of an npm package, as it is installed.
func versionOf(pkg string) string {
	var installed struct{ Version string }
	text, err := os.ReadFile(program(filepath.Join("node_modules", pkg, "package.json")))
	if err != nil || json.Unmarshal(text, &installed) != nil {
		return ""
	}
	return " " + installed.Version
}

// result is what became of a run.
type result struct {
	files    int // written
	requests int // with tools
	prompts  int // requests in whose history a prompt of carryon's stands
	says     string
}

// run has an agent work in a folder of its own, under carryon unless program is "".
func run(a agent, program string, verbose bool) result {
	var err error
	if dir, err = os.MkdirTemp("", "carryon-agents-"); err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // the system's to clean up
	turns := make([]fakellm.Turn, 200)
	for i := range turns {
		turns[i] = fakellm.Func(model{}.respond)
	}
	server := fakellm.Start(turns...)
	defer server.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	command := a.command(server.URL())
	if program != "" {
		command = append([]string{program, "run", "-list", "-upstream", server.URL(), "--"}, a.underCarryon...)
	}
	c := exec.CommandContext(ctx, "env", command...) // which looks for it in the PATH of its own
	c.WaitDelay = 5 * time.Second
	c.Dir = dir
	c.Env = append(environment(server.URL(), program == ""), a.env...)
	out, err := c.CombinedOutput()
	if verbose {
		fmt.Fprintf(os.Stderr, "--- %s: %v\n%s\n", strings.Join(command, " "), err, out)
	}
	return resultOf(server.Requests(), string(out))
}

// environment is that of a user who has never run an agent before.
func environment(url string, direct bool) []string {
	bin, err := filepath.Abs("conformance/agents/node_modules/.bin")
	if err != nil {
		panic(err)
	}
	env := []string{
		"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + dir, "TERM=dumb", "CI=1",
		"OPENAI_API_KEY=sk-none", "ANTHROPIC_API_KEY=sk-ant-none", "OPENAI_MODEL=some-model",
		"NODE_PATH=" + filepath.Dir(bin), "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "OPENCODE_DISABLE_AUTOUPDATE=1",
	}
	if direct {
		env = append(env, "OPENAI_BASE_URL="+url, "ANTHROPIC_BASE_URL="+strings.TrimSuffix(url, "/v1"))
	}
	return env
}

func resultOf(requests []fakellm.Request, out string) (r result) {
	for _, f := range files {
		if _, err := os.Stat(workspace(f)); err == nil {
			r.files++
		}
	}
	for _, request := range requests {
		if len(request.Tools) > 0 {
			r.requests++
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
