package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/carryon-go/carryon/internal/testkit/fakellm"
)

// claimants are the agents that are run with a model that claims to be done too early, twice. Under "carryon run -until"
// they finish all the same, and an end of a sub-agent does not ask the command.
var claimants = []string{ //nolint:gochecknoglobals // a table
	"Claude Code, TodoWrite", "Codex, gpt-5", "opencode, a key of OpenAI's", "qwen-code, Coding Plan", "gemini-cli, Gemini 2",
}

// until is the command that says whether the work is done. It writes down that it was asked.
const until = `echo asked >> asked; for f in index.html style.css README.md; do test -e $f || { echo "$f is missing"; exit 1; }; done`

// claimTable prints a line for each of them. It reports whether one has not finished, or was asked in a wrong place.
func (r runner) claimTable(ctx context.Context, w io.Writer) (wrong bool, err error) {
	if _, err := fmt.Fprintln(w, "\n| agent that claims to be done twice too early | sub-agents | files, of 3 | the command was asked | carryon says |\n|---|---|---|---|---|"); err != nil {
		return false, err
	}
	for _, a := range allAgents() {
		version := r.versionOf(a)
		if version == "" || !slices.Contains(claimants, a.name) || !r.only.MatchString("claims "+a.name) {
			continue
		}
		a.claims, a.flags = true, append(slices.Clone(a.flags), "-until", until)
		failed, err := r.claimRow(ctx, w, a, version)
		if err != nil {
			return false, err
		}
		wrong = wrong || failed
	}
	return wrong, nil
}

func (r runner) claimRow(ctx context.Context, w io.Writer, a agent, version string) (wrong bool, err error) {
	place, err := newWorkplace(a, r)
	if err != nil {
		return false, err
	}
	defer place.Close()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	out, _ := r.start(ctx, a, true, place)
	got := resultOf(place.dir, place.server.Requests(), out)
	asked, _ := os.ReadFile(filepath.Join(place.dir, "asked")) // there is none if it was not asked
	times := strings.Count(string(asked), "asked\n")
	subs := int(place.model.subs.Load())
	said := ""
	for line := range strings.Lines(out) {
		if _, words, ok := strings.Cut(line, "` failed "); ok {
			said = "failed " + strings.TrimSpace(words)
		}
	}
	wrong = got.files != len(files) || times != len(files) || said != "failed twice, then passed" || got.prompts > 0
	if wrong {
		log.Printf("%s: %s", a.name, out)
	}
	_, err = fmt.Fprintf(w, "| %s %s | %d | %d | %d | %s |\n", a.name, version, subs, got.files, times, said)
	return wrong, err
}

// Words of the sub-agent: its task, and what it says at its end.
const (
	subTask = "Look which files of the web page are there by now, and report their names."
	subSaid = "None of the files is there yet."
)

// claim is the next step of a model that claims to be done after each file. First of all it sends a sub-agent to look,
// if it can.
func (m *model) claim(r fakellm.Request) (turn fakellm.Turn, ended bool) {
	if isSub(r) {
		return m.look(r)
	}
	written := m.written(r)
	if name, arguments := delegation(r); name != "" && count(r, name, subTask) == 0 {
		return call(name, arguments), false
	}
	if written > 0 {
		if update, ok := updateList(r, len(files)); ok {
			return update, false
		}
		if !asked(r) || written == len(files) {
			return said(fmt.Sprintf("All done: the page, its styles and the README. I have checked %d times that all is there.", written)), true
		}
	}
	return m.write(r, files[written]), false
}

// look is the next step of a sub-agent: it writes down what it sees, and reports.
func (m *model) look(r fakellm.Request) (turn fakellm.Turn, ended bool) {
	if !slices.ContainsFunc(callsOf(r), func(c fakellm.ToolCall) bool { return strings.Contains(c.Arguments, "notes.txt") }) {
		if write, ok := m.writerOf(r.Tools); ok {
			return call(write.name, write.arguments("notes.txt")), false
		}
	}
	m.subs.Add(1)
	return said(subSaid), true
}

// isSub reports whether a sub-agent asks: the task is a message of its user, and no argument of a call.
func isSub(r fakellm.Request) bool {
	return slices.ContainsFunc(r.Messages, func(m fakellm.Message) bool { return m.Role == "user" && strings.Contains(m.Content, subTask) })
}

// delegation returns the call that starts a sub-agent, with "" where the agent has no tool for that.
func delegation(r fakellm.Request) (name, arguments string) {
	kinds := map[string]string{"Task": "general-purpose", "Agent": "general-purpose", "task": "general", "agent": "general-purpose"}
	for _, tool := range r.Tools {
		if kind, ok := kinds[tool]; ok {
			return tool, toJSON(map[string]any{"description": "Look at the files", "prompt": subTask, "subagent_type": kind, "run_in_background": false})
		}
	}
	return "", ""
}
