package continuation

import (
	"strconv"
	"time"

	"github.com/carryon-go/carryon/todo"
)

// State is what is remembered about one session. It holds no text of a task
// or message but the reason of a pause. Its zero value is a session that was
// never seen. The methods return the next state and change nothing.
type State struct {
	UserTurn   uint64 // key of the user turn under way
	TextLength int    // text agents: the length in bytes of the message that key stands for

	Claim  Claim // set while a call of the session is being continued
	Paused Pause // set while the session is paused

	Attempts      int // continuations in a row without progress
	Continuations int // continuations in this user turn
	Tokens        int // tokens that they used

	LastPrompt time.Time  // when the last prompt was sent
	Last       Last       // what came of the last continuation
	Watermarks Watermarks // the best that the list has been in this user turn
	Stale      uint64     // digest of the list with which a user turn ended exhausted or paused
}

// Claim marks a session as being continued. Only the holder of the token
// clears it.
type Claim struct {
	Token uint64    // 0: nobody
	Since time.Time // when it was made; it lapses after ClaimLife
}

// Pause says why and since when a session is paused.
type Pause struct {
	Reason string
	Since  time.Time // zero: not paused
}

// IsSet reports whether the session is paused.
func (p Pause) IsSet() bool { return !p.Since.IsZero() }

// Watermarks are the best that a todo list has been in a user turn.
type Watermarks struct {
	Set       bool // a list was seen
	Completed int  // the highest number of completed items so far
	Active    int  // the lowest number of active items so far
}

// Last is what came of a continuation, for the prompt of the next one.
type Last struct {
	Kind   Previous
	Status int // with PreviousFailed: an HTTP status, StatusTimeout or StatusTransport
}

// Statuses of a failed continuation that are not HTTP's.
const (
	StatusTransport = 0
	StatusTimeout   = -1
)

// Problem returns the words for the status of a failure, which never are the
// provider's own.
func (l Last) Problem() string {
	switch {
	case l.Kind != PreviousFailed:
		return ""
	case l.Status == StatusTimeout:
		return "timeout"
	case l.Status == StatusTransport:
		return "transport"
	}
	return "HTTP " + strconv.Itoa(l.Status)
}

// Ending is how a continuation ended.
type Ending struct {
	Called bool // with a tool call
	Tokens int  // that it used, as far as known
	Last   Last
}

// Claimed reports whether somebody other than token is continuing the session.
// Claims older than [ClaimLife] have lapsed.
func (s State) Claimed(token uint64, now time.Time) bool {
	return s.Claim.Token != 0 && s.Claim.Token != token && now.Sub(s.Claim.Since) < ClaimLife
}

// Arrive is the state once a call of user turn t has arrived. A new user turn
// starts all budgets anew and ends a pause and a claim.
func (s State) Arrive(t UserTurn) State {
	switch {
	case t.key == 0 || t.key == s.UserTurn:
		return s
	case t.extends(s.UserTurn, s.TextLength):
		s.UserTurn, s.TextLength = t.key, len(t.text)
		return s
	}
	next := State{UserTurn: t.key, TextLength: len(t.text), LastPrompt: s.LastPrompt, Stale: s.Stale}
	if s.UserTurn == 0 && s.LastPrompt.IsZero() {
		next.Paused = s.Paused // set by the program, before the first call was seen
	}
	return next
}

// Begin is the state once a continuation is about to be sent.
func (s State) Begin(token uint64, now time.Time) State {
	s.Claim = Claim{Token: token, Since: now}
	s.Attempts++
	s.Continuations++
	s.LastPrompt = now
	return s
}

// End is the state once the continuation that holds token has ended. One that
// was answered with a tool call gives its attempt back. The claim of another
// call, or a newer user turn, is left as it is.
func (s State) End(token uint64, e Ending) State {
	if token == 0 || s.Claim.Token != token {
		return s
	}
	s.Claim = Claim{}
	s.Tokens += e.Tokens
	s.Last = e.Last
	if e.Called && s.Attempts > 0 {
		s.Attempts--
	}
	return s
}

// Pause is the state once the session is paused, with the digest of its list
// if that is known (else 0).
func (s State) Pause(reason string, now time.Time, digest uint64) State {
	s.Paused = Pause{Reason: reason, Since: now}
	return s.GoStale(digest)
}

// Resume is the state once somebody has said that a paused session may go on,
// which also means that its list is worth further attempts.
func (s State) Resume() State {
	s.Paused = Pause{}
	s.Stale = 0
	return s
}

// GoStale is the state once a user turn has ended exhausted or paused with a
// list of that digest: later turns get one attempt until the list changes.
func (s State) GoStale(digest uint64) State {
	if digest != 0 {
		s.Stale = digest
	}
	return s
}

// Observe is the state once the list was seen. Progress, and only progress,
// starts the count of attempts anew.
func (s State) Observe(todos []todo.Todo) State {
	counts := count(todos)
	return s.observe(counts.completed, counts.active)
}

func (s State) observe(completed, active int) State {
	w := s.Watermarks
	if w.Set && (completed > w.Completed || active < w.Active) {
		s.Attempts = 0
	}
	if !w.Set || completed > w.Completed {
		w.Completed = completed
	}
	if !w.Set || active < w.Active {
		w.Active = active
	}
	w.Set = true
	s.Watermarks = w
	return s
}

// Digest returns a number that stands for the list, in every process, and is
// never 0. It changes with ids, texts, statuses and order.
func Digest(todos []todo.Todo) uint64 {
	sum := uint64(len(todos))
	for i := range todos {
		t := &todos[i]
		sum = fold(fold(fold(sum, t.ID), t.Content), string(t.Status))
	}
	return sum | 1
}

// fold adds a text to a sum, eight bytes at a time.
func fold(sum uint64, text string) uint64 {
	const prime = 0x9e3779b97f4a7c15 // an odd number without a pattern
	sum = (sum ^ uint64(len(text))) * prime
	for len(text) >= 8 {
		word := uint64(text[0]) | uint64(text[1])<<8 | uint64(text[2])<<16 | uint64(text[3])<<24 |
			uint64(text[4])<<32 | uint64(text[5])<<40 | uint64(text[6])<<48 | uint64(text[7])<<56
		sum = (sum ^ word) * prime
		sum ^= sum >> 32
		text = text[8:]
	}
	for i := range len(text) {
		sum = (sum ^ uint64(text[i])) * prime
	}
	return sum ^ sum>>29
}
