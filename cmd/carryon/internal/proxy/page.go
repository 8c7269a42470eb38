package proxy

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/origins"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// The page is a static file without data: its script fetches the JSON and shows it.
//
//go:embed web/page.html
var pageHTML string

//go:embed web/page.css
var pageStyle string

// The script is written in several files, each of which uses those before it.
var (
	//go:embed web/dom.js
	pageDOM string
	//go:embed web/words.js
	pageWords string
	//go:embed web/chart.js
	pageChart string
	//go:embed web/holdout.js
	pageHoldout string
	//go:embed web/download.js
	pageDownload string
	//go:embed web/page.js
	pageScript string
)

// page is the HTML of the page, and its Content-Security-Policy, which allows only
// the page's own style and script.
type page struct {
	html   []byte
	policy string
}

func newPage() *page {
	script := "\"use strict\";\n" + pageDOM + pageWords + pageChart + pageHoldout + pageDownload + pageScript
	html := strings.NewReplacer("/* style */", pageStyle, "/* script */", script).Replace(pageHTML)
	return &page{[]byte(html), "default-src 'none'; connect-src 'self'; img-src data:; style-src " + hashOf(pageStyle) +
		"; script-src " + hashOf(script) + "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"}
}

// hashOf returns the policy source that allows exactly this text. 'self' would allow
// too much: files of the upstream have the same origin as the page.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// ServeHTTP shows the journal: as a page, or as JSON with ?format=json.
func (j *journal) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header, query := w.Header(), r.URL.Query()
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	if query.Get("format") != "json" {
		header.Set("Content-Type", "text/html; charset=utf-8")
		header.Set("Content-Security-Policy", j.page.policy)
		_, _ = w.Write(j.page.html) // the browser may be gone
		return
	}
	after, err := strconv.ParseUint(query.Get("after"), 10, 64)
	if err != nil && query.Has("after") {
		refuse(w, r, http.StatusBadRequest, "after must be the revision of an earlier answer")
		return
	}
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	if !query.Has("after") { // a person asks
		encoder.SetIndent("", "  ")
	}
	if err := encoder.Encode(j.report(after)); err != nil {
		refuse(w, r, http.StatusInternalServerError, err.Error())
		return
	}
	header.Set("Content-Type", "application/json")
	_, _ = body.WriteTo(w) // the browser may be gone
}

// report is the data of the page, and the body of ?format=json.
type report struct {
	Process  string         `json:"process"` // tells this process from others
	Began    time.Time      `json:"began"`   // of the figures
	Now      time.Time      `json:"now"`
	Revision uint64         `json:"revision"` // ?after= returns what has changed since then
	Oldest   int            `json:"oldest"`   // the number of the oldest request that is kept
	Newest   int            `json:"newest"`
	Settings settings       `json:"settings"`
	Sentence string         `json:"sentence"` // what carryon was worth
	Counts   counts         `json:"counts"`
	Worth    worth          `json:"worth"`
	Holdout  *comparison    `json:"holdout,omitempty"` // nil without a control group
	Chart    chart          `json:"chart"`
	Sessions []shownSession `json:"sessions"` // in no order
	Entries  []shown        `json:"requests"` // newest first
}

// settings are the settings that the page shows.
type settings struct {
	Upstreams []string `json:"upstreams"`
	Content   bool     `json:"content"`
	DryRun    bool     `json:"dry_run"`
	Holdout   float64  `json:"holdout,omitempty"` // share of the sessions

	Continuing bool      `json:"continuing"`
	OffSince   time.Time `json:"off_since,omitzero"` // when continuing was switched off
	Kept       string    `json:"kept,omitempty"`     // where the figures are kept: in a "file" or in the "state"
}

// shownSession is a session as the page shows it.
type shownSession struct {
	ID string `json:"id"`
	sessionFigures

	Pause string   `json:"pause,omitempty"` // the reason of the last pause
	Money *float64 `json:"money,omitempty"` // of the continuations
}

// shown is an entry as the page shows it.
type shown struct {
	exchange

	State         state       `json:"state"`
	Took          float64     `json:"took_ms,omitempty"` // 0 until it ends
	Continuations int         `json:"continuations,omitempty"`
	Tokens        int         `json:"tokens_added,omitempty"`
	Outcome       *outcome    `json:"outcome,omitempty"`
	Turns         []shownTurn `json:"turns,omitempty"`
}

// state is how a request ended.
type state string

const (
	stateOpen      state = "open"
	stateFailed    state = "failed" // the answer, or a continuation
	statePaused    state = "paused"
	stateLimit     state = "limit" // a budget is used up
	stateContinued state = "continued"
	stateDryRun    state = "dry_run" // it would have been continued
	stateHoldout   state = "holdout" // likewise
	statePassed    state = "passed"  // carryon added nothing
)

