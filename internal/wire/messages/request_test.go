package messages_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/reading"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/internal/wire"
	"github.com/carryon-go/carryon/internal/wire/messages"
	"github.com/carryon-go/carryon/todo"
)

const conversation = `{"model":"claude-sonnet-4-5","max_tokens":100,"stream":true,"system":"Be brief.","messages":[` +
	`{"role":"user","content":"First."},` +
	`{"role":"assistant","content":"Yes?"},` +
	`{"role":"user","content":[{"type":"text","text":"Write it.","cache_control":{"type":"ephemeral"}},{"type":"image","cache_control":{"type":"ephemeral"},"source":{"url":"a"}}]},` +
	`{"role":"assistant","content":[{"type":"text","text":"Now."},{"type":"tool_use","id":"t1","name":"TodoWrite","input":{"todos":[]}},{"type":"tool_use","id":"t2","name":"edit_file","input":{}}]},` +
	`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"},{"type":"tool_result","tool_use_id":"t2","is_error":true,"content":[{"type":"text","text":"no such file"}]},{"type":"text","text":"Note."}]}` +
	`],"tools":[{"name":"TodoWrite","strict":true},{"type":"bash_20250124","name":"bash"}],"tool_choice":{"type":"auto"}}`

func parse(t *testing.T, b string) (adapter.Request, wire.Request) {
	t.Helper()
	facts, parsed, ok := messages.Protocol{}.Parse(nil, []byte(b), wiretest.Body(b))
	require.True(t, ok)
	return facts, parsed
}

func TestFactsOfARequest(t *testing.T) {
	t.Parallel()
	f, parsed := parse(t, conversation)
	assert.True(t, parsed.Stream())
	assert.Equal(t, []any{2, false, false, adapter.ToolChoiceAuto}, []any{f.Tools, f.StrictTools, f.OwnPause, f.Choice})
	assert.Equal(t, []any{5, 2, "Write it.\x00{\"type\":\"image\",\"source\":{\"url\":\"a\"}}\x00"}, []any{f.Messages, f.Users, f.User})
	assert.Equal(t, []any{"claude-sonnet-4-5", "anthropic", true}, []any{f.Model, f.Provider, f.Streamed})
	assert.Equal(t, []string{"TodoWrite", "bash"}, slices.Collect(f.ToolNames.ToolNames))
	assert.NotNil(t, f.Loop)
	var calls []todo.Call
	for call := range reading.CallsOf(f.History) {
		calls = append(calls, call)
	}
	assert.Equal(t, []todo.Call{
		{ID: "t2", Name: "edit_file", Arguments: "{}", Result: "Error: no such file", Answered: true},
		{ID: "t1", Name: "TodoWrite", Arguments: `{"todos":[]}`, Result: "ok", Answered: true},
	}, calls)
	attachable := parsed.Attachable(wiretest.Body(conversation))
	text, ok := attachable(4)
	assert.Equal(t, "okError: no such fileNote.", text)
	assert.True(t, ok)
	_, ok = attachable(3)
	assert.False(t, ok, "the assistant's")
	_, ok = attachable(9)
	assert.False(t, ok)
}

func TestWhatIsNoRequestOfTheProtocol(t *testing.T) {
	t.Parallel()
	for _, b := range []string{`{}`, `[]`, `{"messages":{}}`, `{"messages":[]`, `{"messages":[]}x`, ``, `{"role":"user","content":"x"}`} {
		_, _, ok := messages.Protocol{}.Parse(nil, []byte(b), wiretest.Body(b))
		assert.False(t, ok, b)
	}
}

func TestNotesAreJoinedBehindResults(t *testing.T) {
	t.Parallel()
	_, parsed := parse(t, conversation)
	got := parsed.Add([]byte(conversation), &adapter.Additions{Attachments: []adapter.Attachment{{Message: 0, Text: "\n\nA"}, {Message: 4, Text: "\n\nB"}}})
	assert.Contains(t, string(got), `{"role":"user","content":"First.\n\nA"}`)
	assert.Contains(t, string(got), `{"type":"text","text":"Note."},{"type":"text","text":"\n\nB"}]}]`)
	assert.Len(t, got, len(conversation)+len(`\n\nA`)+len(`,{"type":"text","text":"\n\nB"}`))
}

// Which models think unasked, by name.
func TestModelsThatThinkUnasked(t *testing.T) {
	t.Parallel()
	for model, want := range map[string]bool{
		"claude-opus-5-5": true, "claude-sonnet-5-5-20260801": true, "claude-haiku-5-5": true, "claude-fable-5-1": true, "claude-mythos-5-2": true,
		"anthropic/claude-opus-5.5": true, "claude-opus-6": true, "claude-opus-5-5@20260801": true, "claude-latest": true, "claude": true,
		"claude-opus-5": false, "claude-sonnet-4-5-20250929": false, "claude-3-7-sonnet-latest": false, "claude-3-5-haiku-20241022": false,
		"us.anthropic.claude-opus-5-v1:0": false, "claude-opus-5-20260101": false, "claude-2.1": false,
		"gpt-5": false, "qwen3-coder": false, "": false, "deepseek-chat": false,
	} {
		f, _ := parse(t, `{"model":"`+model+`","messages":[]}`)
		assert.Equal(t, want, f.FixedPrefix, model)
	}
}

func TestHistoryHasWhatTheAgentWrote(t *testing.T) {
	t.Parallel()
	facts, _ := parse(t, `{"messages":[{"role":"user","content":"Begin."},`+
		`{"role":"assistant","content":[{"type":"text","text":"<task-notification>a</task-notification>"},{"type":"tool_use","id":"c1","input":{}}]},`+
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"<task-notification>b</task-notification>"},`+
		`{"type":"text","text":"<task-notification>c</task-notification>"},{"type":"text","text":"Not of the agent."}]},`+
		`{"role":"user","content":[{"type":"text","text":"<task-notification>d</task-notification>"},{"type":"text","text":"And?"}]},`+
		`{"role":"system","content":"<task-notification>e</task-notification>"},`+
		`{"role":"system","content":[{"type":"text","text":"<task-notification>f</task-notification>"}]},`+
		`{"role":"user","content":"<task-notification>g</task-notification>"}]}`)
	assert.Equal(t, []adapter.Entry{
		{Automatic: "<task-notification>g</task-notification>"},
		{Automatic: "<task-notification>f</task-notification>"},
		{Automatic: "<task-notification>e</task-notification>"},
		{Automatic: "<task-notification>d</task-notification>"},
		{FromUser: true},
		{Automatic: "<task-notification>c</task-notification>"},
		{Call: todo.Call{ID: "c1", Arguments: "{}", Result: "<task-notification>b</task-notification>", Answered: true, UserMessagesAfter: 1}},
		{FromUser: true},
	}, slices.Collect(facts.History))
	assert.Equal(t, 2, facts.Users)
	assert.True(t, facts.Unanswered, "a message of the system is no answer")
}
