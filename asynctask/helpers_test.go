package asynctask_test

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
)

var update = flag.Bool("update", false, "write the golden files anew")

func in(tb testing.TB, session string) context.Context {
	tb.Helper()
	return continuation.WithSession(tb.Context(), session)
}

// setup is a Manager under a clock that stands still.
type setup struct {
	*asynctask.Manager

	t     testing.TB
	clock *carryontest.Clock
}

func newSetup(tb testing.TB, opts ...asynctask.Option) *setup {
	tb.Helper()
	clock := carryontest.NewClock()
	m := asynctask.NewManager(append([]asynctask.Option{asynctask.WithClock(clock)}, opts...)...)
	tb.Cleanup(func() { assert.NoError(tb, m.Close(context.WithoutCancel(tb.Context()))) })
	return &setup{Manager: m, t: tb, clock: clock}
}

// begins begins tasks that run elsewhere and are named like their ids.
func (s *setup) begins(session string, ids ...string) {
	s.t.Helper()
	for _, id := range ids {
		_, err := s.Begin(in(s.t, session), id, id)
		require.NoError(s.t, err)
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

// told returns the ids that the next reminder of the session would tell of.
func (s *setup) told(session string) []string {
	r := s.Remind(session)
	if r == nil {
		return nil
	}
	defer r.Release()
	return r.Tasks()
}

// acks has the session told of all there is.
func (s *setup) acks(session string) {
	if r := s.Remind(session); r != nil {
		r.Ack()
	}
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
