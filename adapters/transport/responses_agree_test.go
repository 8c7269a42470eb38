package transport_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// For the same script, a streamed answer ends in the same response object as
// one that is not streamed.
func TestResponsesAgreeHoweverTheyAreAskedFor(t *testing.T) {
	t.Parallel()
	scripts := map[string][]fakellm.Turn{
		"several turns":    {fakellm.Text(plan).Reasoning("First:"), fakellm.Text("Soon.").Reasoning("Hm."), fakellm.Text("Later."), edit()},
		"a pause rejected": {fakellm.Text(plan), fakellm.Pause("stuck").AndText("Hm."), edit().AndText("Well:")},
		"printed rejected": {fakellm.Text(plan), fakellm.Text("Hm. todo_pause('stuck')"), edit().AndText("Well:")},
		"refused":          {fakellm.Text(plan), fakellm.Status(http.StatusBadRequest, `{"error":{"message":"no"}}`)},
		"a blank turn":     {fakellm.Text(" "), edit()},
	}
	for name, second := range secondTurns {
		scripts[name] = []fakellm.Turn{fakellm.Text(plan).Reasoning("First:"), second, fakellm.Status(http.StatusBadRequest, `{"error":{"message":"no"}}`)}
	}
	for name, turns := range scripts {
		for mode, opts := range map[string][]middleware.Option{"": nil, ", always": {middleware.WithPauseTool(middleware.PauseToolAlways)}} {
			var read []responsesAnswer
			var asked [][]string
			for _, stream := range []bool{true, false} {
				s := newQuietScene(t, twoTodos, opts...)
				answer, _ := s.respond(t, responsesBody(stream), turns...)
				read = append(read, answer)
				var bodies []string
				for _, body := range s.wire.bodies() {
					bodies = append(bodies, strings.Replace(body, `,"stream":true`, "", 1))
				}
				asked = append(asked, bodies)
			}
			assert.Equal(t, read[1].response, read[0].response, name+mode)
			assert.Equal(t, read[1].texts(), read[0].texts(), name+mode)
			assert.Equal(t, asked[1], asked[0], "what the model is asked: "+name+mode)
		}
	}
}

// A note about background tasks is joined to the last text of the user or of a
// tool, in whatever form it is written.
func TestResponsesCarryNotesOfTasks(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ input, before, behind string }{
		"a string":          {`"Go."`, `"Go.`, `"`},
		"a message":         {`[{"role":"user","content":"Go."}]`, `[{"role":"user","content":"Go.`, `"}]`},
		"parts":             {`[{"role":"user","content":[{"type":"input_text","text":"Go."}]}]`, `[{"role":"user","content":[{"type":"input_text","text":"Go."},{"type":"input_text","text":"`, `"}]}]`},
		"a call's output":   {`[{"role":"user","content":"Go."},{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"ok"}]`, `"output":"ok`, `"}]`},
		"output with parts": {`[{"role":"user","content":"Go."},{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"ok"}]}]`, `{"type":"input_text","text":"ok"},{"type":"input_text","text":"`, `"}]}]`},
	} {
		manager := asynctask.NewManager()
		t.Cleanup(func() { _ = manager.Close(t.Context()) })
		ctx := continuation.WithSession(t.Context(), "s")
		ticket, err := manager.Start(ctx, "build", func(context.Context) (*asynctask.Output, error) {
			return asynctask.Message("built"), nil
		})
		require.NoError(t, err)
		_, err = manager.Wait(ctx, ticket)
		require.NoError(t, err)
		s := newQuietScene(t, todo.Static(), middleware.WithTasks(manager))
		body := `{"store":false,"input":` + tt.input + `,"tools":[{"type":"function","name":"f"}]}`
		s.respond(t, body, fakellm.Text("Good:"))
		sent := s.wire.bodies()[0]
		require.True(t, json.Valid([]byte(sent)), sent)
		input := string(rawjson.Member([]byte(sent), "input"))
		assert.Contains(t, input, tt.before, name)
		assert.True(t, strings.HasSuffix(input, tt.behind), "%s: %s", name, input)
		assert.Contains(t, input, "System Note: Async Task Status", name)
	}
}

// carryon also translates a request that it leaves alone, if that is chained to
// a joined answer. It changes no other.
func TestResponsesChainsAreTranslatedWhereverTheyAreSent(t *testing.T) {
	t.Parallel()
	server := fakellm.NewServer(t, fakellm.Text(plan), fakellm.Text("All is said."), fakellm.Text("One:"), fakellm.Text("Two:"), fakellm.Text("Three:"))
	wire := &tap{base: server.Transport()}
	rt := transport.New(wire, oneContinuation(twoTodos))
	ask := func(ctx context.Context, body string) {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, fakellm.BaseURL+"/responses", strings.NewReader(body))
		require.NoError(t, err)
		got := readReply(rt.RoundTrip(r))
		require.NoError(t, got.Err)
		require.Equal(t, http.StatusOK, got.Status, got.Body)
	}
	ask(t.Context(), responsesBody(false))
	chained := `{"previous_response_id":"resp_1","input":"Go on."}`
	ask(continuation.Suppress(t.Context()), chained)
	ask(t.Context(), chained)
	ask(t.Context(), `{"previous_response_id":"resp_3","input":"Go on."}`)
	assert.Equal(t, []string{
		`{"previous_response_id":"resp_2","input":"Go on."}`, `{"previous_response_id":"resp_2","input":"Go on."}`,
		`{"previous_response_id":"resp_3","input":"Go on."}`,
	}, wire.bodies()[2:])
}
