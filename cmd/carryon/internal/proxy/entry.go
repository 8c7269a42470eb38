package proxy

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/turnresult"
)

// The limits of an entry.
const (
	maxTurns = 100
	maxNotes = 100
	maxName  = 100 // characters of a text that the client chose
	maxText  = 500 // characters of a text that others wrote
)

// exchange is a client's request and the answer to it.
type exchange struct {
	Number   int       `json:"number"`
	Began    time.Time `json:"began"`
	Ended    time.Time `json:"ended,omitzero"` // zero until it ends
	Method   string    `json:"method"`
	Path     string    `json:"path"`
	Session  string    `json:"session,omitempty"` // as the client named it
	Model    string    `json:"model,omitempty"`   // "" if carryon left the request alone
	Streamed bool      `json:"streamed,omitempty"`
	Status   int       `json:"status,omitempty"`    // 0 without an answer
	Cut      bool      `json:"cut_short,omitempty"` // the upstream broke off, or the client left
	Left     bool      `json:"client_left,omitempty"`

	// SessionID tells sessions of one name and different callers apart.
	SessionID string `json:"session_id,omitempty"`
}

// Answer says what the client received.
func (e *exchange) Answer() string {
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
func (e *exchange) Bad() bool { return e.Cut || e.Status >= http.StatusBadRequest }

// Took returns how long the exchange took, however the clock was set meanwhile.
func (e *exchange) Took() time.Duration { return rounded(max(0, e.Ended.Sub(e.Began))) }

// rounded rounds d for display.
func rounded(d time.Duration) time.Duration {
	if d < 100*time.Millisecond {
		return d.Round(100 * time.Microsecond)
	}
	return d.Round(10 * time.Millisecond)
}

// entry is an exchange and what carryon did in it. It holds facts only: the texts of
// the page are written when a client asks for the page.
type entry struct {
	exchange

	base     string // the base URL that the client should have
	turns    []turn
	first    [1]turn // storage for turns while there is one turn
	outcome  outcome
	notes    int      // of all turns
	revision uint64   // of the journal, at the last change
	secrets  *secrets // of the request; nil once it has ended
}

// turn is a call to the model. The first is the client's.
type turn struct {
	attempt      int
	asked        bool   // the closing question began it
	todo         string // what the model was asked to carry on with, if texts may be shown
	waited       time.Duration
	began, ended time.Time // ended is zero until the turn has been read
	finish       string
	toolCalls    int // of the client's tools
	usage        adapter.Usage
	failure      string // the error that broke it off, or ""
	interrupted  bool   // by the client
	paused       bool   // the model called todo_pause; a note says if that was refused
	continued    result // how the continuation ended; "" for the client's turn
	decided      bool
	goOn, dryRun bool
	wouldAsk     bool // a continuation of it would be the closing question
	reason       continuation.Reason
	notes        []note
}

// note is something else that happened in a turn.
type note struct {
	Kind kind   `json:"kind"`
	Text string `json:"text"`
}

// kind says what a note is about.
type kind string

const (
	notePauseRefused kind = "pause_refused"
	notePaused       kind = "paused"
	noteFailed       kind = "failed"
)

// result is how a turn ended.
type result string

const (
	resultNone        result = "" // the turn is under way
	resultToolCall    result = turnresult.ToolCall
	resultText        result = turnresult.Text
	resultNothingOpen result = turnresult.NothingOpen // asked, the model answered only that
	resultPaused      result = turnresult.Paused
	resultFailed      result = turnresult.Failed
	resultInterrupted result = turnresult.Interrupted // by the client
)

func (t *turn) result() result {
	switch {
	case t.continued != resultNone:
		return t.continued
	case t.interrupted:
		return resultInterrupted
	case t.failure != "":
		return resultFailed
	case t.toolCalls > 0:
		return resultToolCall
	case t.paused:
		return resultPaused
	case t.ended.IsZero():
		return resultNone
	}
	return resultText
}

type entryKey struct{}

// withEntry returns a ctx whose events are recorded in the entry.
func withEntry(ctx context.Context, e *entry) context.Context {
	return context.WithValue(ctx, entryKey{}, e)
}

// turn returns the turn with a number, or nil if the entry has ended or records no
// more turns. The caller holds the journal's lock.
func (e *entry) turn(number int) *turn {
	if number = max(1, number); e.secrets == nil || number > maxTurns {
		return nil
	}
	if e.turns == nil {
		e.turns = e.first[:0]
	}
	for len(e.turns) < number {
		e.turns = append(e.turns, turn{})
	}
	return &e.turns[number-1]
}

// note adds a note to a turn. The text is the proxy's own; quoted comes from others,
// and is stripped of the request's secrets.
func (e *entry) note(t *turn, kind kind, text, quoted string) {
	if e.notes < maxNotes {
		e.notes++
		t.notes = append(t.notes, note{kind, e.quote(text, quoted)})
	}
}

// quote joins the proxy's own text and the text of others, without secrets.
func (e *entry) quote(text, quoted string) string {
	return short(text+e.secrets.hide(quoted), maxText)
}

// short returns text, cut after as many characters as most says.
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
