package proxy

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
)

// An agent that waits for work of its host's is left to wait, until the report comes or
// the user has written several times.
func TestWorkOfTheHostIsWaitedFor(t *testing.T) {
	t.Parallel()
	const (
		chat = `{"model":"m","tools":[{"type":"function","function":{"name":"todo_write"}},{"type":"function","function":{"name":"agent"}}],"messages":[` +
			`{"role":"user","content":"Build a page."},{"role":"assistant","content":null,"tool_calls":[` +
			`{"id":"c1","type":"function","function":{"name":"todo_write","arguments":"{\"todos\":[{\"id\":\"1\",\"content\":\"Write style.css\",\"status\":\"in_progress\"}]}"}},` +
			`{"id":"c2","type":"function","function":{"name":"agent","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"ok"},` +
			`{"role":"tool","tool_call_id":"c2","content":"Background agent launched successfully. The result arrives as a ` + "`<task-notification>`" + ` in a later turn."}`
		claude = `{"model":"m","max_tokens":100,"tools":[{"name":"TodoWrite"},{"name":"Bash"}],"messages":[{"role":"user","content":"Build a page."},{"role":"assistant","content":[` +
			`{"type":"tool_use","id":"c1","name":"TodoWrite","input":{"todos":[{"content":"Write style.css","status":"in_progress"}]}},` +
			`{"type":"tool_use","id":"c2","name":"Bash","input":{"command":"make","run_in_background":true}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"ok"},` +
			`{"type":"tool_result","tool_use_id":"c2","content":"Command running in background with ID: b1. Output is being written to: /tmp/b1.output. You will be notified when it completes."}`
		responses = `{"model":"m","store":false,"tools":[{"type":"function","name":"update_plan"},{"type":"function","name":"task"}],"input":[{"role":"user","content":"Build a page."},` +
			`{"type":"function_call","call_id":"c1","name":"update_plan","arguments":"{\"plan\":[{\"step\":\"Write style.css\",\"status\":\"in_progress\"}]}"},` +
			`{"type":"function_call_output","call_id":"c1","output":"Plan updated"},{"type":"function_call","call_id":"c2","name":"task","arguments":"{}"},` +
			`{"type":"function_call_output","call_id":"c2","output":"The task is working in the background. You will be notified automatically when it finishes."}`
		report   = `<task-notification>\n<task-id>b1</task-id>\n<status>completed</status>\n</task-notification>`
		reminder = `<system-reminder>\nToday is Sunday.\n</system-reminder>`
	)
	message := func(text string) string { return `,{"role":"user","content":"` + text + `"}]}` }
	block := func(text string) string { return `,{"type":"text","text":"` + text + `"}]}]}` }
	for name, c := range map[string]struct {
		path, body string
		waits      bool
	}{
		"qwen-code":                               {"/chat/completions", chat + "]}", true},
		"qwen-code, a reminder":                   {"/chat/completions", chat + message(reminder), true},
		"qwen-code, the report":                   {"/chat/completions", chat + message(report), false},
		"qwen-code, the user":                     {"/chat/completions", chat + message("Go on."), true},
		"Claude Code":                             {"/messages", claude + "]}]}", true},
		"Claude Code, a reminder beside":          {"/messages", claude + block(reminder), true},
		"Claude Code, the report beside":          {"/messages", claude + block(report), false},
		"Claude Code, the report":                 {"/messages", claude + "]}" + message(report), false},
		"Claude Code, the user":                   {"/messages", claude + "]}" + message("Go on."), true},
		"opencode over Responses":                 {"/responses", responses + "]}", true},
		"opencode over Responses, a reminder":     {"/responses", responses + message(reminder), true},
		"opencode over Responses, the report":     {"/responses", responses + message(report), false},
		"opencode over Responses, the user":       {"/responses", responses + message("Go on."), true},
		"Claude Code, three messages of its user": {"/messages", claude + "]}" + strings.Repeat(`,{"role":"user","content":"Go on."}`, 2) + message("Go on."), false},
		"oh-my-opencode, a report in a reminder":  {"/chat/completions", chat + message(`<system-reminder>\n[BACKGROUND TASK COMPLETED]\n</system-reminder>`), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.upstream.Append(carryontest.Text("Next, I will write style.css."), carryontest.Call("write", `{}`))
			r := newRequest(t, http.MethodPost, s.base+c.path, c.body)
			r.Header.Set("Anthropic-Version", "2023-06-01")
			got := s.send(r)
			require.NoError(t, got.err)
			require.Equal(t, http.StatusOK, got.status, got.body)
			s.served.wait()
			entry := s.report(t).Entries[0]
			if c.waits {
				assert.Len(t, s.upstream.Requests(), 1)
				assert.Equal(t, "Background tasks are pending or running: 1 awaited", entry.Outcome.Explanation)
			} else {
				assert.Len(t, s.upstream.Requests(), 2, entry.Outcome.Explanation)
			}
		})
	}
}

// A goal that Codex pursues by itself writes to the model after every turn. All of these
// turns are one user turn, with one budget.
func TestMessagesOfTheAgentRenewNoBudget(t *testing.T) {
	t.Parallel()
	const goals, attempts = 30, 2
	for name, message := range map[string]string{
		"a goal":           `<codex_internal_context source=\"goal\">\nGo on.\n</codex_internal_context>`,
		"a teammate":       `<teammate-message teammate_id=\"ada\">\nGo on.\n</teammate-message>`,
		"behind its words": `[SYSTEM NOTIFICATION - NOT USER INPUT]\nNo human input has been received.\n\n<system-reminder>Go on.</system-reminder>`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, "-max-attempts", "2")
			input := `{"role":"user","content":"Build a page."},` +
				`{"type":"function_call","call_id":"c1","name":"update_plan","arguments":"{\"plan\":[{\"step\":\"Write style.css\",\"status\":\"in_progress\"}]}"},` +
				`{"type":"function_call_output","call_id":"c1","output":"Plan updated"}`
			for range goals {
				s.upstream.Append(carryontest.Text("Next, I will write style.css."), carryontest.Text("Now I will write it."), carryontest.Text("I will write it now."))
				r := newRequest(t, http.MethodPost, s.base+"/responses",
					`{"model":"m","store":false,"tools":[{"type":"function","name":"update_plan"},{"type":"function","name":"write"}],"input":[`+input+`]}`)
				r.Header.Set("Thread-Id", "thread-1")
				got := s.send(r)
				require.NoError(t, got.err)
				require.Equal(t, http.StatusOK, got.status, got.body)
				input += `,{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I think."}]},` +
					`{"type":"message","role":"user","content":[{"type":"input_text","text":"` + message + `"}]}`
			}
			s.served.wait()
			assert.Equal(t, goals+attempts, len(s.upstream.Requests())) //nolint:testifylint // the requests are long
		})
	}
}
