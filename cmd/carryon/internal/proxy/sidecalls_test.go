package proxy

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
)

// Agents ask for titles, summaries and small errands beside their work. None of
// these is continued, in the shapes in which agents send them.
func TestSideCallsAreLeftAlone(t *testing.T) {
	t.Parallel()
	const (
		user      = `{"role":"user","content":"Build a small web page about tea."}`
		list      = `{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"todowrite","arguments":"{\"todos\":[{\"content\":\"Write style.css\",\"status\":\"in_progress\"}]}"}}]},{"role":"tool","tool_call_id":"c1","content":"ok"}`
		tools     = `"tools":[{"type":"function","function":{"name":"todowrite"}},{"type":"function","function":{"name":"write"}}]`
		summary   = `{"role":"user","content":"Provide a detailed prompt for continuing our conversation above."}`
		todoWrite = `"tools":[{"name":"TodoWrite","input_schema":{"type":"object"}},{"name":"Write","input_schema":{"type":"object"}}]`
		claude    = `[{"role":"user","content":"Build a page."},{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"TodoWrite","input":{"todos":[{"content":"Write style.css","status":"in_progress"}]}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"ok"}]}`
	)
	for name, side := range map[string]struct{ path, body, reason string }{
		"a title (opencode, qwen-code)": {
			"/chat/completions", `{"model":"m","stream":true,"messages":[{"role":"system","content":"You write a title."},` + user + `]}`, "The request offers no tools",
		},
		"a compaction without tools (opencode)": {
			"/chat/completions", `{"model":"m","stream":true,"messages":[` + user + `,` + list + `,` + summary + `]}`, "The request offers no tools",
		},
		"a compaction with tools that may not be used (Copilot)": {
			"/chat/completions", `{"model":"m","tool_choice":"none",` + tools + `,"messages":[` + user + `,` + list + `,` + summary + `]}`,
			"",
		},
		"a sub-agent without a list": {
			"/chat/completions", `{"model":"m","tools":[{"type":"function","function":{"name":"write"}}],"messages":[{"role":"user","content":"Find the styles."}]}`, "",
		},
		"a title (Claude Code)": {
			"/messages", `{"model":"m","max_tokens":100,"messages":` + claude + `,{"role":"user","content":"Write a title."}]}`, "The request offers no tools",
		},
		"a title (AI SDK, Responses)": {
			"/responses", `{"model":"m","store":false,"input":[{"role":"user","content":"Write a title."}]}`, "The request offers no tools",
		},
		"a compaction with the tools of the work (Claude Code)": {
			"/messages", `{"model":"m","max_tokens":100,` + todoWrite + `,"messages":` + claude[:len(claude)-len(`]}`)] +
				`,{"type":"text","text":"CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.\n\nYour task is to create a detailed summary."}]}]}`,
			"An agent asks for something beside its work",
		},
		"a guess at the user's next message (Claude Code)": {
			"/messages", `{"model":"m","max_tokens":100,` + todoWrite + `,"messages":` + claude + `,{"role":"assistant","content":"Next, I will write style.css."},` +
				`{"role":"user","content":"[SUGGESTION MODE: Suggest what the user might naturally type next.]"},{"role":"system","content":"Today is Sunday."}]}`,
			"An agent asks for something beside its work",
		},
		"a side question (Claude Code)": {
			"/messages", `{"model":"m","max_tokens":100,` + todoWrite + `,"messages":` + claude + `,{"role":"assistant","content":"Next, I will write style.css."},` +
				`{"role":"user","content":[{"type":"text","text":"<system-reminder>This is a side question from the user. You must answer this question directly.</system-reminder>"},` +
				`{"type":"text","text":"Which colours are they?"}]}]}`,
			"An agent asks for something beside its work",
		},
		"a check in JSON with one tool (qwen-code)": {
			"/chat/completions", `{"model":"m","tools":[{"type":"function","function":{"name":"respond_in_schema"}}],"messages":[` + user + `,` + list +
				`,{"role":"user","content":"Who should speak next?"}]}`,
			"No tool of the request can write the todo list",
		},
		"a title with tools (Codex)": {
			"/responses", `{"model":"m","store":false,"client_metadata":{"x-codex-turn-metadata":"{\"request_kind\":\"turn\",\"thread_source\":\"thread_title\"}"},` +
				`"tools":[{"type":"function","name":"update_plan","parameters":{}}],"input":[{"role":"user","content":"Generate a title."},` +
				`{"type":"function_call","call_id":"c1","name":"update_plan","arguments":"{\"plan\":[{\"step\":\"Write style.css\",\"status\":\"in_progress\"}]}"},` +
				`{"type":"function_call_output","call_id":"c1","output":"ok"}]}`,
			"An agent asks for something beside its work",
		},
		"a compaction with tools (Codex)": {
			"/responses", `{"model":"m","store":false,"tools":[{"type":"function","name":"update_plan","parameters":{}}],"input":[{"role":"user","content":"Build a page."},` +
				`{"type":"function_call","call_id":"c1","name":"update_plan","arguments":"{\"plan\":[{\"step\":\"Write style.css\",\"status\":\"in_progress\"}]}"},` +
				`{"type":"function_call_output","call_id":"c1","output":"ok"},{"type":"message","role":"user","content":[{"type":"input_text",` +
				`"text":"You are performing a CONTEXT CHECKPOINT COMPACTION. Create a handoff summary."}]}]}`,
			"An agent asks for something beside its work",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.upstream.Append(carryontest.Text("A page about tea. Next, I will write style.css."))
			r := newRequest(t, http.MethodPost, s.base+side.path, side.body)
			r.Header.Set("Anthropic-Version", "2023-06-01")
			got := s.send(r)
			require.NoError(t, got.err)
			require.Equal(t, http.StatusOK, got.status, got.body)
			s.served.wait()
			assert.Len(t, s.upstream.Requests(), 1)
			entry := s.report(t).Entries[0]
			assert.False(t, entry.Outcome.LeftAlone, "it is a call to a model")
			assert.NotEmpty(t, entry.Outcome.Explanation)
			if side.reason != "" {
				assert.Equal(t, side.reason, entry.Outcome.Explanation)
			}
		})
	}
}

// Codex says in a header what a request is for.
func TestSideCallsAreKnownByTheirHeader(t *testing.T) {
	t.Parallel()
	for metadata, requests := range map[string]int{
		`{"request_kind":"turn","thread_source":"user"}`:       2,
		`{"request_kind":"compaction","thread_source":"user"}`: 1,
		`{"request_kind":`: 2,
		"":                 2,
	} {
		s := newScene(t)
		s.upstream.Append(carryontest.Text("Next, I will write style.css."), carryontest.Call("write", `{}`))
		c := conversation{header: map[string]string{"X-Codex-Turn-Metadata": metadata}}
		got := s.send(post(t, s.base, c))
		require.NoError(t, got.err)
		s.served.wait()
		assert.Len(t, s.upstream.Requests(), requests, metadata)
	}
}
