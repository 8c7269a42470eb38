package asynctask_test

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/delivery"
	"github.com/carryon-go/carryon/internal/testkit/testclock"
)

var update = flag.Bool("update", false, "write the golden files anew")

func in(tb testing.TB, session string) context.Context {
	tb.Helper()
	return continuation.WithSession(tb.Context(), session)
}

// setup is a Manager with a clock that stands still, for tests that name tasks by
// their ids and whose store does not fail.
type setup struct {
	*asynctask.Manager
	deliveries delivery.Tasks

	t     testing.TB
	clock *testclock.Clock

	mu      sync.Mutex
	tickets map[string]asynctask.Ticket // of the task begun last with an id
}

func newSetup(tb testing.TB, opts ...asynctask.Option) *setup {
	tb.Helper()
	clock := testclock.New()
	m := asynctask.NewManager(append([]asynctask.Option{asynctask.WithClock(clock)}, opts...)...)
	tb.Cleanup(func() { assert.NoError(tb, m.Close(context.WithoutCancel(tb.Context()))) })
	return setupOf(tb, m, clock)
}

func setupOf(tb testing.TB, m *asynctask.Manager, clock *testclock.Clock) *setup {
	tb.Helper()
	return &setup{Manager: m, deliveries: m.Deliveries(), t: tb, clock: clock, tickets: map[string]asynctask.Ticket{}}
}

// ctx returns the ctx for calls that need no session. It outlives the test.
func (s *setup) ctx() context.Context { return context.WithoutCancel(s.t.Context()) }

// ticket returns the ticket of the task begun last with the id.
func (s *setup) ticket(id string) asynctask.Ticket {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t, ok := s.tickets[id]; ok {
		return t
	}
	return asynctask.Ticket{Session: "a", ID: id}
}

func (s *setup) began(t asynctask.Ticket) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tickets[t.ID] = t
	return t.ID
}

func (s *setup) Start(ctx context.Context, name string, f asynctask.Func) (string, error) {
	ticket, err := s.Manager.Start(ctx, name, f)
	if err != nil {
		assert.Zero(s.t, ticket)
		return "", err
	}
	return s.began(ticket), nil
}

func (s *setup) Begin(ctx context.Context, id, name string) error {
	ticket, err := s.Manager.Begin(ctx, id, name)
	if err == nil {
		s.began(ticket)
	}
	return err
}

func (s *setup) Finish(id string, output *asynctask.Output) error {
	return s.Manager.Finish(s.ctx(), s.ticket(id), output)
}

func (s *setup) Fail(id string, err error) error { return s.Manager.Fail(s.ctx(), s.ticket(id), err) }

func (s *setup) Cancel(id string) error { return s.Manager.Cancel(s.ctx(), s.ticket(id)) }

func (s *setup) Forget(session string) {
	s.t.Helper()
	assert.NoError(s.t, s.Manager.Forget(s.ctx(), session))
}

func (s *setup) Get(id string) (asynctask.Task, bool) {
	s.t.Helper()
	task, err := s.Manager.Get(s.ctx(), s.ticket(id))
	if err != nil {
		require.ErrorIs(s.t, err, asynctask.ErrUnknown)
	}
	return task, err == nil
}

func (s *setup) Wait(ctx context.Context, id string) (asynctask.Task, error) {
	return s.Manager.Wait(ctx, s.ticket(id))
}

func (s *setup) Tasks(session string) []asynctask.Task {
	s.t.Helper()
	tasks, err := s.Manager.Tasks(s.ctx(), session)
	assert.NoError(s.t, err)
	return tasks
}

func (s *setup) Pending(session string, maxAge time.Duration) (n int, oldest time.Time) {
	s.t.Helper()
	p, err := s.deliveries.Pending(s.ctx(), session, maxAge)
	assert.NoError(s.t, err)
	return p.Unfinished, p.Oldest
}

func (s *setup) Summary(session string) string {
	s.t.Helper()
	summary, err := s.Manager.Summary(s.ctx(), session)
	assert.NoError(s.t, err)
	return summary
}

func (s *setup) Remind(session string) *delivery.Delivery {
	s.t.Helper()
	r, err := s.deliveries.Remind(s.ctx(), session)
	assert.NoError(s.t, err)
	return r
}

func (s *setup) Deliver(session string, o delivery.Options) *delivery.Delivery {
	s.t.Helper()
	d, err := s.deliveries.Deliver(s.ctx(), session, o)
	assert.NoError(s.t, err)
	return d
}

func (s *setup) settle(d *delivery.Delivery, outcome delivery.Outcome) {
	s.t.Helper()
	assert.NoError(s.t, s.deliveries.Settle(s.ctx(), d, outcome))
}

// begins begins tasks that run elsewhere and are named like their ids.
func (s *setup) begins(session string, ids ...string) {
	s.t.Helper()
	for _, id := range ids {
		assert.NoError(s.t, s.Begin(in(s.t, session), id, id))
	}
}

// ends begins and finishes tasks that run elsewhere.
func (s *setup) ends(session string, ids ...string) {
	s.t.Helper()
	for _, id := range ids {
		s.begins(session, id)
		require.NoError(s.t, s.Finish(id, asynctask.Message("result of "+id)))
	}
}

// told returns the ids of the tasks that the next reminder of the session would report.
func (s *setup) told(session string) []string {
	s.t.Helper()
	r := s.Remind(session)
	if r == nil {
		return nil
	}
	defer s.settle(r, delivery.Unread)
	return r.Tasks
}

// acks delivers everything to the session.
func (s *setup) acks(session string) {
	s.t.Helper()
	if r := s.Remind(session); r != nil {
		s.settle(r, delivery.Delivered)
	}
}

// repeated returns what a delivery repeats, without the ids.
func repeated(d *delivery.Delivery) []delivery.Note {
	notes := slices.Clone(d.Repeated)
	for i := range notes {
		notes[i].ID = 0
	}
	return notes
}

// at is the anchor of a message.
func at(message int) delivery.Anchor { return delivery.Anchor{Message: message, Digest: 1} }

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".txt")
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}

// payload is a completion as the model reads it.
type payload struct {
	AgentID         string            `json:"agent_id"`
	Status          string            `json:"status"`
	TerminateReason string            `json:"terminate_reason"`
	EmittedVars     map[string]string `json:"emitted_vars"`
	FinalMessage    *string           `json:"final_message"`
	Error           *string           `json:"error"`
}

// payloads reads the completions of a reminder, and how long the longest is.
func payloads(t require.TestingT, text string) (list []payload, longest int) {
	for part := range strings.SplitSeq(text, "\n\n") {
		if !strings.HasPrefix(part, "{") {
			continue
		}
		part = strings.TrimSuffix(part, "\n---")
		longest = max(longest, len(part))
		var p payload
		require.NoError(t, json.Unmarshal([]byte(part), &p))
		list = append(list, p)
	}
	return list, longest
}

// deaf is a task that does not notice that it was cancelled.
func deaf(hold <-chan struct{}) asynctask.Func {
	return func(context.Context) (*asynctask.Output, error) {
		<-hold
		return nil, nil
	}
}
