package responses_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/todo"
)

// responsesBody is a request in scope, with more members if there are any.
func responsesBody(stream bool, more ...string) string {
	members := append([]string{`"model":"test-model"`}, more...)
	members = append(members, `"input":[{"role":"user","content":"Write and test the parser."}]`,
		`"tools":[{"type":"function","name":"edit_file","parameters":{"type":"object","properties":{}},"strict":null}]`)
	if stream {
		members = append(members, `"stream":true`)
	}
	return "{" + strings.Join(members, ",") + "}"
}

// respond sends a request of the scene's session, and returns the answer as the
// strictest client reads it.
func (s *scene) respond(t *testing.T, body string, turns ...fakellm.Turn) (responsesAnswer, reply) {
	t.Helper()
	r, err := http.NewRequestWithContext(s.ctx, http.MethodPost, fakellm.BaseURL+"/responses", strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/json")
	got := s.send(t, r, turns...)
	require.NoError(t, got.Err)
	return readResponsesReply(t, got), got
}

// readResponsesReply reads an answer that is streamed or not.
func readResponsesReply(t *testing.T, got reply) responsesAnswer {
	t.Helper()
	if strings.HasPrefix(got.Header.Get("Content-Type"), "text/event-stream") {
		answer, err := readResponses(got.Body)
		require.NoError(t, err, got.Body)
		return answer
	}
	var answer responsesAnswer
	require.NoError(t, json.Unmarshal([]byte(got.Body), &answer.response), got.Body)
	answer.id, _ = answer.response["id"].(string)
	status, _ := answer.response["status"].(string)
	answer.kind = "response." + status
	output, _ := answer.response["output"].([]any)
	for _, item := range output {
		answer.items = append(answer.items, item.(map[string]any))
	}
	return answer
}

func TestResponsesAreContinued(t *testing.T) {
	t.Parallel()
	inBothWays(t, func(t *testing.T, w way) {
		t.Helper()
		s := newScene(t, twoTodos)
		answer, _ := s.respond(t, responsesBody(w.stream),
			fakellm.Text(plan).Reasoning("Think first.").Usage(100, 20), edit().Reasoning("Now do it.").Usage(130, 10))
		assert.Equal(t, "response.completed", answer.kind)
		assert.Equal(t, "resp_1", answer.id)
		assert.Equal(t, []string{plan}, answer.texts())
		assert.Equal(t, []string{`edit_file{"path":"parser.go"}`}, answer.calls())
		assert.Len(t, answer.items, 4, "the reasoning stays before each")
		usage, _ := answer.response["usage"].(map[string]any)
		assert.EqualValues(t, 100, usage["input_tokens"])
		assert.EqualValues(t, 30, usage["output_tokens"])
		assert.EqualValues(t, 130, usage["total_tokens"])
		tools, _ := answer.response["tools"].([]any)
		assert.Len(t, tools, 1, "the request is repeated as the caller made it")

		requests := s.server.Requests()
		require.Len(t, requests, 2)
		assert.Equal(t, []string{"edit_file", "todo_pause"}, requests[1].Tools)
		require.Len(t, requests[1].Messages, 3)
		assert.Equal(t, fakellm.Message{Role: "assistant", Content: plan}, requests[1].Messages[1])
		assert.Equal(t, "user", requests[1].Messages[2].Role)
	})
}

func TestResponsesWithNothingToDoAreByteIdentical(t *testing.T) {
	t.Parallel()
	for name, turn := range map[string]fakellm.Turn{
		"a call": edit().AndText("Now."), "a refusal": fakellm.Turn{}.Refusal("I can't."), "cut short": fakellm.Text(plan).Finish("length"),
		"done": fakellm.Text("All is done.").Reasoning("So."), "CRLF": fakellm.Text("All is done.").CRLF(), "comments": fakellm.Text("Done.").Comments(),
	} {
		inBothWays(t, func(t *testing.T, w way) {
			t.Helper()
			s := newScene(t, todo.Static())
			_, got := s.respond(t, responsesBody(w.stream), turn)
			direct := newScene(t, todo.Static())
			direct.client.Transport = direct.server.Transport()
			_, want := direct.respond(t, responsesBody(w.stream), turn)
			assert.Equal(t, want.Body, got.Body, name)
			assert.Equal(t, []string{responsesBody(w.stream)}, s.wire.bodies(), name)
		})
	}
}

func TestResponsesThatPause(t *testing.T) {
	t.Parallel()
	inBothWays(t, func(t *testing.T, w way) {
		t.Helper()
		notice := "\n\nTask paused: " + blocked
		for name, tt := range map[string]struct {
			turns []fakellm.Turn
			texts []string
			calls []string
			items int
		}{
			"alone":            {[]fakellm.Turn{fakellm.Text(plan), fakellm.Pause(blocked)}, []string{plan + notice}, nil, 1},
			"with reasoning":   {[]fakellm.Turn{fakellm.Text(plan), fakellm.Pause(blocked).Reasoning("Hm.")}, []string{plan + notice}, nil, 1},
			"behind a text":    {[]fakellm.Turn{fakellm.Text(plan), fakellm.Pause(blocked).AndText("It fails.").Reasoning("Hm.")}, []string{plan, "It fails." + notice}, nil, 3},
			"beside a call":    {[]fakellm.Turn{fakellm.Text(plan), fakellm.Pause(blocked).AndCall("edit_file", "{}").Reasoning("Hm.")}, []string{plan}, []string{"edit_file{}"}, 3},
			"printed":          {[]fakellm.Turn{fakellm.Text(plan), fakellm.Text("It fails. todo_pause('" + blocked + "')")}, []string{plan, "It fails. " + notice}, nil, 2},
			"printed alone":    {[]fakellm.Turn{fakellm.Text(plan), fakellm.Text("todo_pause('" + blocked + "')").Reasoning("Hm.")}, []string{plan + notice}, nil, 1},
			"rejected":         {[]fakellm.Turn{fakellm.Text(plan), fakellm.Pause("stuck").Reasoning("Hm."), edit().Reasoning("Well.")}, []string{plan}, []string{`edit_file{"path":"parser.go"}`}, 3},
			"rejected printed": {[]fakellm.Turn{fakellm.Text(plan), fakellm.Text("So: todo_pause('stuck')"), edit().AndText("Yes.")}, []string{plan, "So: ", "Yes."}, []string{`edit_file{"path":"parser.go"}`}, 4},
		} {
			s := newScene(t, twoTodos)
			answer, _ := s.respond(t, responsesBody(w.stream), tt.turns...)
			assert.Equal(t, tt.texts, answer.texts(), name)
			assert.Equal(t, tt.calls, answer.calls(), name)
			assert.Len(t, answer.items, tt.items, name)
			assert.Equal(t, "response.completed", answer.kind, name)
		}
	})
}
