package responses_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
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
func respond(t *testing.T, s *wiretest.Scene, body string, turns ...fakellm.Turn) (responsesAnswer, wiretest.Reply) {
	t.Helper()
	got := send(t, s, body, turns...)
	return readResponsesReply(t, got), got
}

// send sends a request of the scene's session.
func send(t *testing.T, s *wiretest.Scene, body string, turns ...fakellm.Turn) wiretest.Reply {
	t.Helper()
	r, err := http.NewRequestWithContext(s.Ctx, http.MethodPost, fakellm.BaseURL+"/responses", strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/json")
	got := s.Send(t, r, turns...)
	require.NoError(t, got.Err)
	return got
}

// readResponsesReply reads an answer that is streamed or not.
func readResponsesReply(t *testing.T, got wiretest.Reply) responsesAnswer {
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
	wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) {
		t.Helper()
		s := wiretest.NewScene(t, wiretest.TwoTodos)
		answer, _ := respond(t, s, responsesBody(w.Stream),
			fakellm.Text(wiretest.Plan).Reasoning("Think first.").Usage(100, 20), wiretest.Edit().Reasoning("Now do it.").Usage(130, 10))
		assert.Equal(t, "response.completed", answer.kind)
		assert.Equal(t, "resp_1", answer.id)
		assert.Equal(t, []string{wiretest.Plan}, answer.texts())
		assert.Equal(t, []string{`edit_file{"path":"parser.go"}`}, answer.calls())
		assert.Len(t, answer.items, 4, "the reasoning stays before each")
		usage, _ := answer.response["usage"].(map[string]any)
		assert.EqualValues(t, 100, usage["input_tokens"])
		assert.EqualValues(t, 30, usage["output_tokens"])
		assert.EqualValues(t, 130, usage["total_tokens"])
		tools, _ := answer.response["tools"].([]any)
		assert.Len(t, tools, 1, "the request is repeated as the caller made it")

		requests := s.Server.Requests()
		require.Len(t, requests, 2)
		assert.Equal(t, []string{"edit_file", "todo_pause"}, requests[1].Tools)
		require.Len(t, requests[1].Messages, 3)
		assert.Equal(t, fakellm.Message{Role: "assistant", Content: wiretest.Plan}, requests[1].Messages[1])
		assert.Equal(t, "user", requests[1].Messages[2].Role)
	})
}

func TestResponsesWithNothingToDoAreByteIdentical(t *testing.T) {
	t.Parallel()
	for name, turn := range map[string]fakellm.Turn{
		"a call": wiretest.Edit().AndText("Now."), "a refusal": fakellm.Turn{}.Refusal("I can't."), "cut short": fakellm.Text(wiretest.Plan).Finish("length"),
		"done": fakellm.Text("All is done.").Reasoning("So."), "CRLF": fakellm.Text("All is done.").CRLF(), "comments": fakellm.Text("Done.").Comments(),
	} {
		wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) {
			t.Helper()
			s := wiretest.NewScene(t, todo.Static())
			_, got := respond(t, s, responsesBody(w.Stream), turn)
			direct := wiretest.NewScene(t, todo.Static())
			direct.Client.Transport = direct.Server.Transport()
			_, want := respond(t, direct, responsesBody(w.Stream), turn)
			assert.Equal(t, want.Body, got.Body, name)
			assert.Equal(t, []string{responsesBody(w.Stream)}, s.Wire.Bodies(), name)
		})
	}
}

func TestResponsesThatPause(t *testing.T) {
	t.Parallel()
	wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) {
		t.Helper()
		notice := "\n\nTask paused: " + wiretest.Blocked
		for name, tt := range map[string]struct {
			turns []fakellm.Turn
			texts []string
			calls []string
			items int
		}{
			"alone":            {[]fakellm.Turn{fakellm.Text(wiretest.Plan), fakellm.Pause(wiretest.Blocked)}, []string{wiretest.Plan + notice}, nil, 1},
			"with reasoning":   {[]fakellm.Turn{fakellm.Text(wiretest.Plan), fakellm.Pause(wiretest.Blocked).Reasoning("Hm.")}, []string{wiretest.Plan + notice}, nil, 1},
			"behind a text":    {[]fakellm.Turn{fakellm.Text(wiretest.Plan), fakellm.Pause(wiretest.Blocked).AndText("It fails.").Reasoning("Hm.")}, []string{wiretest.Plan, "It fails." + notice}, nil, 3},
			"beside a call":    {[]fakellm.Turn{fakellm.Text(wiretest.Plan), fakellm.Pause(wiretest.Blocked).AndCall("edit_file", "{}").Reasoning("Hm.")}, []string{wiretest.Plan}, []string{"edit_file{}"}, 3},
			"printed":          {[]fakellm.Turn{fakellm.Text(wiretest.Plan), fakellm.Text("It fails. todo_pause('" + wiretest.Blocked + "')")}, []string{wiretest.Plan, "It fails. " + notice}, nil, 2},
			"printed alone":    {[]fakellm.Turn{fakellm.Text(wiretest.Plan), fakellm.Text("todo_pause('" + wiretest.Blocked + "')").Reasoning("Hm.")}, []string{wiretest.Plan + notice}, nil, 1},
			"rejected":         {[]fakellm.Turn{fakellm.Text(wiretest.Plan), fakellm.Pause("stuck").Reasoning("Hm."), wiretest.Edit().Reasoning("Well.")}, []string{wiretest.Plan}, []string{`edit_file{"path":"parser.go"}`}, 3},
			"rejected printed": {[]fakellm.Turn{fakellm.Text(wiretest.Plan), fakellm.Text("So: todo_pause('stuck')"), wiretest.Edit().AndText("Yes.")}, []string{wiretest.Plan, "So: ", "Yes."}, []string{`edit_file{"path":"parser.go"}`}, 4},
		} {
			s := wiretest.NewScene(t, wiretest.TwoTodos)
			answer, _ := respond(t, s, responsesBody(w.Stream), tt.turns...)
			assert.Equal(t, tt.texts, answer.texts(), name)
			assert.Equal(t, tt.calls, answer.calls(), name)
			assert.Len(t, answer.items, tt.items, name)
			assert.Equal(t, "response.completed", answer.kind, name)
		}
	})
}
