package proxy

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/todo"
)

// page3 returns the arguments of todo_write for a list of three.
func page3(statuses ...todo.Status) string {
	list := []todo.Todo{{Content: "Write index.html"}, {Content: "Write style.css"}, {Content: "Write README.md"}}
	var items []string
	for i, status := range statuses {
		items = append(items, `{"content":"`+list[i].Content+`","status":"`+string(status)+`"}`)
	}
	return `{"todos":[` + strings.Join(items, ",") + `]}`
}

// stalling is a model that stops twice in the middle of its list.
func stalling() []carryontest.Turn {
	const p, i, c = todo.Pending, todo.InProgress, todo.Completed
	write := func(list string) carryontest.Turn {
		return carryontest.Call("write_file", `{"path":"a file"}`).AndCall("todo_write", list)
	}
	return []carryontest.Turn{
		carryontest.Call("todo_write", page3(i, p, p)),
		write(page3(c, i, p)),
		carryontest.Text("The page is in place. Next, I will write style.css."), write(page3(c, c, i)),
		carryontest.Text("The styles are done. Now let me add the README."), write(page3(c, c, c)),
		carryontest.Text("All done."),
	}
}

// asker sends a request and returns the message that was answered.
type asker func(t *testing.T, r openai.ChatCompletionRequest) openai.ChatCompletionMessage

// loop is a plain tool loop. It returns its history and the list written last.
func loop(t *testing.T, ask asker) (history []openai.ChatCompletionMessage, list string) {
	t.Helper()
	request := openai.ChatCompletionRequest{
		Model:    "test-model",
		Messages: []openai.ChatCompletionMessage{{Role: "user", Content: "Build a small web page about tea."}},
	}
	for _, name := range []string{"todo_write", "write_file"} {
		request.Tools = append(request.Tools, openai.Tool{
			Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{Name: name, Parameters: map[string]any{}},
		})
	}
	for {
		message := ask(t, request)
		request.Messages = append(request.Messages, message)
		if len(message.ToolCalls) == 0 {
			return request.Messages, list
		}
		for _, call := range message.ToolCalls {
			if call.Function.Name == "todo_write" {
				list = call.Function.Arguments
			}
			request.Messages = append(request.Messages,
				openai.ChatCompletionMessage{Role: "tool", ToolCallID: call.ID, Content: "ok"})
		}
	}
}

// asSDK asks through go-openai, pointed at the proxy.
func (s *scene) asSDK(stream bool) asker {
	config := openai.DefaultConfig("sk-secret-key")
	config.BaseURL, config.HTTPClient = s.base, s.client
	client := openai.NewClientWithConfig(config)
	return func(t *testing.T, r openai.ChatCompletionRequest) openai.ChatCompletionMessage {
		t.Helper()
		if !stream {
			answer, err := client.CreateChatCompletion(t.Context(), r)
			require.NoError(t, err)
			return answer.Choices[0].Message
		}
		chunks, err := client.CreateChatCompletionStream(t.Context(), r)
		require.NoError(t, err)
		defer chunks.Close()
		message := openai.ChatCompletionMessage{Role: "assistant"}
		for {
			chunk, err := chunks.Recv()
			if errors.Is(err, io.EOF) {
				return message
			}
			require.NoError(t, err)
			join(&message, chunk)
		}
	}
}

// asCurl sends the request as curl does, and reads the stream by hand.
func (s *scene) asCurl(stream bool) asker {
	return func(t *testing.T, r openai.ChatCompletionRequest) openai.ChatCompletionMessage {
		t.Helper()
		r.Stream = stream
		body, err := json.Marshal(r)
		require.NoError(t, err)
		got := s.send(newRequest(t, http.MethodPost, s.base+"/chat/completions", string(body)))
		require.NoError(t, got.err)
		require.Equal(t, http.StatusOK, got.status, got.body)
		if !stream {
			var answer openai.ChatCompletionResponse
			require.NoError(t, json.Unmarshal([]byte(got.body), &answer))
			return answer.Choices[0].Message
		}
		message := openai.ChatCompletionMessage{Role: "assistant"}
		events := bufio.NewScanner(strings.NewReader(got.body))
		for events.Scan() {
			data, ok := strings.CutPrefix(events.Text(), "data: ")
			if !ok || data == "[DONE]" {
				continue
			}
			var chunk openai.ChatCompletionStreamResponse
			require.NoError(t, json.Unmarshal([]byte(data), &chunk))
			join(&message, chunk)
		}
		assert.Contains(t, got.body, "data: [DONE]")
		return message
	}
}

// join adds a chunk to a message.
func join(message *openai.ChatCompletionMessage, chunk openai.ChatCompletionStreamResponse) {
	for _, choice := range chunk.Choices {
		message.Content += choice.Delta.Content
		for _, call := range choice.Delta.ToolCalls {
			if *call.Index == len(message.ToolCalls) {
				message.ToolCalls = append(message.ToolCalls, openai.ToolCall{ID: call.ID, Type: "function"})
			}
			function := &message.ToolCalls[*call.Index].Function
			function.Name += call.Function.Name
			function.Arguments += call.Function.Arguments
		}
	}
}

