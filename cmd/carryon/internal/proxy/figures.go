package proxy

import (
	"maps"
	"time"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/middleware"
)

// figures are what carryon has done, and what it was worth. Figures of several times and
// processes can be merged, so they can be kept in one place.
type figures struct {
	Began    time.Time                 `json:"began,omitzero"`
	Counts   counts                    `json:"counts"`
	Worth    middleware.Worth          `json:"worth"`
	Chart    chart                     `json:"chart"`
	Sessions map[string]sessionFigures `json:"sessions"` // by their ids; the latest ones
	Gone     gone                      `json:"gone"`     // the earlier ones
}

// maxSessions is how many sessions have figures of their own.
const maxSessions = 1000

func newFigures(began time.Time) *figures {
	return &figures{Began: began, Chart: newChart(), Sessions: make(map[string]sessionFigures)}
}

// counts are totals. They count requests that have ended, unless a field says
// otherwise.
type counts struct {
	Requests      int     `json:"requests"`            // to any path of the upstream, including those under way
	Calls         int     `json:"calls"`               // to a model, among those requests
	Continued     int     `json:"calls_continued"`     // among those calls
	Continuations int     `json:"continuations"`       // requests that carryon added
	Questions     int     `json:"questions"`           // the closing questions among them, and those not sent because of a dry run or the holdout
	Results       results `json:"results"`             // of the continuations
	Tokens        int     `json:"tokens_added"`        // reported by the upstream for the continuations
	OwnTokens     int     `json:"tokens_of_clients"`   // reported for the clients' own turns, of calls that may be continued
	Pauses        int     `json:"pauses"`              // by the model
	Refused       int     `json:"pauses_refused"`      // because of their reason
	Exhausted     int     `json:"budgets_used_up"`     // calls that used up a budget
	Passed        int     `json:"checks_passed"`       // ends of which the commands of -until said that the work was done
	Unknown       int     `json:"checks_unknown"`      // ends of which they could not tell
	Failed        int     `json:"failures_absorbed"`   // failures that no client noticed
	WebSockets    int     `json:"web_sockets"`         // that passed unread, including those that are open
	Handshakes    int     `json:"web_sockets_refused"` // no requests of their own
	Encoded       int     `json:"bodies_encoded"`      // requests that carryon could not decode
	Off           int     `json:"calls_while_off"`     // calls that were left alone because continuing was switched off
	Lists         int     `json:"calls_with_list"`     // calls in which a todo list was read
	Listed        int     `json:"sessions_with_list"`  // sessions that had a todo list
}

// results counts turns by how they ended.
type results struct {
	ToolCall    int `json:"tool_call"`
	Text        int `json:"text"`
	NothingOpen int `json:"nothing_open"` // asked, the model answered only that
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
	case resultNothingOpen:
		r.NothingOpen++
	}
}

func (r results) plus(other results) results {
	return results{
		ToolCall: r.ToolCall + other.ToolCall, Text: r.Text + other.Text, NothingOpen: r.NothingOpen + other.NothingOpen,
		Paused: r.Paused + other.Paused, Failed: r.Failed + other.Failed, Interrupted: r.Interrupted + other.Interrupted,
	}
}

func (c counts) plus(other counts) counts {
	return counts{
		Requests: c.Requests + other.Requests, Calls: c.Calls + other.Calls, Continued: c.Continued + other.Continued,
		Continuations: c.Continuations + other.Continuations, Questions: c.Questions + other.Questions, Results: c.Results.plus(other.Results),
		Tokens: c.Tokens + other.Tokens, OwnTokens: c.OwnTokens + other.OwnTokens,
		Passed: c.Passed + other.Passed, Unknown: c.Unknown + other.Unknown,
		Pauses: c.Pauses + other.Pauses, Refused: c.Refused + other.Refused, Exhausted: c.Exhausted + other.Exhausted, Failed: c.Failed + other.Failed,
		WebSockets: c.WebSockets + other.WebSockets, Handshakes: c.Handshakes + other.Handshakes, Encoded: c.Encoded + other.Encoded,
		Off: c.Off + other.Off, Lists: c.Lists + other.Lists, Listed: c.Listed + other.Listed,
	}
}

// addCall counts a call to a model.
func (c *counts) addCall(e *entry, o *middleware.Outcome) {
	c.Calls++
	c.Continuations += o.Attempts
	if o.Reason == reasons.Disabled {
		c.Off++
	}
	if o.List.Todos > 0 {
		c.Lists++
	}
	if o.Continued() {
		c.Continued++
	}
	switch o.Check { //nolint:exhaustive // the worth has the failures
	case continuation.CheckPassed:
		c.Passed++
	case continuation.CheckUnknown:
		c.Unknown++
	}
	for i := range o.Usage {
		if i == 0 {
			c.OwnTokens += o.Usage[i].Tokens()
		} else {
			c.Tokens += o.Usage[i].Tokens()
		}
	}
	for i := range e.turns {
		t := &e.turns[i]
		if i > 0 {
			c.Results.add(t.result())
		}
		if t.asked || o.Worth.Unsent > 0 && t.wouldAsk {
			c.Questions++
		}
	}
}

