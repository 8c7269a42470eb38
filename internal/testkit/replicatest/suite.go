package replicatest

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/recordtable"
	"github.com/carryon-go/carryon/internal/session"
	"github.com/carryon-go/carryon/records"
)

// Run tests two replicas A and B of a program on the engine at the URL. The
// function given to [Main] opens the engine in the replicas; this process uses
// it too.
func Run(t *testing.T, url string, engine records.Records) {
	t.Helper()
	s := &suite{url: url, engine: engine, model: startModel(t)}
	for name, test := range map[string]func(*suite, *testing.T){
		"budgets are exact":                           (*suite).budgets,
		"a pause set on A is seen by B":               (*suite).pause,
		"a setting made on A is obeyed by B":          (*suite).settings,
		"claims exclude one another":                  (*suite).claims,
		"a replica that dies costs ClaimLife at most": (*suite).death,
		"a replica that ends gives its claims back":   (*suite).shutdown,
		"a newer version loses nothing":               (*suite).newerVersion,
		"a hot session loses no update":               (*suite).hotSession,
	} {
		t.Run(name, func(t *testing.T) { test(s, t) })
	}
}

type suite struct {
	url    string
	engine records.Records
	model  *model
}

// open returns limits that no test reaches.
func open() continuation.Limits {
	return continuation.Limits{
		MaxAttempts: continuation.Off, MaxWithoutProgress: 2, MinInterval: continuation.Off, FirstByteTimeout: continuation.Off,
	}
}

// replicas starts A and B.
func (s *suite) replicas(t *testing.T, limits continuation.Limits) (a, b *Process) {
	t.Helper()
	c := config{Engine: s.url, Model: s.model.URL, Limits: limits}
	return start(t, c), start(t, c)
}

const alreadyActive = "already_active"

// budgets makes eight calls at a time in one user turn until the turn's budget
// is used up.
func (s *suite) budgets(t *testing.T) {
	const budget = 20
	limits := open()
	limits.MaxWithoutProgress = budget
	a, b := s.replicas(t, limits)
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		total int
	)
	for caller := range 8 {
		p := []*Process{a, b}[caller%2]
		wg.Go(func() {
			for {
				done := <-p.send(command{Op: "call", Session: "budgets", Text: "Budgets."})
				mu.Lock()
				total += done.Continuations
				mu.Unlock()
				if done.Reason != alreadyActive { // the list is stale then, which leaves later calls one attempt
					assert.Contains(t, []string{"max_without_progress", "max_attempts"}, done.Reason, done.Err)
					return
				}
			}
		})
	}
	wg.Wait()
	assert.Equal(t, budget, total)
	assert.Equal(t, budget, s.model.continued("Budgets."))
}

func (s *suite) pause(t *testing.T) {
	a, b := s.replicas(t, open())
	assert.Equal(t, 2, b.do(command{Op: "call", Session: "pause", Text: "Pause."}).Continuations)
	a.do(command{Op: "call", Session: "pause", Text: "Pause again."}) // a new user turn
	a.do(command{Op: "pause", Session: "pause", Text: "The paint is missing"})
	done := b.do(command{Op: "call", Session: "pause", Text: "Pause again."})
	assert.Equal(t, "paused", done.Reason)
	assert.Zero(t, done.Continuations)
}

func (s *suite) settings(t *testing.T) {
	a, b := s.replicas(t, open())
	call := command{Op: "call", Session: "settings", Text: "Settings."}
	a.do(command{Op: "set", Session: "settings", Text: "/set todo-continuation off"})
	done := b.do(call)
	assert.Equal(t, "disabled", done.Reason)
	assert.Zero(t, done.Continuations)
	assert.Equal(t, 2, b.do(command{Op: "call", Session: "other", Text: "Settings of another."}).Continuations)
	assert.Contains(t, b.do(command{Op: "set", Session: "settings", Text: "/set"}).Text, "todo-continuation is false")
	b.do(command{Op: "set", Session: "settings", Text: "/set todo-continuation on"})
	assert.Equal(t, 2, a.do(call).Continuations)
}

// claims checks that B does not continue a session that A has claimed.
func (s *suite) claims(t *testing.T) {
	a, b := s.replicas(t, open())
	call := command{Op: "call", Session: "claims", Text: hangs + " Claims."}
	_ = a.send(call) // which hangs until the test ends
	<-s.model.hanging
	for range 5 {
		done := b.do(call)
		assert.Equal(t, alreadyActive, done.Reason)
		assert.Contains(t, done.Text, "I will paint it next.", "the answer is not lost")
	}
	assert.Equal(t, 1, s.model.continued(call.Text))
}

