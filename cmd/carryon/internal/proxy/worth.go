package proxy

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/carryon-go/carryon/cmd/carryon/internal/numbers"
	"github.com/carryon-go/carryon/cmd/carryon/internal/price"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// worth is what continuations were worth, and what they cost.
type worth struct {
	middleware.Worth

	Money         *float64 `json:"money,omitempty"`          // in the currency of -price; nil without it
	MoneyEstimate *float64 `json:"money_estimate,omitempty"` // of what was not sent
}

func worthOf(w middleware.Worth, c *Config) worth {
	p := c.price()
	shown := worth{Worth: w, Money: p.Of(w.Tokens), MoneyEstimate: p.Of(w.Estimate)}
	if w.Unreported > 0 && w.Tokens == (middleware.Tokens{}) {
		shown.Money = nil
	}
	return shown
}

// sentence says what carryon was worth, without the subject.
func (f *figures) sentence(c *Config) string {
	w := worthOf(f.Worth, c)
	parts := make([]string, 0, 3)
	n := &f.Counts
	switch {
	case n.Calls == 0:
		parts = append(parts, "has seen no call of a model yet")
	case w.Resumed == 0 && w.Paused+w.Unwanted() > 0:
		parts = append(parts, w.withoutProgress(n.Listed))
	case w.Resumed > 0:
		parts = append(parts, fmt.Sprintf("resumed %s%s; %s finished after that, for %s",
			numbers.Of(w.Resumed, "stall"), sessions(n.Listed), were(w.Finished, "todo"), w.cost()))
	case w.Questions > 0:
		parts = append(parts, w.asked()+", for "+w.cost()+w.wentOn())
	case w.ChecksFailed > 0 && n.Continuations > 0:
		parts = append(parts, fmt.Sprintf("sent %s because a check failed, for %s", numbers.Of(n.Continuations, "continuation"), w.cost()))
	case n.Continuations > 0:
		parts = append(parts, fmt.Sprintf("sent %s, for %s; what came of that is not known",
			numbers.Of(n.Continuations, "continuation"), w.cost()))
	case w.Unsent > 0, n.Off > 0 && n.Lists == 0:
	case n.Passed+n.Unknown+w.ChecksFailed > 0: // the sentence on the checks says it
		parts = append(parts, "sent nothing, and cost nothing")
	case n.Lists == 0:
		parts = append(parts, fmt.Sprintf("was of no use: %s had no todo list, so there was nothing to continue", numbers.Of(n.Calls, "call")))
	default:
		parts = append(parts, fmt.Sprintf("was not worth it: no turn stalled%s; it sent nothing, and cost nothing",
			sessions(n.Listed)))
	}
	return strings.Join(append(parts, f.others(&w, c)...), "; ")
}

// withoutProgress says that no continuation resumed a stall.
func (w worth) withoutProgress(listed int) string {
	if w.Unwanted() == 0 {
		return fmt.Sprintf("resumed no stall so far%s, for %s", sessions(listed), w.cost())
	}
	return fmt.Sprintf("was not worth it so far: it resumed no stall%s, and used %s", sessions(listed), w.cost())
}

// others says what else there was.
func (f *figures) others(w *worth, c *Config) (parts []string) {
	if w.Resumed+w.Paused+w.Unwanted() > 0 && w.Questions > 0 {
		parts = append(parts, "it "+w.asked()+w.wentOn())
	}
	if w.Paused > 0 {
		parts = append(parts, "the model paused "+times(w.Paused)+" and said why")
	}
	if w.Unwanted() > 0 {
		parts = append(parts, were(w.Unwanted(), "continuation")+" unwanted")
	}
	if w.Unsent > 0 {
		parts = append(parts, w.unsent(c.rules().DryRun))
	}
	if n := f.Counts.Off; n > 0 {
		parts = append(parts, fmt.Sprintf("left %s alone, because continuing was switched off", numbers.Of(n, "call")))
	}
	return parts
}