// outcome is a [middleware.Outcome] as text. It shares no memory with the request.
type outcome struct {
	Code        string     `json:"code"`
	Reason      string     `json:"reason"`
	Explanation string     `json:"explanation"`
	LeftAlone   bool       `json:"left_alone,omitempty"` // not a model call that carryon can read
	DryRun      bool       `json:"dry_run,omitempty"`
	Holdout     bool       `json:"holdout,omitempty"` // the session is held out
	Error       string     `json:"error,omitempty"`
	List        *shownList `json:"list,omitempty"`
	Called      []string   `json:"tools_called,omitempty"` // if there is no list
	Lookalikes  []string   `json:"tools_alike,omitempty"`  // those of Called that look like a todo tool
	reason      continuation.Reason
	paused      bool
}

// shownList is a todo list as the page shows it.
type shownList struct {
	Todos         int    `json:"todos"`
	Active        int    `json:"active"`
	Completed     int    `json:"completed"`
	Cancelled     int    `json:"cancelled"`
	Unknown       int    `json:"unknown,omitempty"`
	UnknownStatus string `json:"unknown_status,omitempty"`
	Source        string `json:"source"`
	Place         string `json:"place"`
	Text          string `json:"text"`
}

// shownTurn is a call to the model as the page shows it.
type shownTurn struct {
	Number    int         `json:"number"`            // 1 is the client's
	Attempt   int         `json:"attempt,omitempty"` // 0 for the client's
	Asked     bool        `json:"asked,omitempty"`   // the closing question began it
	Todo      string      `json:"todo,omitempty"`    // what the model was asked to carry on with
	Result    result      `json:"result,omitempty"`  // "" until it ends
	Finish    string      `json:"finish,omitempty"`
	ToolCalls int         `json:"tool_calls,omitempty"`
	Usage     *shownUsage `json:"usage,omitempty"` // nil if none was reported
	Took      float64     `json:"took_ms,omitempty"`
	Waited    float64     `json:"waited_ms,omitempty"` // before it, to keep the interval
	Failure   string      `json:"failure,omitempty"`
	Decision  *decision   `json:"decision,omitempty"`
	Notes     []note      `json:"notes,omitempty"`
}

// shownUsage is the tokens of a turn.
type shownUsage struct {
	Prompt     int `json:"prompt"`
	Cached     int `json:"cached"` // of the prompt
	Completion int `json:"completion"`
	Reasoning  int `json:"reasoning"` // of the completion
	Total      int `json:"total"`
}

// decision is the last decision on a turn.
type decision struct {
	GoOn   bool   `json:"go_on"`
	DryRun bool   `json:"dry_run,omitempty"`
	Code   string `json:"code"`
	Reason string `json:"reason"`
}

// report returns the totals, and the entries that have changed since a revision.
func (j *journal) report(after uint64) report {
	r, changed := j.copies(after)
	r.Settings = settings{Upstreams: upstreamsOf(j.config), Content: j.config.Content, DryRun: j.config.rules().DryRun, Kept: j.config.kept()}
	r.Settings.OffSince = j.config.offSince()
	r.Settings.Continuing = r.Settings.OffSince.IsZero()
	r.Settings.Holdout, _ = j.config.rules().share() // Check has looked at it
	r.Entries = make([]shown, len(changed))
	for i := range changed {
		r.Entries[i] = changed[i].show()
	}
	return r
}

// copies returns a report without entries, and copies of the changed entries. It
// holds the lock no longer than the copying takes.
func (j *journal) copies(after uint64) (report, []entry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.watched = true
	r := report{
		Process: j.process, Began: j.total.Began, Now: j.config.now(), Revision: j.revision, Newest: j.number,
		Sentence: j.total.sentence(j.config), Counts: j.total.Counts, Worth: worthOf(j.total.Worth, j.config),
		Holdout: j.total.compare(j.config), Chart: j.total.Chart.clone(), Sessions: j.total.changedSince(after, j.config),
	}
	if len(j.entries) > 0 {
		r.Oldest = j.entries[0].Number
	}
	var changed []entry
	for _, e := range slices.Backward(j.entries) {
		if e.revision <= after {
			continue
		}
		c := *e
		c.turns = slices.Clone(e.turns)
		for i := range c.turns {
			c.turns[i].notes = slices.Clip(c.turns[i].notes) // notes are added and never changed
		}
		changed = append(changed, c)
	}
	return r, changed
}

// changedSince returns the sessions that have changed since a revision.
func (f *figures) changedSince(after uint64, c *Config) []shownSession {
	changed := []shownSession{}
	for id, one := range f.Sessions {
		if one.revision > after {
			changed = append(changed, shownSession{ID: id, sessionFigures: one, Pause: one.pause, Money: worthOf(one.Worth, c).Money})
		}
	}
	return changed
}

