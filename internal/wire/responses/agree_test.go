package responses_test

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
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// For the same script, a streamed answer ends in the same response object as
// one that is not streamed.
func TestResponsesAgreeHoweverTheyAreAskedFor(t *testing.T) {
	t.Parallel()
	scripts := map[string][]fakellm.Turn{
		"several turns":    {fakellm.Text(wiretest.Plan).Reasoning("First."), fakellm.Text("Soon.").Reasoning("Hm."), fakellm.Text("Later."), wiretest.Edit()},
		"a pause rejected": {fakellm.Text(wiretest.Plan), fakellm.Pause("stuck").AndText("Hm."), wiretest.Edit().AndText("Well.")},
		"printed rejected": {fakellm.Text(wiretest.Plan), fakellm.Text("Hm. todo_pause('stuck')"), wiretest.Edit().AndText("Well.")},
		"refused":          {fakellm.Text(wiretest.Plan), fakellm.Status(http.StatusBadRequest, `{"error":{"message":"no"}}`)},
		"a blank turn":     {fakellm.Text(" "), wiretest.Edit()},
	}
	for name, second := range secondTurns {
		scripts[name] = []fakellm.Turn{fakellm.Text(wiretest.Plan).Reasoning("First."), second, fakellm.Status(http.StatusBadRequest, `{"error":{"message":"no"}}`)}
	}
	for name, turns := range scripts {
		for mode, opts := range map[string][]middleware.Option{"": nil, ", always": {middleware.WithPauseTool(middleware.PauseToolAlways)}} {
			var read []responsesAnswer
			var asked [][]string
			for _, stream := range []bool{true, false} {
				s := wiretest.NewScene(t, wiretest.TwoTodos, opts...)
				answer, _ := respond(t, s, responsesBody(stream), turns...)
				read = append(read, answer)
				var bodies []string
				for _, body := range s.Wire.Bodies() {
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
		s := wiretest.NewScene(t, todo.Static(), middleware.WithTasks(manager))
		body := `{"store":false,"input":` + tt.input + `,"tools":[{"type":"function","name":"f"}]}`
		respond(t, s, body, fakellm.Text("Good."))
		sent := s.Wire.Bodies()[0]
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
	server := fakellm.NewServer(t, fakellm.Text(wiretest.Plan), fakellm.Text("All is said."), fakellm.Text("One."), fakellm.Text("Two."), fakellm.Text("Three."))
	wire := &wiretest.Tap{Base: server.Transport()}
	rt := transport.New(wire, wiretest.OneContinuation(wiretest.TwoTodos))
	ask := func(ctx context.Context, body string) {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, fakellm.BaseURL+"/responses", strings.NewReader(body))
		require.NoError(t, err)
		got := wiretest.ReadReply(rt.RoundTrip(r))
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
	}, wire.Bodies()[2:])
}

// A caller is a sender of requests to a host.
type caller struct {
	url    string
	header map[string]string
}

// The id of a joined answer is translated for the caller who was shown it, and
// for nobody else.
func TestResponsesChainsBelongToTheirCaller(t *testing.T) {
	t.Parallel()
	ann := caller{"http://model.test/v1/responses", map[string]string{"Authorization": "Bearer ann"}}
	for name, tt := range map[string]struct {
		other caller
		same  bool
	}{
		"the same":            {ann, true},
		"another request id":  {caller{ann.url, map[string]string{"Authorization": "Bearer ann", "X-Request-Id": "2"}}, true},
		"another key":         {caller{ann.url, map[string]string{"Authorization": "Bearer bob"}}, false},
		"no key":              {caller{ann.url, nil}, false},
		"another project":     {caller{ann.url, map[string]string{"Authorization": "Bearer ann", "Openai-Project": "b"}}, false},
		"another host":        {caller{"http://other.test/v1/responses", ann.header}, false},
		"a key in the query":  {caller{ann.url + "?api-key=bob", ann.header}, false},
		"a user in the URL":   {caller{"http://bob:x@model.test/v1/responses", ann.header}, false},
		"another cookie":      {caller{ann.url, map[string]string{"Authorization": "Bearer ann", "Cookie": "bob"}}, false},
		"its parts elsewhere": {caller{ann.url, map[string]string{"Authorization": "Bearer ", "Authorizatio": "n"}}, false},
	} {
		wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) {
			t.Helper()
			server := fakellm.NewServer(t, fakellm.Text(wiretest.Plan), fakellm.Text("All is said."), fakellm.Text("One."))
			wire := &wiretest.Tap{Base: server.Transport()}
			rt := transport.New(wire, wiretest.OneContinuation(wiretest.TwoTodos))
			ann.ask(t, rt, responsesBody(w.Stream))
			tt.other.ask(t, rt, `{"previous_response_id":"resp_1","input":"Go on."}`)
			want := `{"previous_response_id":"resp_1","input":"Go on."}`
			if tt.same {
				want = `{"previous_response_id":"resp_2","input":"Go on."}`
			}
			assert.Equal(t, want, wire.Bodies()[2], name)
		})
	}
}

// ask sends a request, and reads the answer.
func (c caller) ask(t *testing.T, rt http.RoundTripper, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.url, strings.NewReader(body))
	require.NoError(t, err)
	for name, value := range c.header {
		r.Header.Set(name, value)
	}
	require.NoError(t, wiretest.ReadReply(rt.RoundTrip(r)).Err)
}

// An id that comes again stands for the answer that it came with last, whatever
// that one was.
func TestResponsesIDThatComesAgainHasItsNewMeaning(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		again []fakellm.Turn
		want  string
	}{
		"joined again": {[]fakellm.Turn{fakellm.Text(wiretest.Plan).ResponseID("resp_a"), fakellm.Text("Said.").ResponseID("resp_c")}, "resp_c"},
		"not joined":   {[]fakellm.Turn{wiretest.Edit().ResponseID("resp_a")}, "resp_a"},
		"no stop":      {[]fakellm.Turn{fakellm.Text(wiretest.Plan).Finish("length").ResponseID("resp_a")}, "resp_a"},
		"a pause":      {[]fakellm.Turn{fakellm.Text(wiretest.Plan).ResponseID("resp_a"), fakellm.Pause(wiretest.Blocked).ResponseID("resp_c")}, "resp_a"},
		"failed":       {[]fakellm.Turn{fakellm.Text(wiretest.Plan).ResponseID("resp_a"), fakellm.Status(http.StatusBadRequest, "{}")}, "resp_a"},
	} {
		wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) {
			t.Helper()
			turns := append([]fakellm.Turn{fakellm.Text(wiretest.Plan).ResponseID("resp_a"), fakellm.Text("Said.").ResponseID("resp_b")}, tt.again...)
			server := fakellm.NewServer(t, append(turns, fakellm.Text("One."))...)
			wire := &wiretest.Tap{Base: server.Transport()}
			rt := transport.New(wire, wiretest.OneContinuation(wiretest.TwoTodos))
			ann := caller{url: fakellm.BaseURL + "/responses"}
			ann.ask(t, rt, responsesBody(w.Stream))
			ann.ask(t, rt, responsesBody(w.Stream))
			ann.ask(t, rt, `{"previous_response_id":"resp_a","input":"Go on."}`)
			sent := wire.Bodies()
			assert.Equal(t, `{"previous_response_id":"`+tt.want+`","input":"Go on."}`, sent[len(sent)-1], name)
		})
	}
}