// unsent says what was not sent.
func (w worth) unsent(dryRun bool) string {
	tokens := "about " + cost(w.Estimate, w.MoneyEstimate)
	if dryRun {
		return fmt.Sprintf("would have sent %s, for %s; that is an estimate of first stalls only, because nobody knows what would have followed",
			numbers.Of(w.Unsent, "continuation"), tokens)
	}
	they := "they"
	if w.Unsent == 1 {
		they = "it"
	}
	return fmt.Sprintf("%s not sent in the control group; %s would have used %s", were(w.Unsent, "continuation"), they, tokens)
}

// sessions says in how many sessions there was a list, or returns "" if no session had a
// name. It counts those of the control group too.
func sessions(n int) string {
	if n == 0 {
		return ""
	}
	return " in " + numbers.Of(n, "session") + " with a todo list"
}

// asked says how often the model was asked the closing question.
func (w worth) asked() string {
	return "asked " + times(w.Questions) + " whether anything was open"
}

// wentOn says what came of the closing questions.
func (w worth) wentOn() string {
	switch {
	case w.Questions == 1 && w.Reopened == 0:
		return ", and the model did not go on"
	case w.Questions == 1:
		return ", and the model went on"
	case w.Reopened == 0:
		return "; the model went on after none of them"
	}
	return "; the model went on after " + numbers.Grouped(w.Reopened) + " of them"
}

// were returns a number of things with the verb "was" or "were".
func were(n int, one string) string {
	if n == 1 {
		return numbers.Of(n, one) + " was"
	}
	return numbers.Of(n, one) + " were"
}

// cost says what continuations have used. What no provider has reported is not nothing.
func (w worth) cost() string {
	switch {
	case w.Unreported == 0:
		return cost(w.Tokens, w.Money)
	case w.Tokens == (middleware.Tokens{}):
		return "an unknown number of tokens"
	}
	return "at least " + cost(w.Tokens, w.Money)
}

// cost returns a number of tokens, and their price if it is known.
func cost(t middleware.Tokens, money *float64) string {
	text := numbers.Of(t.Total(), "token")
	if money != nil {
		text += " (" + price.Dollars(*money) + ")"
	}
	return text
}

// Summary is what a proxy has done so far.
type Summary struct {
	Requests, Turns, Tokens int // all requests; turns that carryon added, and their tokens
	Unreported              int // of these turns, those whose tokens are not known in full
	Calls                   int // requests to a model, among all
	WebSockets, Encoded     int // what passed unread
	Handshakes              int // WebSockets that were refused

	worth   string // what carryon was worth, in a sentence; "" if nothing could have been continued
	soFar   string // the same for all processes whose figures are kept in one place; "" if there were no others
	holdout string // what the comparison with the control group has shown; "" without one
	checks  string // what the commands of -until have said; "" if they were not asked

	List    continuation.List // the list last seen; zero if there was none
	Empty   bool              // there was a list, and it never had a todo
	Paused  bool              // the last call was paused by the model
	NoList  bool              // there were calls with tools, and none had a list
	Problem error             // why the latest call had no readable list, or nil
	Why     string            // why the last turn was not continued; "" if it called a tool, or paused
	NoTools bool              // no call offered tools
	Off     bool              // calls were left alone because continuing was switched off
}

// String returns the summary as one line.
func (s Summary) String() string {
	parts := []string{numbers.Of(s.Requests, "request"), numbers.Of(s.Turns, "continuation")}
	switch l := s.List; {
	case s.Paused:
		parts = append(parts, "paused by the model with "+progressOf(l))
	case l.Todos > 0:
		parts = append(parts, progressOf(l))
	case s.Unused():
		parts = append(parts, "no call of a model seen")
	default:
		parts = append(parts, s.noList())
	}
	parts = append(parts, s.unread()...)
	switch {
	case s.Tokens > 0 && s.Unreported > 0:
		parts = append(parts, "at least "+numbers.Of(s.Tokens, "token")+" added")
	case s.Tokens > 0:
		parts = append(parts, numbers.Of(s.Tokens, "token")+" added")
	case s.Unreported > 0:
		parts = append(parts, "an unknown number of tokens added")
	}
	text := strings.Join(parts, ", ")
	if s.List.Active > 0 && s.Why != "" {
		text += "; the last turn was not continued: " + s.Why
	}
	return text
}