// death kills A during a continuation.
func (s *suite) death(t *testing.T) {
	limits := open()
	limits.ClaimLife = 2 * time.Second
	a, b := s.replicas(t, limits)
	call := command{Op: "call", Session: "death", Text: hangs + " Death."}
	_ = a.send(call)
	<-s.model.hanging
	claimed := time.Now()
	a.kill()
	assert.Equal(t, alreadyActive, b.do(call).Reason)
	again := b.hangsAgain(s.model, call)
	assert.WithinRange(t, again, claimed.Add(limits.ClaimLife/2), claimed.Add(limits.ClaimLife+5*time.Second))
}

// hangsAgain repeats a call until it is continued, and returns the time of
// that.
func (p *Process) hangsAgain(m *model, call command) time.Time {
	p.tb.Helper()
	for {
		select {
		case done := <-p.send(call):
			require.Equal(p.tb, alreadyActive, done.Reason, done.Err)
		case <-m.hanging:
			return time.Now()
		}
	}
}

// shutdown drains A during a continuation.
func (s *suite) shutdown(t *testing.T) {
	a, b := s.replicas(t, open()) // where a claim lives for ten minutes
	call := command{Op: "call", Session: "shutdown", Text: hangs + " Shutdown."}
	hanging := a.send(call)
	<-s.model.hanging
	a.do(command{Op: "drain"})
	done := <-hanging
	assert.Empty(t, done.Err)
	assert.Contains(t, done.Text, "I will paint it next.", "the answer ends as its last good turn did")
	_ = b.send(call)
	<-s.model.hanging // B continues at once
	assert.Zero(t, a.do(call).Continuations, "a replica that ends continues nothing")
}

// newerVersion writes the state as a newer version of carryon would in a
// rolling deploy.
func (s *suite) newerVersion(t *testing.T) {
	a, b := s.replicas(t, open())
	a.do(command{Op: "call", Session: "newer", Text: "Newer."})
	key := recordtable.Format{Kind: "state"}.Key("newer")
	const record = `carryon/state/1000000 {"user_turn":1,"budget":"that this version does not know"}`
	put := func(next string) (old string) {
		require.NoError(t, s.engine.Update(t.Context(), key, func(_ time.Time, found []byte) ([]byte, time.Duration, error) {
			old = string(found)
			return []byte(next), time.Hour, nil
		}))
		return old
	}
	assert.Contains(t, put(record), `carryon/state/1 {`)
	for _, p := range []*Process{a, b} {
		done := p.do(command{Op: "call", Session: "newer", Text: "Newer."})
		assert.Equal(t, "store", done.Reason)
		assert.Zero(t, done.Continuations)
		assert.Contains(t, done.Text, "I will paint it next.", "the answer is not lost")
		failed := <-p.send(command{Op: "set", Session: "newer", Text: "/set todo-continuation off"})
		assert.Contains(t, failed.Err, records.ErrNewer.Error())
	}
	assert.Equal(t, record, put(record), "nothing was overwritten")
	assert.Equal(t, 2, b.do(command{Op: "call", Session: "older", Text: "Older."}).Continuations, "other sessions are not affected")
}

// hotSession lets both update one session as fast as they can, far faster than
// any agent: each of them gets through.
func (s *suite) hotSession(t *testing.T) {
	const updates = 300
	a, b := s.replicas(t, open())
	hot := command{Op: "updates", Session: "hot", Updates: updates}
	first, second := a.send(hot), b.send(hot)
	require.Empty(t, (<-first).Err)
	require.Empty(t, (<-second).Err)
	var last decision.State // of the last try: an update may run its function more than once
	require.NoError(t, session.NewSharedStore(s.engine, continuation.DefaultLimits().SessionLife).Update(t.Context(), "hot", func(state decision.State) decision.State {
		last = state
		return state
	}))
	assert.Equal(t, 2*updates, last.Tokens)
}

// BenchmarkHotSession lets two processes update one session as fast as they can,
// and reports how many updates each makes in a second, and the share of the one
// that made fewer. A fair share is half of them.
func BenchmarkHotSession(b *testing.B, url string) {
	b.Helper()
	processes := [2]*Process{start(b, config{Engine: url}), start(b, config{Engine: url})}
	var counted [2]int
	for b.Loop() {
		var answers [2]<-chan answer
		for i, p := range processes {
			answers[i] = p.send(command{Op: "updates", Session: "hot", For: time.Second})
		}
		for i := range answers {
			done := <-answers[i]
			require.Empty(b, done.Err)
			counted[i] += done.Updates
		}
	}
	fewer, all := min(counted[0], counted[1]), counted[0]+counted[1]
	b.ReportMetric(float64(all)/2/float64(b.N), "updates/s")
	b.ReportMetric(100*float64(fewer)/float64(max(all, 1)), "%-fewer")
	b.ReportMetric(0, "ns/op") // always a second
}
