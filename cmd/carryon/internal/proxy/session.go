package proxy

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/agents"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/wire"
	"github.com/carryon-go/carryon/middleware"
)

// sessionHeader names the session of a request. The upstream does not receive it.
const sessionHeader = "X-Carryon-Session"

// agentHeaders are the headers in which agents name their conversations by default,
// the most specific first.
var agentHeaders = sync.OnceValue(func() (names []string) { //nolint:gochecknoglobals // facts, put together once
	for _, h := range agents.Collect(func(a *agents.Agent) []agents.Fact { return a.Headers }) {
		names = append(names, h.Text)
	}
	return names
})

// sessionOf returns the name of the request's session as the client gave it, or
// "". The header chosen overrides the headers of agents.
func sessionOf(header http.Header, chosen string) string {
	if name := header.Get(sessionHeader); name != "" {
		return name
	}
	if chosen != "" {
		if name := header.Get(chosen); name != "" {
			return name
		}
	}
	for _, h := range agentHeaders() {
		if name := header.Get(h); name != "" {
			return name
		}
	}
	return ""
}

// caller is a hash of everything that may tell the caller of a request from another
// one; known is false if there is nothing.
type caller struct {
	hash  [sha256.Size]byte
	known bool
}

func callerOf(r *http.Request) caller {
	hash := sha256.New()
	known := wire.AddCredentials(r.Header, r.URL.RawQuery, func(text string) {
		_, _ = fmt.Fprintf(hash, "%d:%s", len(text), text) // a hash does not fail
	})
	return caller{[sha256.Size]byte(hash.Sum(nil)), known}
}

// sessionKey returns the key of a session. Sessions of one name and different callers
// have different keys.
func (c *caller) sessionKey(name string) string { return hex.EncodeToString(c.hash[:8]) + ":" + name }

// sessionFigures has the figures of a session.
type sessionFigures struct {
	Name  string    `json:"name"` // as the client gave it
	Began time.Time `json:"began,omitzero"`
	Ended time.Time `json:"ended,omitzero"` // the latest of its requests
	Model string    `json:"model,omitzero"`

	Requests      int               `json:"requests,omitzero"`
	Continuations int               `json:"continuations,omitzero"`
	Wrote         int               `json:"wrote,omitzero"`  // messages of the user
	GoOns         int               `json:"go_ons,omitzero"` // those that only say go on, with work left
	Worth         middleware.Worth  `json:"worth,omitzero"`
	Tokens        middleware.Tokens `json:"tokens,omitzero"`     // of all turns
	Unreported    int               `json:"unreported,omitzero"` // turns whose tokens are not known in full
	Millis        int64             `json:"took_ms,omitzero"`

	Share   float64 `json:"share,omitzero"`    // of the holdout, when it began
	HeldOut bool    `json:"held_out,omitzero"` // it is in the control group
	Mixed   bool    `json:"mixed,omitzero"`    // it belongs to no arm: it has seen another share, a dry run, or that continuing was off

	// What follows is of the last call that was about the work.
	List  listCounts               `json:"list,omitzero"`
	Check continuation.CheckResult `json:"check,omitzero"` // what the commands of -until said last
	State state                    `json:"state,omitzero"`
	Code  string                   `json:"code,omitzero"` // of the reason
	Why   string                   `json:"why,omitzero"`  // the explanation

	revision uint64 // of the journal, at the last change
	pause    string // the reason of the last pause, if texts may be shown; never kept
}

// listCounts are the counts of a todo list.
type listCounts struct {
	Todos     int `json:"todos"`
	Active    int `json:"active"`
	Completed int `json:"completed"`
	Cancelled int `json:"cancelled,omitzero"`
}

// isFinished reports whether there was a list, and no work is left on it.
func (l listCounts) isFinished() bool { return l.Todos > 0 && l.Completed+l.Cancelled >= l.Todos }

// hasList reports whether the session had a list.
func (c *sessionFigures) hasList() bool { return c.List.Todos > 0 }

