package middleware

import (
	"context"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/reading"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/todo"
)

type explainKey struct{}

// explainer writes what carryon sees in requests.
type explainer struct {
	mu sync.Mutex
	w  io.Writer
}

// Explain returns a ctx under which carryon writes to w what it sees in each request:
// the tools, the session, the todo list with its statuses, and what it would decide if
// the model stopped now. Use it to find out why carryon does nothing:
//
//	ctx = middleware.Explain(ctx, os.Stderr)
//
// carryon writes once per request, before it sends the request, so the request need not
// even reach a model. It asks the todo source one more time for this. Writes do not
// overlap, and errors of w are ignored. The text quotes the todos, with and without
// [WithLogContent]. Explain panics if ctx or w is nil.
//
// Experimental: the form of the text may change.
func Explain(ctx context.Context, w io.Writer) context.Context {
	mustHave(ctx)
	if isNil(w) {
		panic("carryon/middleware: nil writer")
	}
	return context.WithValue(ctx, explainKey{}, &explainer{w: w})
}

// explaining returns the explainer of ctx, or nil.
func explaining(ctx context.Context) *explainer {
	x, _ := ctx.Value(explainKey{}).(*explainer)
	return x
}

func (x *explainer) write(text string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	_, _ = io.WriteString(x.w, text) // the reader sees that the text is missing
}

// explanation is a text about a request: lines with a name and a value.
type explanation struct{ strings.Builder }

func newExplanation() *explanation {
	e := new(explanation)
	e.WriteString("carryon sees this request:\n")
	return e
}

func (e *explanation) line(name, format string, args ...any) {
	_, _ = fmt.Fprintf(e, "  %-9s"+format+"\n", append([]any{name}, args...)...) // a Builder does not fail
}

// request writes what the request itself shows.
func (e *explanation) request(session string, r *adapter.Request) {
	if session == "" {
		session = "none (see continuation.WithSession): budgets count within one tool loop, and pauses are not kept"
	} else {
		session = strconv.Quote(session)
	}
	e.line("session", "%s", session)
	e.line("tools", "%d offered%s", r.Tools, listed(r.ToolNames))
	if called := calledTools(reading.CallsOf(r.History)); called != nil {
		e.line("called", "%s, newest first", strings.Join(called, ", "))
	} else {
		e.line("called", "no tool so far")
	}
}

// list writes the todo list.
func (e *explanation) list(v *decision.Verdict, read *readList) {
	if read.err != nil {
		e.line("list", "%s", (&continuation.List{Err: read.err}).String())
		return
	}
	found := decision.Count(read.todos)
	e.line("list", "%s (from %s)", found, read.origin)
	for i := range read.todos {
		t := &read.todos[i]
		mark := " "
		if v.Todo == *t {
			mark = ">"
		}
		status, known := todo.ParseStatus(string(t.Status))
		if !known {
			status = todo.Status(strconv.Quote(string(t.Status)) + " is not known")
		}
		e.line("", "%s %-11s %s", mark, status, t.Content)
	}
}

// decision writes what carryon would decide if the model stopped now.
func (e *explanation) decision(v *decision.Verdict) {
	const now = "if the model stops now: "
	wait := v.IntervalLeft.Round(10 * time.Millisecond)
	switch {
	case v.Continue && v.ClosingQuestion:
		e.line("decision", now+"ask whether anything is still open")
	case v.Continue:
		e.line("decision", now+"carry on with %q, attempt %d", v.Todo.Content, v.Attempt)
	case v.Reason == reasons.TooSoon && v.ClosingQuestion:
		e.line("decision", now+"ask whether anything is still open, after %v", wait)
	case v.Reason == reasons.TooSoon:
		e.line("decision", now+"carry on with %q after %v", v.Todo.Content, wait)
	default:
		o := Outcome{Reason: v.Reason, List: v.List, Limit: v.Limit, Rule: v.LimitRule, Awaited: v.Awaited}
		e.line("decision", now+"do nothing: %s", o.Explanation())
	}
}

// listed returns the names of the tools, after a colon.
func listed(tools adapter.ToolNamer) string {
	if tools == nil {
		return ""
	}
	all := slices.Collect(tools.ToolNames)
	if len(all) == 0 {
		return ""
	}
	return ": " + strings.Join(all, ", ")
}

// calledTools returns the tools that the history calls, newest first and each
// once.
func calledTools(history iter.Seq[todo.Call]) []string {
	if history == nil {
		return nil
	}
	var names []string
	seen := map[string]bool{}
	for call := range history {
		if !seen[call.Name] {
			seen[call.Name] = true
			names = append(names, call.Name)
		}
	}
	return names
}