func TestStalledConversationFinishes(t *testing.T) {
	t.Parallel()
	clients := map[string]func(*scene, bool) asker{"SDK": (*scene).asSDK, "curl": (*scene).asCurl}
	for name, client := range clients {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			both(t, func(t *testing.T, stream bool) {
				s := newScene(t)
				s.upstream.Append(stalling()...)

				history, list := loop(t, client(s, stream))

				assert.Equal(t, page3(todo.Completed, todo.Completed, todo.Completed), list)
				assert.Len(t, history, 13, "the user's message, five answers and seven results")
				for _, message := range history[1:] {
					assert.NotEqual(t, "user", message.Role)
					assert.NotContains(t, message.Content, "continue", "no prompt is in the history")
				}
				sent := s.upstream.Requests()
				require.Len(t, sent, 7)
				for i, continued := range []bool{false, false, false, true, false, true, false} {
					assert.Equal(t, continued, sent[i].HasTool("todo_pause"), "request %d", i+1)
				}
				assert.Contains(t, sent[3].Last().Content, "'Write style.css'")
				assert.Contains(t, sent[5].Last().Content, "'Write README.md'")
			})
		})
	}
}

func TestStalledConversationStopsWithoutCarryon(t *testing.T) {
	t.Parallel()
	s := newScene(t, "-dry-run")
	s.upstream.Append(stalling()[:3]...)

	_, list := loop(t, s.asSDK(true))

	assert.Equal(t, page3(todo.Completed, todo.InProgress, todo.Pending), list)
	s.served.wait()
	last := s.report(t).Entries[0]
	assert.Equal(t, stateDryRun, last.State)
	assert.Contains(t, lines(last), "1 go on true: satisfied")
	assert.True(t, last.Outcome.DryRun)
	assert.True(t, last.Turns[0].Decision.DryRun)
}

func TestClientsDoNotDisturbEachOther(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	const clients = 8
	for range 7 * clients { // each answers for the current step of its client
		s.upstream.Append(carryontest.Func(func(r carryontest.Request) carryontest.Turn {
			step := 0
			for _, message := range r.Messages {
				if message.Role == "assistant" {
					step++
				}
			}
			at := []int{0, 1, 2, 4, 6}[min(step, 4)]
			if r.HasTool("todo_pause") {
				at = []int{0, 0, 0, 3, 5}[step]
			}
			return stalling()[at]
		}))
	}
	t.Run("all", func(t *testing.T) { // returns when all have ended
		for i := range clients {
			t.Run(strconv.Itoa(i), func(t *testing.T) {
				t.Parallel()
				_, list := loop(t, s.asSDK(i%2 == 0))
				assert.Equal(t, page3(todo.Completed, todo.Completed, todo.Completed), list)
			})
		}
	})
	s.served.wait()
	got := s.report(t).Counts
	assert.Equal(t, []int{5 * clients, 5 * clients, 2 * clients, 0}, []int{got.Requests, got.Calls, got.Continuations, got.Failed})
}

// An agent that waits for work of its host's is left to wait, until the report comes or
// the user has written several times.
func TestWorkOfTheHostIsWaitedFor(t *testing.T) {
	t.Parallel()
	const (
		chat = `{"model":"m","tools":[{"type":"function","function":{"name":"todo_write"}},{"type":"function","function":{"name":"agent"}}],"messages":[` +
			`{"role":"user","content":"Build a page."},{"role":"assistant","content":null,"tool_calls":[` +
			`{"id":"c1","type":"function","function":{"name":"todo_write","arguments":"{\"todos\":[{\"id\":\"1\",\"content\":\"Write style.css\",\"status\":\"in_progress\"}]}"}},` +
			`{"id":"c2","type":"function","function":{"name":"agent","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"ok"},` +
			`{"role":"tool","tool_call_id":"c2","content":"Background agent launched successfully. task_id: b1. The result arrives as a ` + "`<task-notification>`" + ` in a later turn."}`
		claude = `{"model":"m","max_tokens":100,"tools":[{"name":"TodoWrite"},{"name":"Bash"}],"messages":[{"role":"user","content":"Build a page."},{"role":"assistant","content":[` +
			`{"type":"tool_use","id":"c1","name":"TodoWrite","input":{"todos":[{"content":"Write style.css","status":"in_progress"}]}},` +
			`{"type":"tool_use","id":"c2","name":"Bash","input":{"command":"make","run_in_background":true}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"ok"},` +
			`{"type":"tool_result","tool_use_id":"c2","content":"Command running in background with ID: b1. Output is being written to: /tmp/b1.output. You will be notified when it completes."}`
		responses = `{"model":"m","store":false,"tools":[{"type":"function","name":"update_plan"},{"type":"function","name":"task"}],"input":[{"role":"user","content":"Build a page."},` +
			`{"type":"function_call","call_id":"c1","name":"update_plan","arguments":"{\"plan\":[{\"step\":\"Write style.css\",\"status\":\"in_progress\"}]}"},` +
			`{"type":"function_call_output","call_id":"c1","output":"Plan updated"},{"type":"function_call","call_id":"c2","name":"task","arguments":"{}"},` +
			`{"type":"function_call_output","call_id":"c2","output":"The task is working in the background. task_id: b1. You will be notified automatically when it finishes."}`
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
