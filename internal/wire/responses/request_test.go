package responses_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/reading"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/internal/wire/responses"
	"github.com/carryon-go/carryon/todo"
)

func TestToolsAreNamed(t *testing.T) {
	t.Parallel()
	const request = `{"input":"Go.","tools":[{"type":"function","name":"bash"},{"type":"web_search"},` +
		`{"type":"namespace","name":"tasks","tools":[{"type":"function","name":"update_plan"}]},{"type":"tool_search"}]}`
	facts, _, ok := responses.New().Parse(nil, []byte(request), wiretest.Body(request))
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
	facts, _, ok := responses.New().Parse(nil, []byte(input), wiretest.Body(input))
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

// Codex offers its tools in an item of the input, and most of them to scripts alone.
func TestToolsOfCodeModeAreNamed(t *testing.T) {
	t.Parallel()
	const request = `{"input":[{"type":"additional_tools","role":"developer","tools":[{"type":"namespace","name":"functions","tools":[` +
		`{"type":"custom","name":"exec","description":"Run a script.\n\n### ` + "`exec_command`" + `\nRuns a command.\n\ndeclare const tools: { exec_command(args: {\n  cmd: string;\n}): Promise<unknown>; };` +
		`\n\ndeclare const tools: { update_plan(args: {\n}): Promise<unknown>; };\n\ndeclare const tools: { not a name(x): 1 };","format":{"type":"grammar","syntax":"lark"}},` +
		`{"type":"function","name":"wait","description":"declare const tools: { hidden(x): 1 };"}]}]},{"type":"message","role":"user","content":[{"type":"input_text","text":"Go."}]}]}`
	facts, _, ok := responses.New().Parse(nil, []byte(request), wiretest.Body(request))
	require.True(t, ok)
	assert.Equal(t, []string{"exec", "exec_command", "update_plan", "wait", "functions"}, slices.Collect(facts.ToolNames.ToolNames))
	for name := range facts.ToolNames.ToolNames {
		require.Equal(t, "exec", name)
		break
	}
}

// A running script sends notices, which are outputs of its call too.
func TestNoticesOfScriptsAreNoResults(t *testing.T) {
	t.Parallel()
	const (
		call   = `{"type":"custom_tool_call","call_id":"c","name":"exec","input":"notify(1)"}`
		notice = `{"type":"custom_tool_call_output","call_id":"c","name":"exec","output":"1"}`
		output = `{"type":"custom_tool_call_output","call_id":"c","output":[{"type":"input_text","text":"Script completed\n"},{"type":"input_text","text":"{}"}]}`
	)
	for items, want := range map[string]string{
		call + "," + output + "," + notice: "Script completed\n{}",
		call + "," + notice + "," + output: "Script completed\n{}",
		call + "," + notice:                "1",
	} {
		request := `{"input":[` + items + `]}`
		facts, _, ok := responses.New().Parse(nil, []byte(request), wiretest.Body(request))
		require.True(t, ok)
		for c := range reading.CallsOf(facts.History) {
			assert.Equal(t, want, c.Result, items)
			assert.True(t, c.Answered)
		}
	}
}
