package messages_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// A call that carryon leaves alone passes byte for byte, and the outcome says
// why.
func TestRequestsThatAreLeftAlone(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		ask
		reason continuation.Reason
	}{
		"choice any":    {ask{members: `"tool_choice":{"type":"any"},`}, reasons.ToolChoice},
		"choice tool":   {ask{members: `"tool_choice":{"type":"tool","name":"edit_file"},`}, reasons.ToolChoice},
		"choice none":   {ask{members: `"tool_choice":{"type":"none"},`}, reasons.ToolChoice},
		"format":        {ask{members: `"output_config":{"format":{"type":"json_schema","schema":{}}},`}, reasons.JSON},
		"older format":  {ask{members: `"output_format":{"type":"json_schema","schema":{}},`}, reasons.JSON},
		"cache warm-up": {ask{members: `"max_tokens":0,`}, reasons.NoAnswer},
		"prefill": {
			ask{messages: `{"role":"user","content":"Begin."},{"role":"assistant","content":"Here"}`}, reasons.Prefill,
		},
		"compaction": {
			ask{members: `"context_management":{"edits":[{"type":"compact_20260112","pause_after_compaction":true}]},`},
			reasons.Compaction,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.turns = []fakellm.Turn{fakellm.Text(wiretest.Plan)}
			for _, stream := range []bool{true, false} {
				got := test.send(t, stream)
				require.NoError(t, got.err)
				assert.Equal(t, test.reason, got.outcome.Reason)
				require.Len(t, got.requests, 1)
				assert.Equal(t, test.body(stream), string(got.requests[0].Body))
			}
		})
	}
}

func TestRequestsThatAreContinued(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]ask{
		"choice auto":      {members: `"tool_choice":{"type":"auto","disable_parallel_tool_use":true},`},
		"no choice":        {members: `"tool_choice":null,`},
		"effort":           {members: `"output_config":{"effort":"high"},`},
		"editing":          {members: `"context_management":{"edits":[{"type":"clear_tool_uses_20250919"}]},`},
		"system in blocks": {members: `"system":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}],`},
		"cache marks": {
			messages: `{"role":"user","content":[{"type":"text","text":"Begin.","cache_control":{"type":"ephemeral"}}]}`,
		},
		"system behind the answer to a side call": {
			messages: `{"role":"user","content":"You are performing a CONTEXT CHECKPOINT COMPACTION."},{"role":"assistant","content":"So."},{"role":"system","content":"Be brief."}`,
		},
		"system in the middle": {messages: `{"role":"user","content":"Begin."},{"role":"system","content":"Be brief."}`},
		"betas":                {header: map[string]string{"Anthropic-Beta": "context-1m-2025-08-07,files-api-2025-04-14"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.turns = []fakellm.Turn{fakellm.Text(wiretest.Plan), wiretest.Edit()}
			test.both(t, func(t *testing.T, got answer) {
				t.Helper()
				require.Len(t, got.requests, 2)
				first, second := got.requests[0], got.requests[1]
				assert.Equal(t, first.Header["Anthropic-Beta"], second.Header["Anthropic-Beta"])
				assert.Equal(t, first.Header["X-Api-Key"], second.Header["X-Api-Key"])
				at := strings.LastIndex(string(first.Body), `],"tools"`)
				assert.True(t, strings.HasPrefix(string(second.Body), string(first.Body[:at])), "what is there stays")
				assertOnlyAdded(t, first.JSON(), second.JSON())
			})
		})
	}
}

// assertOnlyAdded asserts that a continuation's request is the caller's with
// two messages and a tool added.
func assertOnlyAdded(t *testing.T, own, hidden map[string]any) {
	t.Helper()
	messages, _ := hidden["messages"].([]any)
	before, _ := own["messages"].([]any)
	require.Len(t, messages, len(before)+2)
	tools, _ := hidden["tools"].([]any)
	require.Len(t, tools, 2)
	pause, _ := tools[1].(map[string]any)
	assert.Equal(t, "todo_pause", pause["name"])
	hidden["messages"], hidden["tools"] = messages[:len(before)], tools[:1]
	assert.Equal(t, own, hidden)
}

// carryon does not read other paths of the API, or other APIs with a similar
// path.
func TestOtherPathsPass(t *testing.T) {
	t.Parallel()
	for path, body := range map[string]string{
		"/v1/messages/count_tokens":     ask{}.body(false),
		"/v1/messages/batches":          `{"requests":[]}`,
		"/v1/complete":                  `{"prompt":"Begin."}`,
		"/v1/threads/thread_1/messages": `{"role":"user","content":"Begin."}`,
		"/model/claude/invoke":          ask{}.body(false),
	} {
		var sent string
		base := wiretest.RoundTrip(func(r *http.Request) (*http.Response, error) {
			body, err := io.ReadAll(r.Body)
			sent = string(body)
			return wiretest.Answered(r, `{"input_tokens":3}`), err
		})
		ctx, outcomes := middleware.Capture(t.Context())
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://model.test"+path, strings.NewReader(body))
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/json")
		response, err := transport.New(base, middleware.New(wiretest.TwoTodos)).RoundTrip(r)
		require.NoError(t, err)
		got, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		assert.JSONEq(t, `{"input_tokens":3}`, string(got), path)
		assert.Equal(t, body, sent, path)
		assert.Zero(t, outcomes.Last().Attempts, path)
	}
}

// Tool results have the role of the user, and marks for the cache move from
// message to message: a tool loop is one user turn all the same.
func TestToolLoopIsOneUserTurn(t *testing.T) {
	t.Parallel()
	server := fakellm.NewServer(t)
	mw := middleware.New(todo.FromConversation())
	ctx := continuation.WithSession(t.Context(), "s")
	const mark = `,"cache_control":{"type":"ephemeral"}`
	begin := func(mark string) string {
		return `{"role":"user","content":[{"type":"text","text":"Begin."` + mark + `}]}`
	}
	const loop = `,{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"edit_file","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"done"` + mark + `},{"type":"text","text":"Note: all is well."}]}`
	var turns []int
	for _, messages := range []string{
		begin(mark), begin("") + loop, begin("") + loop + `,{"role":"assistant","content":"Done."},{"role":"user","content":"And now?"}`,
	} {
		server.Append(fakellm.Text("Done."))
		response, err := transport.New(server.Transport(), mw).RoundTrip(request(t, ask{messages: messages}.body(false)).WithContext(ctx))
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, http.StatusOK, response.StatusCode)
		state, err := mw.State(ctx)
		require.NoError(t, err)
		turns = append(turns, state.UserTurn)
	}
	assert.Equal(t, turns[0], turns[1])
	assert.NotEqual(t, turns[1], turns[2])
}
