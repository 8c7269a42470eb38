package proxy

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// Summary is what a proxy has done so far.
type Summary struct {
	Requests, Turns, Tokens int // all requests; turns that carryon added, and their tokens

	List    continuation.List // the list last seen; zero if there was none
	Empty   bool              // there was a list, and it never had a todo
	Paused  bool              // the last call was paused by the model
	NoList  bool              // there were calls with tools, and none had a list
	Problem error             // why the latest call had no readable list, or nil
}

// String returns the summary as one line.
func (s Summary) String() string {
	parts := []string{plural(s.Requests, "request"), plural(s.Turns, "continuation")}
	switch l := s.List; {
	case s.Paused:
		parts = append(parts, "paused by the model with "+progressOf(l))
	case l.Todos > 0:
		parts = append(parts, progressOf(l))
	default:
		parts = append(parts, s.noList())
	}
	if s.Tokens > 0 {
		parts = append(parts, fmt.Sprintf("%d tokens added", s.Tokens))
	}
	return strings.Join(parts, ", ")
}

// noList says why there was no list.
func (s Summary) noList() string {
	var unread *todo.UnreadableError
	var none *todo.NoListError
	switch {
	case errors.As(s.Problem, &unread):
		return short(strings.TrimPrefix(unread.Error(), "todo: "), maxText)
	case s.Empty:
		return "the todo list is empty"
	case errors.As(s.Problem, &none) && len(none.Lookalikes) > 0:
		return "no todo list seen (" + adviceOn(none.Lookalikes) + ")"
	}
	return "no todo list seen"
}

// adviceOn says how to name tools that look like todo tools. The client chose their
// names. They become part of a command to type only if no shell sees more in them.
func adviceOn(tools []string) string {
	for _, name := range tools {
		if !plainName.MatchString(name) {
			return "-todo-tools names more tools that write one"
		}
	}
	return "if " + tools[0] + " writes one: -todo-tools " + strings.Join(tools, ",")
}

var plainName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.:-]{0,99}$`)

// progressOf returns how much of a list is done.
func progressOf(l continuation.List) string {
	return fmt.Sprintf("%d of %s done", l.Todos-l.Active-l.Unknown(), plural(l.Todos, "todo"))
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// lastList is the todo list last seen.
type lastList struct {
	list    continuation.List
	problem error // of the latest call in scope
	empty   bool  // a list without todos was read
	paused  bool
	calls   bool // there was a call in scope
}

func (l *lastList) take(o *middleware.Outcome) {
	switch {
	case o.Reason == continuation.ReasonNoTools:
		return
	case o.Reason == continuation.ReasonToolCalls && o.List.Todos == 0:
		return // carryon did not read the list
	}
	l.calls, l.paused, l.problem = true, o.Paused != nil, o.List.Err
	switch {
	case o.List.Todos > 0:
		l.list = o.List
	case o.List.Err == nil && o.List != (continuation.List{}):
		l.empty = true
	}
}

func (j *journal) summary() Summary {
	j.mu.Lock()
	defer j.mu.Unlock()
	return Summary{
		Requests: j.counts.Requests, Turns: j.counts.Continuations, Tokens: j.counts.Tokens,
		List: j.list.list, Empty: j.list.empty, Paused: j.list.paused, Problem: j.list.problem,
		NoList: j.list.calls && j.list.list.Todos == 0 && !j.list.empty,
	}
}
