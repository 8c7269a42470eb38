package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/sashabaranov/go-openai"

	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/pause"
	"github.com/carryon-go/carryon/todo"
)

const (
	room      = width - len("   STOPPED  ") // columns to the right of a label
	maxText   = 160                         // characters of a text in the report
	maxPrompt = 4                           // lines shown of a prompt
	maxRows   = 12                          // todos in the table
)

// report prints what happens in the runs and how they compare.
type report struct {
	w       io.Writer
	err     error // of the first write that failed
	prompts int   // printed so far
}

func (r *report) printf(format string, args ...any) {
	if r.err == nil {
		_, r.err = fmt.Fprintf(r.w, format+"\n", args...)
	}
}

func (r *report) title(s setup) {
	r.printf("An agent with a todo list, run twice: without carryon, and with it.")
	for _, line := range wrap(cut(s.title, maxText)+" It is told: "+quote(s.task), width) {
		r.printf("%s", line)
	}
}

func (r *report) heading(text string) {
	r.printf("\n%s", text)
}

// entry prints a text to the right of a label.
func (r *report) entry(label, text string) {
	for i, line := range wrap(text, room) {
		if i > 0 {
			label = ""
		}
		r.printf("%s", strings.TrimRight(fmt.Sprintf("   %-7s  %s", label, line), " "))
	}
}

// exchange prints a request and its answer as soon as the answer has arrived.
func (r *report) exchange(e exchange) {
	if e.added {
		r.prompt(e)
	}
	if e.failure != "" {
		r.entry("failed", cut(e.failure, maxText))
	}
	if e.text != "" {
		r.entry("model", quote(e.text))
	}
	calls := make([]string, 0, len(e.calls))
	for _, call := range e.calls {
		calls = append(calls, describe(call))
	}
	if len(calls) > 0 {
		r.entry("model", strings.Join(calls, ", "))
	}
}

// prompt prints what carryon sent: the beginning of the first prompt, and only the todo of later ones.
func (r *report) prompt(e exchange) {
	lines := strings.Split(e.prompt, "\n")
	r.prompts++
	if r.prompts > 1 {
		r.entry("carryon", "asks again: "+quotedIn(lines))
		return
	}
	asks := "asks the model to carry on"
	if slices.Contains(e.offers, pause.ToolName) {
		asks += ", or to call " + pause.ToolName + " if it cannot"
	}
	r.entry("carryon", asks+":")
	for _, line := range lines[:min(maxPrompt, len(lines))] {
		r.entry("", "| "+cut(line, room-len("| ")))
	}
	if rest := len(lines) - maxPrompt; rest > 0 {
		r.entry("", fmt.Sprintf("| (and %s)", count(rest, "more line")))
	}
}

// quotedIn returns the line of a prompt that quotes the todo.
func quotedIn(lines []string) string {
	i := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "'") })
	return cut(lines[max(i, 0)], room-len("asks again: "))
}

// end prints how a run ended, and why.
func (r *report) end(run result) {
	label, text := "STOPPED", left(run.todos)
	switch {
	case run.outcome.Paused != nil:
		label = "PAUSED"
	case len(run.todos) == 0:
		label, text = "ENDED", "there is no todo list"
	case openTodos(run.todos) == 0:
		label = "DONE"
	case !run.outcome.Ended:
		text += `: you would have to type "continue"`
	}
	r.entry(label, text)
	if run.outcome.Ended {
		r.entry("", "carryon: "+why(run.outcome))
	}
}

// why says why carryon stopped.
func why(o middleware.Outcome) string {
	text := o.Reason.String()
	if o.Paused != nil {
		text += ": " + o.Paused.Reason
	}
	if o.Err != nil {
		text += ": " + cut(o.Err.Error(), maxText)
	}
	return text
}

// table prints the two runs side by side.
func (r *report) table(without, with result) {
	r.printf("")
	r.row("", "WITHOUT", "WITH CARRYON")
	todos := contents(without.todos, with.todos)
	for _, content := range todos[:min(maxRows, len(todos))] {
		r.row(content, statusIn(without.todos, content), statusIn(with.todos, content))
	}
	if rest := len(todos) - maxRows; rest > 0 {
		r.row("... and "+count(rest, "more todo"), "", "")
	}
	facts := func(name string, of func(result) int) { r.row(name, of(without), of(with)) }
	facts("files written", func(run result) int { return run.files })
	facts("requests by the agent", func(run result) int { return len(run.exchanges) - added(run) })
	facts("requests added by carryon", added)
	facts("messages in the history", func(run result) int { return len(run.history) })
	facts("- from the user", fromUser)
	facts("- with a prompt of carryon", held)
	if added(with) == 0 {
		r.printf("\ncarryon never had to ask the model to carry on.")
	}
}

func (r *report) row(name string, without, with any) {
	r.printf("%s", strings.TrimRight(fmt.Sprintf("   %-38s  %-12v  %v", cut(name, 38), without, with), " "))
}

// contents returns the contents of all todos on the lists, without repeats.
func contents(lists ...[]todo.Todo) []string {
	var all []string
	for _, t := range slices.Concat(lists...) {
		if !slices.Contains(all, t.Content) {
			all = append(all, t.Content)
		}
	}
	return all
}

func statusIn(todos []todo.Todo, content string) string {
	i := slices.IndexFunc(todos, func(t todo.Todo) bool { return t.Content == content })
	if i < 0 {
		return "-"
	}
	return cut(string(todos[i].Status), 12)
}

func openTodos(todos []todo.Todo) int {
	n := 0
	for _, t := range todos {
		if t.Status.Active() {
			n++
		}
	}
	return n
}

// added returns the number of requests that carryon made.
func added(run result) int {
	n := 0
	for _, e := range run.exchanges {
		if e.added {
			n++
		}
	}
	return n
}

// fromUser returns the number of messages in the agent's history whose role is
// the user's.
func fromUser(run result) int {
	n := 0
	for _, m := range run.history {
		if m.Role == openai.ChatMessageRoleUser {
			n++
		}
	}
	return n
}

// held returns the number of messages in the agent's history that contain a prompt of carryon's.
func held(run result) int {
	n := 0
	for _, m := range run.history {
		if slices.ContainsFunc(run.exchanges, func(e exchange) bool {
			return e.added && e.prompt != "" && strings.Contains(m.Content, e.prompt)
		}) {
			n++
		}
	}
	return n
}

// describe returns a tool call in a few words.
func describe(call openai.FunctionCall) string {
	var given struct{ Path, Reason string }
	_ = json.Unmarshal([]byte(call.Arguments), &given) // broken arguments are left out
	switch {
	case call.Name == todo.WriteTool().Name:
		list, err := todo.ParseList(call.Arguments)
		if err != nil {
			return call.Name + " (unreadable)"
		}
		return call.Name + " (" + left(list) + ")"
	case pause.Is(call.Name):
		return call.Name + ": " + quote(given.Reason)
	}
	return cut(call.Name+" "+given.Path, maxText)
}

// left says how many todos are open.
func left(todos []todo.Todo) string {
	return fmt.Sprintf("%d of %s open", openTodos(todos), count(len(todos), "todo"))
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