// step is what one request adds to figures.
type step struct {
	at      time.Time
	counts  counts
	worth   middleware.Worth
	bar     bar
	id      string // of the session, "" without one
	session sessionFigures
}

// take adds a step.
func (f *figures) take(s *step) {
	f.Counts = f.Counts.plus(s.counts)
	f.Worth = f.Worth.Plus(s.worth)
	f.Chart.add(s.at, s.bar)
	f.takeSession(s.id, &s.session)
}

// takeSession adds what has happened in a session since.
func (f *figures) takeSession(id string, since *sessionFigures) {
	if id == "" {
		return
	}
	known := f.Sessions[id]
	known.add(since)
	f.Sessions[id] = known
	for len(f.Sessions) > maxSessions {
		f.dropOldest(id)
	}
}

// dropOldest drops the session that has been quiet for the longest time, except the
// one that was just used. Its share in the comparison of both arms stays.
func (f *figures) dropOldest(used string) {
	var oldest string
	var quiet sessionFigures
	for id, c := range f.Sessions {
		if id != used && (oldest == "" || c.Ended.Before(quiet.Ended)) {
			oldest, quiet = id, c
		}
	}
	f.Gone.take(&quiet)
	delete(f.Sessions, oldest)
}

// merge adds other figures, which are of a later time, now.
func (f *figures) merge(later *figures, now time.Time) {
	if f.Began.IsZero() || later.Began.Before(f.Began) && !later.Began.IsZero() {
		f.Began = later.Began
	}
	f.Counts = f.Counts.plus(later.Counts)
	f.Worth = f.Worth.Plus(later.Worth)
	f.Chart.merge(&later.Chart, now)
	f.Gone.merge(&later.Gone)
	if f.Sessions == nil {
		f.Sessions = make(map[string]sessionFigures, len(later.Sessions))
	}
	for id, since := range later.Sessions {
		f.takeSession(id, &since)
	}
}

// bar counts what has happened in a span of time.
type bar struct {
	Requests      int `json:"requests,omitzero"`
	Continuations int `json:"continuations,omitzero"`
	Resumed       int `json:"resumed,omitzero"`
	Paused        int `json:"paused,omitzero"`
	Unwanted      int `json:"unwanted,omitzero"`
	Failed        int `json:"failed,omitzero"`
	Unsent        int `json:"unsent,omitzero"`
}

func (b bar) plus(other bar) bar {
	return bar{
		Requests: b.Requests + other.Requests, Continuations: b.Continuations + other.Continuations, Resumed: b.Resumed + other.Resumed,
		Paused: b.Paused + other.Paused, Unwanted: b.Unwanted + other.Unwanted, Failed: b.Failed + other.Failed, Unsent: b.Unsent + other.Unsent,
	}
}

// chart counts what has happened over time: in each minute of the last hour, in each
// quarter of an hour of the last day, and on each day.
type chart struct {
	Minutes  bars `json:"minutes"`
	Quarters bars `json:"quarters"`
	Days     bars `json:"days"`
}

// bars are the bars of spans of the same length, by the number of the span since 1970.
type bars map[int64]bar

func newChart() chart { return chart{make(bars), make(bars), make(bars)} }

func (c *chart) clone() chart {
	return chart{maps.Clone(c.Minutes), maps.Clone(c.Quarters), maps.Clone(c.Days)}
}

// scales are the lengths of the spans, and how many of each are kept.
func (c *chart) scales() []scale {
	return []scale{{&c.Minutes, time.Minute, 60}, {&c.Quarters, 15 * time.Minute, 96}, {&c.Days, 24 * time.Hour, 400}}
}

type scale struct {
	bars *bars
	span time.Duration
	kept int64
}

// add adds what has happened at a time.
func (c *chart) add(at time.Time, one bar) {
	for _, s := range c.scales() {
		now := at.Unix() / int64(s.span/time.Second)
		if *s.bars == nil {
			*s.bars = make(bars)
		}
		(*s.bars)[now] = (*s.bars)[now].plus(one)
		s.prune(now)
	}
}

// prune drops what is too old, and what the clock has taken back.
func (s scale) prune(now int64) {
	for number := range *s.bars {
		if number > now || number <= now-s.kept {
			delete(*s.bars, number)
		}
	}
}

// maxSkew is how far the clocks of machines that share a chart may lie apart.
const maxSkew = 5 * time.Minute

// merge adds another chart. What is later than now comes from a clock that was wrong, and
// would make everything else too old.
func (c *chart) merge(other *chart, now time.Time) {
	theirs := other.scales()
	for i, s := range c.scales() {
		if *s.bars == nil {
			*s.bars = make(bars)
		}
		for number, one := range *theirs[i].bars {
			(*s.bars)[number] = (*s.bars)[number].plus(one)
		}
		newest, latest := int64(0), now.Add(maxSkew).Unix()/int64(s.span/time.Second)
		for number := range *s.bars {
			if number <= latest {
				newest = max(newest, number)
			}
		}
		s.prune(newest)
	}
}
