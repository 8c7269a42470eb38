package messages_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// ask is a request, and the model that answers it.
type ask struct {
	model    string            // the default does not think by itself
	members  string            // more of the request, with a comma behind each
	messages string            // instead of one of the user
	header   map[string]string // of the request
	todos    todo.Provider
	options  []middleware.Option
	turns    []fakellm.Turn
}

const editFile = `{"name":"edit_file","description":"Edits a file.","input_schema":{"type":"object","properties":{}}}`

// body returns the request, which offers a tool.
func (a ask) body(stream bool) string {
	model, messages := a.model, a.messages
	if model == "" {
		model = "claude-sonnet-4-5"
	}
	if messages == "" {
		messages = `{"role":"user","content":"Write and test the parser."}`
	}
	streamed := ""
	if stream {
		streamed = `,"stream":true`
	}
	return `{"model":"` + model + `","max_tokens":1024,` + a.members + `"system":"You write code.","messages":[` + messages +
		`],"tools":[` + editFile + `]` + streamed + `}`
}

// answer is the answer to a request.
type answer struct {
	message  message
	raw      string
	err      error
	requests []fakellm.Request
	outcome  middleware.Outcome
}

// play asks for an answer, and checks that the caller may send it back.
func (a ask) play(t *testing.T, stream bool) answer {
	t.Helper()
	got := a.send(t, stream)
	if got.err == nil && got.message.Type == "message" {
		a.requireAccepted(t, got.message)
	}
	return got
}

// both plays a request streamed and not.
func (a ask) both(t *testing.T, check func(t *testing.T, got answer)) {
	t.Helper()
	wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) { check(t, a.play(t, w.Stream)) })
}

// send asks for an answer, and reads it.
func (a ask) send(t *testing.T, stream bool) answer {
	t.Helper()
	got := a.exchange(t, stream)
	if got.err == nil {
		got.message = readAnswer(t, got.raw, stream && !strings.HasPrefix(got.raw, "{"))
	}
	return got
}

// exchange asks for an answer.
func (a ask) exchange(t *testing.T, stream bool) answer {
	t.Helper()
	server := fakellm.NewServer(t, a.turns...)
	todos := a.todos
	if todos == nil {
		todos = wiretest.TwoTodos
	}
	r := request(t, a.body(stream))
	for name, value := range a.header {
		r.Header.Set(name, value)
	}
	opts := slices.Concat([]middleware.Option{wiretest.Unattended, wiretest.Continuations(max(len(a.turns)-1, 1))}, a.options)
	got := wiretest.Do(t, server.Transport(), r, todos, opts...)
	return answer{raw: got.Body, err: got.Err, requests: server.Requests(), outcome: got.Outcome}
}

// requireAccepted sends the request again with the answer, and after it the
// results of its calls or another message of the user. The scripted server
// checks the request as the API does.
func (a ask) requireAccepted(t *testing.T, m message) {
	t.Helper()
	var blocks, results []json.RawMessage
	for _, b := range m.Content {
		blocks = append(blocks, b.raw)
		if b.Type == "tool_use" {
			result, err := json.Marshal(map[string]any{"type": "tool_result", "tool_use_id": b.ID, "content": "done"})
			require.NoError(t, err)
			results = append(results, result)
		}
	}
	if len(results) == 0 {
		results = append(results, json.RawMessage(`{"type":"text","text":"Go on."}`))
	}
	content, err := json.Marshal(blocks)
	require.NoError(t, err)
	next, err := json.Marshal(results)
	require.NoError(t, err)
	body := a.body(false)
	if len(blocks) > 0 {
		body = strings.Replace(body, `],"tools"`, `,{"role":"assistant","content":`+string(content)+`}],"tools"`, 1)
	}
	body = strings.Replace(body, `],"tools"`, `,{"role":"user","content":`+string(next)+`}],"tools"`, 1)
	server := fakellm.NewServer(t, fakellm.Text("Good:"))
	reply := wiretest.Do(t, server.Transport(), request(t, body), todo.Static(), a.options...)
	assert.Equal(t, http.StatusOK, reply.Status, "the caller's next request is refused: %s\n%s", reply.Body, body)
}

func request(tb testing.TB, body string) *http.Request {
	tb.Helper()
	r, err := http.NewRequestWithContext(tb.Context(), http.MethodPost, fakellm.BaseURL+"/messages", strings.NewReader(body))
	require.NoError(tb, err)
	r.Header.Set("Content-Type", "application/json")
	return r
}