// isCompared reports whether it is known what has become of the session's work.
func (c *sessionFigures) isCompared() bool { return c.hasList() || c.Check != continuation.NoCheck }

// isFinished reports whether the session's work is done: by the commands of -until, or
// else by the list.
func (c *sessionFigures) isFinished() bool {
	if c.Check != continuation.NoCheck {
		return c.Check == continuation.CheckPassed
	}
	return c.List.isFinished()
}

// add adds what has happened since.
func (c *sessionFigures) add(since *sessionFigures) {
	if c.Began.IsZero() {
		c.Began, c.Share, c.HeldOut = since.Began, since.Share, since.HeldOut
	}
	c.Mixed = c.Mixed || since.Mixed || c.Share != since.Share || c.HeldOut != since.HeldOut
	c.Name, c.Ended = since.Name, since.Ended
	if since.Model != "" {
		c.Model = since.Model
	}
	c.Requests += since.Requests
	c.Continuations += since.Continuations
	c.Wrote += since.Wrote
	c.GoOns += since.GoOns
	c.Worth = c.Worth.Plus(since.Worth)
	c.Tokens = c.Tokens.Plus(since.Tokens)
	c.Unreported += since.Unreported
	c.Millis += since.Millis
	if since.hasList() {
		c.List = since.List
	}
	if since.Check != continuation.NoCheck {
		c.Check = since.Check
	}
	if since.Code != "" {
		c.State, c.Code, c.Why, c.pause = since.State, since.Code, since.Why, since.pause
	}
}

// maxGap is how much of a pause between two requests counts as time of the session:
// nobody waits through the night. So no clock that jumps counts for more either.
const maxGap = 10 * time.Minute

// timeOf returns how much longer the session has taken because of a request.
func (c *sessionFigures) timeOf(began, ended time.Time) time.Duration {
	took := max(0, ended.Sub(began))
	if c.Ended.IsZero() {
		return took
	}
	if began.Before(c.Ended) { // two at the same time
		return max(0, min(took, ended.Sub(c.Ended)))
	}
	return took + min(maxGap, began.Sub(c.Ended))
}

// since returns what a call has added to a session of which known is what was known
// before.
func since(known *sessionFigures, e *entry, o *middleware.Outcome) sessionFigures {
	c := sessionFigures{
		Name: e.Session, Began: e.Began, Ended: e.Ended, Model: e.Model,
		Requests: 1, Continuations: o.Attempts, Worth: o.Worth, HeldOut: o.Holdout,
		Millis: known.timeOf(e.Began, e.Ended).Milliseconds(),
		Mixed:  o.DryRun || o.Reason == reasons.Disabled,
	}
	for i := range o.Usage {
		c.Tokens = c.Tokens.Plus(middleware.TokensOf(o.Usage[i]))
	}
	c.Unreported = o.Worth.Unreported
	if len(o.Usage) > 0 && o.Usage[0] == (adapter.Usage{}) && o.Reason != reasons.BrokeOff {
		c.Unreported++
	}
	if o.Wrote {
		c.Wrote = 1
		if o.GoOn && known.hasList() && !known.List.isFinished() {
			c.GoOns = 1
		}
	}
	if isAside(o.Reason) {
		return c
	}
	if l := &o.List; l.Err == nil && l.Todos > 0 {
		c.List = listCounts{Todos: l.Todos, Active: l.Active, Completed: l.Completed, Cancelled: l.Cancelled}
	}
	c.Check = o.Check
	c.State, c.Code, c.Why = e.state(), e.outcome.Code, e.outcome.Explanation
	return c
}

// isAside reports whether a call says nothing about the session's work.
func isAside(r continuation.Reason) bool {
	return r == reasons.NoTools || r == reasons.NoListTool || r == reasons.SideCall
}

// idOf returns the id of a session, which is shown and kept. It reveals nothing of the
// caller.
func idOf(key string) string {
	sum := sha256.Sum256([]byte("carryon/figures/" + key))
	return hex.EncodeToString(sum[:8])
}
