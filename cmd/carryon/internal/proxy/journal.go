package proxy

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/telemetry"
	"github.com/carryon-go/carryon/middleware"
)

// maxEntries is how many requests the journal keeps.
const maxEntries = 1000

// journal records what carryon did with the latest requests, and the figures of all.
type journal struct {
	config  *Config
	page    *page
	process string // tells this process from others

	mu       sync.Mutex
	revision uint64   // grows with each change
	number   int      // of the latest request
	entries  []*entry // oldest first
	list     lastList
	own      *figures // of this process
	total    *figures // and of those whose figures are kept in the same place
	unkept   *figures // of this process, not kept yet; nil if figures are kept nowhere
	changed  bool     // unkept is not empty
	watched  bool     // the page was asked for since the figures were kept
}

func newJournal(c *Config) *journal {
	began := c.now()
	return &journal{config: c, page: newPage(), process: rand.Text(), own: newFigures(began), total: newFigures(began)}
}

// figures calls f for all figures that count what this process does. The caller
// holds the lock.
func (j *journal) figures(f func(*figures)) {
	f(j.own)
	f(j.total)
	if j.unkept != nil {
		j.changed = true
		f(j.unkept)
	}
}

// begin adds an entry for a request, in the session of that name or in none.
func (j *journal) begin(r *http.Request, session string, from *caller) *entry {
	upstream, _, _ := j.config.routeOf(r)
	e := &entry{
		exchange: exchange{Began: j.config.now(), Method: short(r.Method, maxName), Path: shownPath(r.URL.Path)},
		base:     baseOf(r),
		secrets:  &secrets{header: r.Header, query: r.URL.RawQuery, upstream: upstream},
	}
	if session != "" {
		e.Session, e.SessionID = short(session, maxName), idOf(from.sessionKey(session))
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.add(func(c *counts) { c.Requests++ })
	j.number++
	e.Number = j.number
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
	s := step{at: e.Ended, bar: bar{Requests: 1}}
	for _, o := range outcomes.All() { // at most one
		j.outcomeOf(e, &o, &s)
	}
	if e.Status == http.StatusSwitchingProtocols {
		e.outcome = webSocketOutcome
	}
	e.secrets = nil
	j.touch(e)
	j.figures(func(f *figures) { f.take(&s) })
	if one, ok := j.total.Sessions[s.id]; ok {
		one.revision = j.revision
		j.total.Sessions[s.id] = one
	}
	return *e
}

// outcomeOf records an outcome, in the step too.
func (j *journal) outcomeOf(e *entry, o *middleware.Outcome, s *step) {
	e.outcome = j.outcome(e, o)
	if o.Reason == reasons.Encoded {
		s.counts.Encoded++
	}
	if isNoCall(o.Reason) {
		return
	}
	j.list.take(o)
	s.worth = o.Worth
	s.counts.addCall(e, o)
	s.bar.Continuations, s.bar.Resumed, s.bar.Paused = o.Attempts, o.Worth.Resumed, o.Worth.Paused
	s.bar.Unwanted, s.bar.Unsent = o.Worth.Unwanted(), o.Worth.Unsent
	s.bar.Failed = s.counts.Results.Failed + s.counts.Results.Interrupted
	if e.SessionID == "" {
		return
	}
	known := j.total.Sessions[e.SessionID]
	s.id, s.session = e.SessionID, since(&known, e, o)
	s.session.Share, _ = j.config.rules().share() // Check has looked at it
	if s.session.hasList() && !known.hasList() {
		s.counts.Listed++
	}
	if o.Paused != nil {
		s.session.pause = e.quote("", j.text(o.Paused.Reason))
	}
}

// isNoCall reports whether carryon left a request alone because it is not a model
// call that carryon can read.
func isNoCall(r continuation.Reason) bool {
	return reasons.Path <= r && r <= reasons.Unreadable
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

// count adds to the counts.
func (j *journal) count(add func(*counts)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.add(add)
}

// add is count for a caller who holds the lock.
func (j *journal) add(add func(*counts)) {
	j.figures(func(f *figures) { add(&f.Counts) })
}

// observer returns an Observer that records what carryon does.
func (j *journal) observer() middleware.Observer {
	return middleware.Observer{
		CallStarted: func(ctx context.Context, e middleware.CallStarted) context.Context {
			if entry, ok := ctx.Value(entryKey{}).(*entry); ok {
				j.change(entry, func() { entry.Model, entry.Streamed = short(e.Model, maxName), e.Streamed })
			}
			return nil
		},
		TurnStarted: func(ctx context.Context, e middleware.TurnStarted) context.Context {
			j.at(ctx, e.TurnID, func(_ *entry, t *turn) { t.waited = e.Wait })
			return nil
		},
		TurnEnded: func(ctx context.Context, e middleware.TurnEnded) {
			j.at(ctx, e.TurnID, func(entry *entry, t *turn) { j.turnEnded(ctx, entry, t, &e) })
		},
		Decision: func(ctx context.Context, e middleware.Decision) {
			j.at(ctx, e.TurnID, func(_ *entry, t *turn) {
				t.decided, t.goOn, t.dryRun, t.reason = true, e.Continue, e.DryRun, e.Reason
				t.wouldAsk = e.Asks
			})
			if e.Exhausted {
				j.count(func(c *counts) { c.Exhausted++ })
			}
		},
		ContinuationStarted: func(ctx context.Context, e middleware.ContinuationStarted) {
			j.at(ctx, e.TurnID, func(entry *entry, t *turn) {
				t.attempt, t.asked, t.todo = e.Attempt, e.Asks, entry.quote("", j.text(e.Todo.Content))
			})
		},
		PauseCalled: func(ctx context.Context, e middleware.PauseCalled) { j.at(ctx, e.TurnID, j.paused(&e)) },
		Failed: func(ctx context.Context, e middleware.Failed) {
			j.count(func(c *counts) { c.Failed++ })
			j.at(ctx, e.TurnID, func(entry *entry, t *turn) {
				text, quoted := j.failure(e)
				entry.note(t, noteFailed, text, quoted)
			})
		},
	}
}

// turnEnded records the end of a turn.
func (j *journal) turnEnded(ctx context.Context, entry *entry, t *turn, e *middleware.TurnEnded) {
	t.began, t.ended = e.Times.Began, e.Times.Ended
	t.continued = result(e.Result)
	t.finish, t.toolCalls, t.usage = strings.Clone(short(e.Finish, maxName)), e.ToolCalls, e.Usage
	if e.Err == nil {
		return
	}
	text, quoted := j.cause(e.Err)
	t.failure = entry.quote(text, quoted)
	t.interrupted = telemetry.IsInterruption(ctx, e.Err)
}

// paused records a pause, or that it was refused.
func (j *journal) paused(e *middleware.PauseCalled) func(*entry, *turn) {
	return func(entry *entry, t *turn) {
		t.paused = true
		if e.Err != nil {
			j.add(func(c *counts) { c.Refused++ })
			entry.note(t, notePauseRefused, e.Err.Error(), j.appended(e.Result.Reason))
			return
		}
		j.add(func(c *counts) { c.Pauses++ })
		until := ", until the user writes again"
		if e.Session == "" {
			until = "" // without a session the pause does not last
		}
		entry.note(t, notePaused, "by the model"+until, j.appended(e.Result.Reason))
	}
}

// failure describes a failure that did not affect the client's answer.
func (j *journal) failure(e middleware.Failed) (text, quoted string) {
	if e.Op == "continuation" { // the end of its turn says why
		return "the answer goes on without this turn", ""
	}
	text, quoted = j.cause(e.Err)
	return "the " + e.Op + " failed: " + text, quoted
}

// withoutSecrets returns an error of the upstream as it may be logged: it may quote what
// the upstream has sent, which may be long and contain the secrets of ctx's request.
func (j *journal) withoutSecrets(ctx context.Context, err error) error {
	e, ok := ctx.Value(entryKey{}).(*entry)
	if !ok {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if e.secrets == nil {
		return err
	}
	text := err.Error()
	if quoted := e.quote("", text); quoted != text {
		return errors.New(quoted)
	}
	return err
}

// text returns part, or "" if the page must not show texts.
func (j *journal) text(part string) string {
	if !j.config.Content {
		return ""
	}
	return part
}

// appended returns text(part) with ": " before it, or "".
func (j *journal) appended(part string) string {
	if part = j.text(part); part == "" {
		return ""
	}
	return ": " + part
}

// cause describes an error: text is the proxy's own, quoted comes from others. It
// omits whatever may quote a message, unless the page may show texts.
func (j *journal) cause(err error) (text, quoted string) {
	var status *adapter.StatusError
	var network net.Error
	var reported *transport.ProviderError
	switch {
	case errors.As(err, &status) && status.Status > 0:
		return fmt.Sprintf("HTTP status %d", status.Status), j.appended(status.Error())
	case j.config.Content || errors.As(err, &network):
		return "", err.Error()
	case errors.As(err, &reported):
		return "the provider reported an error", ""
	}
	for _, plain := range []error{
		context.Canceled, io.EOF, io.ErrUnexpectedEOF,
		middleware.ErrClosed, middleware.ErrFirstByteTimeout, middleware.ErrResponseTimeout,
		middleware.ErrDeadlineNear, middleware.ErrShutdown, middleware.ErrIncomplete,
		transport.ErrKind, transport.ErrEncoded, transport.ErrTooLarge, transport.ErrUnreadable,
	} {
		if errors.Is(err, plain) {
			return plain.Error(), ""
		}
	}
	return fmt.Sprintf("%T", err), ""
}
