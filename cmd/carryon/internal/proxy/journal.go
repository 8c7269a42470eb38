package proxy

import (
	"context"
	"html/template"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
)

// maxEntries is how many requests the journal keeps.
const maxEntries = 100

// journal records what carryon did with the latest requests.
type journal struct {
	config *Config
	page   *template.Template

	mu      sync.Mutex
	began   time.Time
	counts  counts
	entries []*entry // oldest first
	list    lastList
}

// counts are the totals since the proxy started.
type counts struct {
	Requests  int `json:"requests"`         // to any path of the upstream
	Calls     int `json:"chat_completions"` // among those requests
	Turns     int `json:"turns_added"`      // requests that carryon added
	Tokens    int `json:"tokens_added"`     // reported by the upstream for those
	Pauses    int `json:"pauses"`           // by the model
	Refused   int `json:"pauses_refused"`   // for their reason
	Exhausted int `json:"budgets_used_up"`
	Failed    int `json:"failures_absorbed"` // failures that no client noticed
}

func newJournal(c *Config) *journal {
	return &journal{config: c, page: template.Must(template.New("page").Parse(pageHTML)), began: time.Now()}
}

// begin adds an entry for a request.
func (j *journal) begin(r *http.Request) *entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.counts.Requests++
	e := &entry{
		Number: j.counts.Requests, Began: time.Now(),
		Method: short(r.Method, maxName), Path: short(r.URL.Path, maxName),
		Session: short(sessionOf(r.Header, j.config.SessionHeader), maxName),
		secrets: &secrets{header: r.Header, query: r.URL.RawQuery, upstream: j.config.Upstream},
	}
	if len(j.entries) == maxEntries {
		j.entries = slices.Delete(j.entries, 0, 1)
	}
	j.entries = append(j.entries, e)
	return e
}

// answered records the status of the answer to a request.
func (j *journal) answered(r *http.Request, status int) {
	j.change(r.Context(), func(e *entry) { e.Status = status })
}

// end records the end of a request and returns a copy of its entry.
func (j *journal) end(e *entry, whole bool, outcomes *middleware.Outcomes) entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	e.Ended, e.Cut, e.secrets = time.Now(), !whole, nil
	for _, o := range outcomes.All() { // one, if carryon looked at it
		if e.Outcome = o.Explanation(); isNoCall(o.Reason) {
			continue
		}
		e.Turns = o.Turns
		if o.DryRun {
			e.Outcome += " (dry run)"
		}
		for _, usage := range o.Usage[min(1, len(o.Usage)):] {
			e.Tokens += usage.Tokens()
		}
		j.list.take(&o)
		j.counts.Calls++
		j.counts.Turns += o.Attempts
	}
	j.counts.Tokens += e.Tokens
	return *e
}

// isNoCall reports whether a request was left alone because it is none to a model
// that carryon can read.
func isNoCall(r continuation.Reason) bool {
	return continuation.ReasonPath <= r && r <= continuation.ReasonUnreadable
}

// note adds an event to the entry of ctx: a text of the proxy's own, and what
// others wrote.
func (j *journal) note(ctx context.Context, place continuation.TurnID, kind kind, text, quoted string) {
	j.change(ctx, func(e *entry) { e.add(event{Turn: place.Turn, Kind: kind, Text: text}, quoted) })
}

func (j *journal) change(ctx context.Context, change func(*entry)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if e, ok := ctx.Value(entryKey{}).(*entry); ok {
		change(e)
	}
}

// count changes the counts.
func (j *journal) count(change func(*counts)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	change(&j.counts)
}

// report is a copy of the journal for the page.
type report struct {
	Began   time.Time `json:"began"`
	Counts  counts    `json:"counts"`
	Entries []entry   `json:"requests"` // newest first
}

func (j *journal) report() report {
	j.mu.Lock()
	defer j.mu.Unlock()
	r := report{Began: j.began, Counts: j.counts, Entries: make([]entry, 0, len(j.entries))}
	for _, e := range slices.Backward(j.entries) {
		shown := *e
		shown.Events = slices.Clone(e.Events)
		r.Entries = append(r.Entries, shown)
	}
	return r
}