// upstreamsOf returns the upstreams as they may be shown.
func upstreamsOf(c *Config) []string {
	urls := make([]*url.URL, 0, 1+len(c.Routes))
	urls = append(urls, c.Upstream)
	for i := range c.Routes {
		urls = append(urls, c.Routes[i].url)
	}
	all := []string{}
	for _, upstream := range urls {
		if upstream == nil {
			continue
		}
		if text := shownURL(upstream); !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}

// show returns the entry as the page shows it.
func (e *entry) show() shown {
	s := shown{exchange: e.exchange, State: e.state(), Continuations: max(0, len(e.turns)-1)}
	if !e.Ended.IsZero() {
		s.Took = milliseconds(max(0, e.Ended.Sub(e.Began)))
	}
	if e.outcome.Code != "" {
		s.Outcome = &e.outcome
	}
	if e.unread() {
		return s
	}
	for i := range e.turns {
		t := &e.turns[i]
		s.Turns = append(s.Turns, t.show(i+1))
		if i > 0 {
			s.Tokens += t.usage.Tokens()
		}
	}
	return s
}

// unread reports whether carryon decided on a call without reading its answer.
func (e *entry) unread() bool {
	return !e.Ended.IsZero() && len(e.turns) == 1 && e.turns[0].ended.IsZero() && len(e.turns[0].notes) == 0
}

// state returns how the request ended.
func (e *entry) state() state {
	if e.Ended.IsZero() {
		return stateOpen
	}
	last := len(e.turns) - 1
	switch {
	case last > 0 && e.turns[last].result() == resultFailed || e.Bad() && !e.Left:
		return stateFailed
	case e.outcome.paused || e.outcome.reason == reasons.Paused:
		return statePaused
	case e.outcome.reason.Exhausted():
		return stateLimit
	case last > 0:
		return stateContinued
	case e.outcome.DryRun && e.outcome.reason.Continues():
		return stateDryRun
	case e.outcome.reason == reasons.Holdout:
		return stateHoldout
	}
	return statePassed
}

func (t *turn) show(number int) shownTurn {
	s := shownTurn{
		Number: number, Attempt: t.attempt, Asked: t.asked, Todo: t.todo, Result: t.result(), Finish: t.finish, ToolCalls: t.toolCalls,
		Waited: milliseconds(t.waited), Failure: t.failure, Notes: t.notes,
	}
	if !t.ended.IsZero() {
		s.Took = milliseconds(max(0, t.ended.Sub(t.began)))
	}
	if t.usage != (adapter.Usage{}) {
		s.Usage = &shownUsage{t.usage.Prompt, t.usage.Cached, t.usage.Completion, t.usage.Reasoning, t.usage.Tokens()}
	}
	if t.decided {
		s.Decision = &decision{t.goOn, t.dryRun, t.reason.Code(), reasonText(t.reason)}
	}
	return s
}

// webSocketOutcome is the outcome of a request that became a WebSocket.
var webSocketOutcome = outcome{ //nolint:gochecknoglobals // constant
	Code: "web_socket", Reason: "A WebSocket", Explanation: "A WebSocket, which carryon does not read", LeftAlone: true,
}

// outcome returns an outcome as text.
func (j *journal) outcome(e *entry, o *middleware.Outcome) outcome {
	shown := outcome{
		Code: o.Reason.Code(), Reason: reasonText(o.Reason), Explanation: explanation(o), LeftAlone: isNoCall(o.Reason), DryRun: o.DryRun,
		Holdout: o.Holdout,
		reason:  o.Reason, paused: o.Paused != nil,
	}
	if o.Err != nil {
		text, quoted := j.cause(o.Err)
		shown.Error = e.quote(text, quoted)
	}
	if o.List != (continuation.List{}) {
		shown.see(&o.List)
	}
	return shown
}

// asFlags replaces the Go options that explanations recommend by the proxy's flags, and the
// engine's words by the command's.
var asFlags = sync.OnceValue(func() *strings.Replacer { //nolint:gochecknoglobals // constant
	return strings.NewReplacer(
		"todo.WithToolNames", "-todo-tools", "give carryon the list with todo.ProviderFunc", "carryon cannot follow it; -ask goes without a list",
		"ApprovalYOLO or Handback.Questions", "-yolo or -questions continue", "Handback.Untouched", "-untouched continue",
		reasons.Disabled.String(), switchedOff,
	)
})

const switchedOff = "Continuing is switched off"

// reasonText returns the text of a reason. No reason names an option, so it needs no
// search, which every request would pay for.
func reasonText(r continuation.Reason) string {
	if r == reasons.Disabled {
		return switchedOff
	}
	return r.String()
}

// explanation returns the outcome's explanation, with the proxy's flags in place of
// the Go options that it recommends.
func explanation(o *middleware.Outcome) string {
	return short(asFlags().Replace(o.Explanation()), maxText)
}

// see adds the todo list, or the tools that were called instead.
func (o *outcome) see(l *continuation.List) {
	var none *todo.NoListError
	if errors.As(l.Err, &none) {
		o.Called, o.Lookalikes = names(none.Called), names(none.Lookalikes)
	}
	if l.Err != nil {
		return
	}
	o.List = &shownList{
		Todos: l.Todos, Active: l.Active, Completed: l.Completed, Cancelled: l.Cancelled, Unknown: l.Unknown(),
		UnknownStatus: strings.Clone(short(string(l.UnknownStatus), maxName)), Source: short(l.Origin.String(), maxName), Place: cmp.Or(l.Origin.Place, origins.Program),
		Text: short(l.String(), maxText),
	}
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// names returns copies of tool names, which share no memory with the request.
func names(tools []string) []string {
	all := make([]string, 0, len(tools))
	for _, name := range tools {
		all = append(all, strings.Clone(short(name, maxName)))
	}
	return all
}
