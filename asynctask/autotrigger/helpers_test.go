package autotrigger_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/delivery"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// inA is a ctx of session a.
func inA(tb testing.TB) context.Context {
	tb.Helper()
	return continuation.WithSession(tb.Context(), "a")
}

// setup is a Manager for tests that name tasks by their ids alone.
type setup struct {
	*asynctask.Manager

	t       *testing.T
	ctx     context.Context
	tickets map[string]asynctask.Ticket
}

func setupOf(t *testing.T, m *asynctask.Manager) *setup {
	t.Helper()
	return &setup{Manager: m, t: t, ctx: t.Context(), tickets: map[string]asynctask.Ticket{}}
}

// begins begins tasks that run elsewhere and are named like their ids.
func (s *setup) begins(session string, ids ...string) {
	s.t.Helper()
	for _, id := range ids {
		ticket, err := s.Begin(continuation.WithSession(s.ctx, session), id, id)
		require.NoError(s.t, err)
		s.tickets[id] = ticket
	}
}

// ends begins and finishes tasks that run elsewhere.
func (s *setup) ends(session string, ids ...string) {
	s.t.Helper()
	for _, id := range ids {
		s.begins(session, id)
		assert.NoError(s.t, s.Finish(s.ctx, s.tickets[id], asynctask.Message("result of "+id)))
	}
}

// told returns the ids of the tasks that the next reminder of the session would report.
func (s *setup) told(session string) []string {
	s.t.Helper()
	r, err := s.Deliveries().Remind(s.ctx, session)
	require.NoError(s.t, err)
	if r == nil {
		return nil
	}
	defer s.settle(r, delivery.Unread)
	return r.Tasks
}

// deliver returns the delivery for a request of session a.
func (s *setup) deliver() *delivery.Delivery {
	s.t.Helper()
	d, err := s.Deliveries().Deliver(s.ctx, "a", delivery.Options{})
	require.NoError(s.t, err)
	require.NotNil(s.t, d)
	return d
}

func (s *setup) settle(d *delivery.Delivery, outcome delivery.Outcome) {
	s.t.Helper()
	assert.NoError(s.t, s.Deliveries().Settle(s.ctx, d, outcome))
}

// ids returns the ids of the tasks whose ends a message reports.
func ids(message string) (list []string) {
	for _, match := range regexp.MustCompile(`"agent_id": "([^"]*)"`).FindAllStringSubmatch(message, -1) {
		list = append(list, match[1])
	}
	return list
}

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
