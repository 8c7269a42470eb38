package proxy

import (
	"context"
	"crypto/rand"
	"net/http"
	"sync"
	"time"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
)

// maxEntries is how many requests the journal keeps.
const maxEntries = 1000

// journal records what carryon did with the latest requests.
type journal struct {
	config *Config
	page   *page
	salt   string // of the callers that are shown, random in each process

	mu       sync.Mutex
	began    time.Time
	revision uint64 // grows with each change
	counts   counts
	entries  []*entry // oldest first
	list     lastList
}

// counts are the totals since the proxy started. They count requests that have
// ended, unless a field says otherwise.
type counts struct {
	Requests      int     `json:"requests"`            // to any path of the upstream, including those under way
	Calls         int     `json:"calls"`               // to a model, among those requests
	Continued     int     `json:"calls_continued"`     // among those calls
	Continuations int     `json:"continuations"`       // requests that carryon added
	Results       results `json:"results"`             // of the continuations
	Tokens        int     `json:"tokens_added"`        // reported by the upstream for the continuations
	OwnTokens     int     `json:"tokens_of_clients"`   // reported for the clients' own turns, of calls that may be continued
	Pauses        int     `json:"pauses"`              // by the model
	Refused       int     `json:"pauses_refused"`      // because of their reason
	Exhausted     int     `json:"budgets_used_up"`     // calls that used up a budget
	Failed        int     `json:"failures_absorbed"`   // failures that no client noticed
	WebSockets    int     `json:"web_sockets"`         // that passed unread, including those that are open
	Handshakes    int     `json:"web_sockets_refused"` // no requests of their own
	Encoded       int     `json:"bodies_encoded"`      // requests that carryon could not decode
}

// results counts turns by how they ended.
type results struct {
	ToolCall    int `json:"tool_call"`
	Text        int `json:"text"`
	Paused      int `json:"paused"`
	Failed      int `json:"failed"`
	Interrupted int `json:"interrupted"`
}

func (r *results) add(one result) {
	switch one {
	case resultToolCall:
		r.ToolCall++
	case resultPaused:
		r.Paused++
	case resultFailed:
		r.Failed++
	case resultInterrupted, resultNone: // resultNone: it was never read to its end
		r.Interrupted++
	case resultText:
		r.Text++
	}
}

func newJournal(c *Config) *journal {
	return &journal{config: c, page: newPage(), salt: rand.Text(), began: c.now()}
}

// begin adds an entry for a request, in the session of that name or in none.
func (j *journal) begin(r *http.Request, session string, from *caller) *entry {
	upstream, _, _ := j.config.routeOf(r)
	e := &entry{
		exchange: exchange{Began: j.config.now(), Method: short(r.Method, maxName), Path: short(r.URL.Path, maxName)},
		base:     baseOf(r),
		secrets:  &secrets{header: r.Header, query: r.URL.RawQuery, upstream: upstream},
	}
	if session != "" {
		e.Session, e.Key = short(session, maxName), from.shown(j.salt)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.counts.Requests++
	e.Number = j.counts.Requests
	if len(j.entries) == maxEntries {
		j.entries[0] = nil
		j.entries = j.entries[1:]
	}
	j.entries = append(j.entries, e)
	j.touch(e)
	return e
}

// touch marks an entry as changed. The caller holds the lock.
func (j *journal) touch(e *entry) {
	j.revision++
	e.revision = j.revision
}

// answered records the status of the answer to a request.
func (j *journal) answered(r *http.Request, status int) {
	if e, ok := r.Context().Value(entryKey{}).(*entry); ok {
		j.change(e, func() { e.Status = status })
	}
}

// ending is the way in which an exchange ends.
type ending int

const (
	whole ending = iota
	cutShort
	clientLeft // and the answer was cut short
)

// end records the end of a request and returns a copy of its entry.
func (j *journal) end(e *entry, how ending, outcomes *middleware.Outcomes) entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	e.Ended, e.Cut, e.Left = j.config.now(), how != whole, how == clientLeft
	for _, o := range outcomes.All() { // at most one
		e.outcome = j.outcome(e, &o)
		if o.Reason == continuation.ReasonEncoded {
			j.counts.Encoded++
		}
		if isNoCall(o.Reason) {
			continue
		}
		j.list.take(&o)
		j.counts.add(e, &o)
	}
	if e.Status == http.StatusSwitchingProtocols {
		e.outcome = webSocketOutcome
	}
	e.secrets = nil
	j.touch(e)
	return *e
}

// add counts a call to a model.
func (c *counts) add(e *entry, o *middleware.Outcome) {
	c.Calls++
	c.Continuations += o.Attempts
	if o.Continued() {
		c.Continued++
	}
	for i := range o.Usage {
		if i == 0 {
			c.OwnTokens += o.Usage[i].Tokens()
		} else {
			c.Tokens += o.Usage[i].Tokens()
		}
	}
	for i := 1; i < len(e.turns); i++ {
		c.Results.add(e.turns[i].result())
	}
}

// isNoCall reports whether carryon left a request alone because it is not a model
// call that carryon can read.
func isNoCall(r continuation.Reason) bool {
	return continuation.ReasonPath <= r && r <= continuation.ReasonUnreadable
}

// at changes a turn of ctx's entry, if both exist.
func (j *journal) at(ctx context.Context, place continuation.TurnID, change func(*entry, *turn)) {
	e, ok := ctx.Value(entryKey{}).(*entry)
	if !ok {
		return
	}
	j.change(e, func() {
		if t := e.turn(place.Turn); t != nil {
			change(e, t)
		}
	})
}

func (j *journal) change(e *entry, change func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	change()
	j.touch(e)
}

// count changes the counts.
func (j *journal) count(change func(*counts)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	change(&j.counts)
}