// Sentences say what carryon was worth: in this process, in all whose figures are kept
// in the same place, and in comparison with the control group. The last one says what
// the commands of -until have said.
func (s Summary) Sentences() []string {
	return slices.DeleteFunc([]string{s.worth, s.soFar, s.holdout, s.checks}, func(sentence string) bool { return sentence == "" })
}

// Unused reports whether carryon has seen no call of a model: the agent has asked
// elsewhere, or in a way that carryon cannot read.
func (s Summary) Unused() bool { return s.Calls == 0 && !s.NoList }

// unread says what carryon could not read.
func (s Summary) unread() (parts []string) {
	if s.WebSockets > 0 {
		parts = append(parts, numbers.Of(s.WebSockets, "WebSocket")+" passed unread")
	}
	if s.Encoded > 0 {
		parts = append(parts, numbers.Of(s.Encoded, "encoded body", "encoded bodies")+" passed unread")
	}
	return parts
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
	case s.Off:
		return "continuing was switched off"
	case errors.As(s.Problem, &none) && len(none.Lookalikes) > 0:
		return "no todo list seen (" + adviceOn(none.Lookalikes) + ")"
	case s.NoTools:
		return "no todo list seen (no request offered tools)"
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
	return fmt.Sprintf("%d of %s done", l.Todos-l.Active-l.Unknown(), numbers.Of(l.Todos, "todo"))
}

// lastList is the todo list last seen.
type lastList struct {
	list    continuation.List
	problem error // of the latest call in scope
	empty   bool  // a list without todos was read
	paused  bool
	calls   bool // there was a call in scope
	tools   bool // there was a call with tools
	check   lastCheck
	why     continuation.Reason // of the last turn
}

func (l *lastList) take(o *middleware.Outcome) {
	l.check.take(o)
	if o.Reason == reasons.NoTools {
		return
	}
	l.tools = true
	if !isAside(o.Reason) {
		l.why = o.Reason
	}
	if o.Reason == reasons.ToolCalls && o.List.Todos == 0 {
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

// whyNot says why a turn was not continued. It says nothing of a call of a tool or a
// pause, which the model wanted, and of what a dry run would have sent.
func whyNot(r continuation.Reason) string {
	if r == reasons.None || r == reasons.ToolCalls || r == reasons.Paused || r.Continues() {
		return ""
	}
	text := reasonText(r)
	return strings.ToLower(text[:1]) + text[1:]
}

func (j *journal) summary() Summary {
	j.mu.Lock()
	defer j.mu.Unlock()
	c := &j.own.Counts
	s := Summary{
		Requests: c.Requests, Turns: c.Continuations, Tokens: c.Tokens, Unreported: j.own.Worth.Unreported,
		Calls: c.Calls, WebSockets: c.WebSockets, Encoded: c.Encoded, Handshakes: c.Handshakes,
		List: j.list.list, Empty: j.list.empty, Paused: j.list.paused, Problem: j.list.problem,
		NoList: j.list.calls && j.list.list.Todos == 0 && !j.list.empty,
		Why:    whyNot(j.list.why), NoTools: c.Calls > 0 && !j.list.tools, Off: c.Off > 0,
	}
	s.checks = j.own.checks(j.config.rules().Until, &j.list.check)
	if c.Lists > 0 || c.Continuations > 0 {
		s.worth = j.own.sentence(j.config)
	}
	if j.unkept != nil && j.total.Counts.Requests > c.Requests {
		s.soFar = fmt.Sprintf("since %s: %s", j.total.Began.Format("2 January 2006"), j.total.sentence(j.config))
	}
	if compared := j.total.compare(j.config); compared != nil {
		s.holdout = compared.Verdict
	}
	return s
}
