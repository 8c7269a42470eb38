package responses_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/wire/responses"
	"github.com/carryon-go/carryon/todo"
)

// body is a body that was kept.
type body string

func (b body) Bytes() ([]byte, error) { return []byte(b), nil }

func TestToolsAreNamed(t *testing.T) {
	t.Parallel()
	const request = `{"input":"Go.","tools":[{"type":"function","name":"bash"},{"type":"web_search"},` +
		`{"type":"namespace","name":"tasks","tools":[{"type":"function","name":"update_plan"}]},{"type":"tool_search"}]}`
	facts, _, ok := responses.New().Parse([]byte(request), body(request))
	require.True(t, ok)
	assert.Equal(t, []string{"bash", "update_plan", "tasks", "tool_search"}, slices.Collect(facts.ToolNames.ToolNames))
}

func TestHistoryHasWhatTheAgentWrote(t *testing.T) {
	t.Parallel()
	const input = `{"input":[{"role":"user","content":"Begin."},{"type":"function_call","call_id":"c1","name":"task"},` +
		`{"type":"function_call_output","call_id":"c1","output":"<task-notification>a</task-notification>"},` +
		`{"type":"message","role":"user","content":[{"type":"input_text","text":"<task-notification>b</task-notification>"},{"type":"input_text","text":"And?"}]},` +
		`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"<task-notification>c</task-notification>"}]},` +
		`{"type":"message","role":"developer","content":[{"type":"input_text","text":"<task-notification>d</task-notification>"}]},` +
		`{"role":"user","content":"<task-notification>e</task-notification>"}]}`
	facts, _, ok := responses.New().Parse([]byte(input), body(input))
	require.True(t, ok)
	assert.Equal(t, []adapter.Entry{
		{Automatic: "<task-notification>e</task-notification>"},
		{Automatic: "<task-notification>d</task-notification>"},
		{Automatic: "<task-notification>b</task-notification>"},
		{FromUser: true},
		{Call: todo.Call{ID: "c1", Name: "task", Result: "<task-notification>a</task-notification>", Answered: true, UserMessagesAfter: 1}},
		{FromUser: true},
	}, slices.Collect(facts.History))
	assert.Equal(t, 2, facts.Users)
}
