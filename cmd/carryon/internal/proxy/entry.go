package proxy

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The bounds of an entry.
const (
	maxEvents = 100
	maxName   = 100 // characters of a text that the client chose
	maxText   = 500 // characters of an event's text
)

// entry is a request and what happened to it.
type entry struct {
	Number  int       `json:"number"`
	Began   time.Time `json:"began"`
	Ended   time.Time `json:"ended,omitzero"` // zero until it ends
	Method  string    `json:"method"`
	Path    string    `json:"path"`
	Session string    `json:"session,omitempty"`
	Status  int       `json:"status,omitempty"`       // 0 without an answer
	Cut     bool      `json:"cut_short,omitempty"`    // by the upstream, or because the client left
	Turns   int       `json:"turns,omitempty"`        // 0 if it is not a chat completion
	Tokens  int       `json:"tokens_added,omitempty"` // reported by the upstream for all turns but the first
	Outcome string    `json:"outcome,omitempty"`      // why carryon stopped
	Events  []event   `json:"events,omitempty"`

	secrets *secrets // of the request; nil once it has ended
}

// event is one thing that happened.
type event struct {
	Turn int    `json:"turn"` // 1 is the client's
	Kind kind   `json:"kind"`
	Text string `json:"text"`
}

// kind says what happened, in a word or two.
type kind string

const (
	ended        kind = "ended"
	decided      kind = "decided"
	asked        kind = "asked"
	pauseRefused kind = "pause refused"
	paused       kind = "paused"
	failed       kind = "failed"
)

type entryKey struct{}

// withEntry returns a ctx under which events belong to the entry.
func withEntry(ctx context.Context, e *entry) context.Context {
	return context.WithValue(ctx, entryKey{}, e)
}

// add adds an event, unless the entry is full or has ended. What others wrote is
// quoted without the secrets of the request. The caller holds the journal's lock.
func (e *entry) add(added event, quoted string) {
	if len(e.Events) == maxEvents || e.secrets == nil {
		return
	}
	added.Text = short(added.Text+e.secrets.hide(quoted), maxText)
	at := len(e.Events)
	if added.Kind == ended {
		// In a stream the decision is reported before the end of its turn.
		for at > 0 && e.Events[at-1].Turn == added.Turn && e.Events[at-1].Kind == decided {
			at--
		}
	}
	e.Events = slices.Insert(e.Events, at, added)
}

// Answer says what the client received.
func (e *entry) Answer() string {
	switch {
	case e.Ended.IsZero():
		return "in progress"
	case e.Cut && e.Status == 0:
		return "the client left"
	case e.Cut:
		return strconv.Itoa(e.Status) + ", cut short"
	}
	return strconv.Itoa(e.Status)
}

// Bad reports whether the answer was an error or incomplete.
func (e *entry) Bad() bool { return e.Cut || e.Status >= http.StatusBadRequest }

// Took returns how long the request took.
func (e *entry) Took() time.Duration { return rounded(e.Ended.Sub(e.Began)) }

// rounded returns d with as many digits as a reader needs.
func rounded(d time.Duration) time.Duration {
	if d < 100*time.Millisecond {
		return d.Round(100 * time.Microsecond)
	}
	return d.Round(10 * time.Millisecond)
}

// Added returns the number of turns that carryon added.
func (e *entry) Added() int { return max(0, e.Turns-1) }

// short returns text, shortened to most characters.
func short(text string, most int) string {
	text = strings.ToValidUTF8(text, "?")
	n := 0
	for at := range text {
		if n == most {
			return text[:at] + "..."
		}
		n++
	}
	return text
}
