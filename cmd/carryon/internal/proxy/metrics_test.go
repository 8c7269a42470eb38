package proxy

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
)

func TestMetrics(t *testing.T) {
	t.Parallel()
	s := newScene(t, "-metrics")
	s.ask(t, conversation{}, carryontest.Text(plan).Usage(100, 10), edit().Usage(120, 20))
	s.ask(t, conversation{stream: true}, carryontest.Text(plan), carryontest.Pause("The grammar file grammar.ebnf is missing"))
	got := s.get(t, metricsPath)
	require.NoError(t, got.err)
	for _, line := range []string{
		`carryon_requests_total{status="200"} 2`,
		`carryon_decisions_total{reason="satisfied"} 2`,
		`carryon_decisions_total{reason="tool_calls"} 1`,
		`carryon_continuations_total{result="well"} 2`,
		`carryon_tokens_total{kind="prompt",turn="own"} 110`,
		`carryon_tokens_total{kind="completion",turn="continuation"} 25`,
		`carryon_pauses_total 1`,
	} {
		assert.Contains(t, got.body, line+"\n")
	}
}

func TestMetricsAreThereIfAskedFor(t *testing.T) {
	t.Parallel()
	got := newScene(t).get(t, metricsPath)
	require.NoError(t, got.err)
	assert.Equal(t, http.StatusNotFound, got.status)
}
