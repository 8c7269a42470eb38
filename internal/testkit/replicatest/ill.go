package replicatest

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/clock"
	"github.com/carryon-go/carryon/internal/recordtable"
	"github.com/carryon-go/carryon/internal/testkit/syncbuf"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/records"
	"github.com/carryon-go/carryon/todo"
)

// Illness is a way in which an engine fails for a while.
type Illness struct {
	Engine records.Records // the healthy engine
	Ill    records.Records // replaces Engine during the illness; nil for Engine itself
	Begin  func(*testing.T)
	End    func(*testing.T)
	Says   string // the text that the log must have about it
}

// Test runs a program through the illness. It checks that no answer is lost,
// that nothing is continued, and that the log reports the illness and the
// recovery once each.
func (i Illness) Test(t *testing.T) {
	t.Helper()
	engine := &switching{current: i.Engine}
	p := newPatient(t, engine)
	assert.Equal(t, 3, p.ask(t, "before", "max_without_progress"), "it is well")
	if i.Ill != nil {
		engine.set(i.Ill)
	}
	if i.Begin != nil {
		i.Begin(t)
	}
	for n := range 8 { // long enough for some calls to try the engine again
		assert.Equal(t, 1, p.ask(t, "during", "store", "store_skipped"), "call %d", n)
		p.clock.advance(2 * time.Second)
	}
	said := p.log.lines("level=ERROR")
	require.Len(t, said, 1, "%s", strings.Join(said, "\n"))
	assert.Contains(t, said[0], i.Says)
	assert.NotContains(t, said[0], "secret")
	if i.End != nil {
		i.End(t)
	}
	engine.set(i.Engine)
	p.clock.advance(10 * time.Second)
	assert.Equal(t, 3, p.ask(t, "after", "max_without_progress"), "it is well again")
	assert.Len(t, p.log.lines("level=ERROR"), 1)
	assert.Len(t, p.log.lines("carryon: recovered"), 1)
	assert.Equal(t, 1, p.ask(t, "before", "max_attempts"), "what was stored is there")
}

// TestBadRecords gives a program records that it cannot read. It checks that
// their sessions are not continued, that the log reports each once, and that
// the records do not change.
func TestBadRecords(t *testing.T, engine records.Records) {
	t.Helper()
	p := newPatient(t, engine)
	for record, says := range map[string]string{
		"another program's":                      records.ErrForeign.Error(),
		`carryon/todos/1 {"todos":[]}`:           records.ErrForeign.Error(),
		`carryon/state/1 {"attempts":1,"new":2}`: records.ErrForeign.Error(),
		`carryon/state/1000000 {}`:               records.ErrNewer.Error(),
	} {
		before := len(p.log.lines("level=ERROR"))
		exchange(t, engine, record, record)
		for range 4 {
			assert.Equal(t, 1, p.ask(t, record, "store"), record)
			p.clock.advance(10 * time.Second)
		}
		said := p.log.lines("level=ERROR")[before:]
		require.Len(t, said, 1, record)
		assert.Contains(t, said[0], says, record)
		assert.Equal(t, record, exchange(t, engine, record, record), "it was not overwritten")
		assert.Equal(t, 3, p.ask(t, "not "+record, "max_without_progress"), "other sessions are not affected")
	}
	assert.Empty(t, p.log.lines("carryon: recovered"), "the engine was never ill")
}

// exchange replaces the record of a session's state, and returns the old
// record.
func exchange(t *testing.T, engine records.Records, session, record string) (was string) {
	t.Helper()
	key := recordtable.Format{Kind: "state"}.Key(session)
	require.NoError(t, engine.Update(t.Context(), key, func(_ time.Time, old []byte) ([]byte, time.Duration, error) {
		was = string(old)
		return []byte(record), time.Hour, nil
	}))
	return was
}

// patient is a program whose engine may be ill.
type patient struct {
	client *http.Client
	model  *model
	clock  *shiftedClock
	log    *logBook
}

func newPatient(t *testing.T, engine records.Records) *patient {
	t.Helper()
	p := &patient{model: startModel(t), clock: new(shiftedClock), log: new(logBook)}
	limits := open()
	limits.StoreTimeout = 10 * time.Second
	mw := middleware.New(todo.Static(todo.Todo{ID: "1", Content: "Paint the fence", Status: todo.Pending}),
		middleware.WithRecords(engine), middleware.WithLimits(limits), clock.Option[middleware.Option](p.clock),
		middleware.WithLogger(slog.New(slog.NewTextHandler(p.log, nil))))
	p.client = &http.Client{Transport: transport.New(http.DefaultTransport, mw)}
	return p
}

// ask makes a call, which must end for one of the reasons, and returns the
// number of turns in its answer.
func (p *patient) ask(t *testing.T, session string, reasons ...string) (turns int) {
	t.Helper()
	r := replica{client: p.client, model: p.model.URL}
	done, err := r.call(continuation.WithSession(t.Context(), session), "Paint.")
	require.NoError(t, err)
	assert.Contains(t, reasons, done.Reason)
	var whole map[string]any
	require.NoError(t, json.Unmarshal([]byte(done.Text), &whole), "the answer is whole")
	return strings.Count(done.Text, "I will paint it next.")
}

// switching is an engine that can be replaced by another.
type switching struct {
	mu      sync.Mutex
	current records.Records
}

func (s *switching) set(engine records.Records) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current = engine
}

// Update implements records.Records.
func (s *switching) Update(ctx context.Context, key string, f records.UpdateFunc) error {
	s.mu.Lock()
	engine := s.current
	s.mu.Unlock()
	return engine.Update(ctx, key, f)
}

// shiftedClock is this machine's clock, some time ahead.
type shiftedClock struct{ ahead atomic.Int64 }

func (c *shiftedClock) advance(d time.Duration) { c.ahead.Add(int64(d)) }

// Now implements clock.Clock.
func (c *shiftedClock) Now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

// AfterFunc implements clock.Clock.
func (*shiftedClock) AfterFunc(d time.Duration, f func()) clock.Timer {
	return time.AfterFunc(d, f)
}

// logBook records log lines.
type logBook struct{ syncbuf.Buffer }

// lines returns the lines with the text.
func (l *logBook) lines(with string) (found []string) {
	for line := range strings.Lines(l.String()) {
		if strings.Contains(line, with) {
			found = append(found, line)
		}
	}
	return found
}
