package carryontest_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
)

// respond sends a request and returns the response, or the error of sending it.
func respond(ctx context.Context, t *testing.T, s *carryontest.Server, body string) (*http.Response, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, carryontest.BaseURL+"/chat/completions", strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer x")
	return s.Transport().RoundTrip(r)
}

// answer returns the whole answer of a new server to a request, and the error of reading it.
func answer(t *testing.T, turn carryontest.Turn, request string) (string, error) {
	t.Helper()
	response, err := respond(t.Context(), t, carryontest.NewServer(t, turn), request)
	require.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return string(body), err
}

const (
	inOnePiece = `{"model":"m"}`
	streamed   = `{"model":"m","stream":true}`
)

func TestTurnsAreAnsweredInBothForms(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		turn     carryontest.Turn
		stream   []string
		document []string
	}{
		{"zero", carryontest.Turn{}, []string{`"finish_reason":"stop"`}, []string{`"content":""`}},
		{"text", carryontest.Text("One ").AndText("two."), []string{`"content":"One "`, `"content":"two."`}, []string{`"content":"One two."`}},
		{
			"calls", carryontest.Call("a", `{}`).AndCall("b", `[]`),
			[]string{`"id":"call_1_1"`, `"name":"a"`, `"arguments":"{}"`, `"id":"call_1_2"`, `"name":"b"`, `"arguments":"[]"`},
			[]string{`"function":{"name":"a","arguments":"{}"}`, `"finish_reason":"tool_calls"`},
		},
		{
			"whole calls", carryontest.Call("a", `{"long":"arguments of a call"}`).WholeCalls(),
			[]string{`{"name":"a","arguments":"{\"long\":\"arguments of a call\"}"}`},
			nil,
		},
		{"pause", carryontest.Pause("stuck"), []string{`"name":"todo_pause"`}, []string{`"arguments":"{\"reason\":\"stuck\"}"`}},
		{"reasoning", carryontest.Text("x").Reasoning("Hm."), []string{`"reasoning_content":"Hm."`}, []string{`"reasoning_content":"Hm."`}},
		{"finish", carryontest.Text("x").Finish("length"), []string{`"finish_reason":"length"`}, []string{`"finish_reason":"length"`}},
		{"usage", carryontest.Text("x").Usage(3, 4), nil, []string{`"usage":{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7}`}},
		{"status", carryontest.Status(http.StatusTeapot, `{"tea":true}`), []string{`{"tea":true}`}, []string{`{"tea":true}`}},
		{"chunks", carryontest.Chunks(`{"a":1}`), []string{"data: {\"a\":1}\n\ndata: [DONE]\n\n"}, []string{"data: {\"a\":1}\n\n"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for request, want := range map[string][]string{streamed: tt.stream, inOnePiece: tt.document} {
				body, err := answer(t, tt.turn, request)
				require.NoError(t, err)
				for _, part := range want {
					assert.Contains(t, body, part)
				}
			}
		})
	}
}

func TestStatusAndHeaderAreSent(t *testing.T) {
	t.Parallel()
	limited := carryontest.Status(http.StatusTooManyRequests, "{}").Header("Retry-After", "7")
	response, err := respond(t.Context(), t, carryontest.NewServer(t, limited), streamed)
	require.NoError(t, err)
	defer response.Body.Close()
	assert.Equal(t, http.StatusTooManyRequests, response.StatusCode)
	assert.Equal(t, "7", response.Header.Get("Retry-After"))
}

func TestAnswersBreakOffAsAsked(t *testing.T) {
	t.Parallel()
	text := carryontest.Text("one two")

	body, err := answer(t, text.CutAfter(2), streamed)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	assert.Contains(t, body, `"one "`)
	assert.NotContains(t, body, `"two"`)

	body, err = answer(t, text.EndAfter(2), streamed)
	require.NoError(t, err)
	assert.NotContains(t, body, "[DONE]")

	body, err = answer(t, text.ErrorAfter(2, "overloaded"), streamed)
	require.NoError(t, err)
	assert.Contains(t, body, `"message":"overloaded"`)

	_, err = respond(t.Context(), t, carryontest.NewServer(t, text.Cut()), streamed) //nolint:bodyclose // none is returned
	require.ErrorIs(t, err, io.EOF)
}

func TestAnswersHangUntilTheClientLeaves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := carryontest.NewServer(t, carryontest.Text("one").Hang(), carryontest.Text("one").HangAfter(1))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := respond(ctx, t, server, streamed) //nolint:bodyclose // none is returned
		require.ErrorIs(t, err, context.DeadlineExceeded)

		ctx, cancel = context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		response, err := respond(ctx, t, server, streamed)
		require.NoError(t, err)
		defer response.Body.Close()
		_, err = io.ReadAll(response.Body)
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

func TestAnswersWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		open := make(chan struct{})
		turn := carryontest.Text("one").Delay(time.Second).GateAfter(3, open) // behind the role, the word and the finish
		start := time.Now()
		time.AfterFunc(time.Hour, func() { close(open) })
		body, err := answer(t, turn, streamed)
		require.NoError(t, err)
		assert.Contains(t, body, "[DONE]")
		assert.Equal(t, time.Hour+time.Second, time.Since(start))
	})
}

func TestRequestsAreShownToTestsAndFuncs(t *testing.T) {
	t.Parallel()
	const request = `{
		"model": "m", "stream": false, "stream_options": {"include_usage": true}, "vendor": {"x": 1},
		"tools": [{"type": "function", "function": {"name": "edit_file"}}],
		"messages": [
			{"role": "user", "content": "Look here"},
			{"role": "assistant", "content": null, "reasoning_content": "Hm.", "tool_calls": [
				{"id": "c1", "type": "function", "function": {"name": "edit_file", "arguments": "{}"}}]},
			{"role": "tool", "tool_call_id": "c1", "content": "done"}
		]
	}`
	var asked carryontest.Request
	server := carryontest.NewServer(t, carryontest.Func(func(r carryontest.Request) carryontest.Turn {
		asked = r
		return carryontest.Text("You said: " + r.Last().Content)
	}))
	response, err := respond(t.Context(), t, server, request)
	require.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	assert.Contains(t, string(body), "You said: done")

	require.Len(t, server.Requests(), 1)
	r := server.Requests()[0]
	assert.Equal(t, asked, r)
	assert.Equal(t, http.MethodPost, r.Method)
	assert.Equal(t, "/v1/chat/completions", r.Path)
	assert.Equal(t, "Bearer x", r.Header.Get("Authorization"))
	assert.Equal(t, request, string(r.Body))
	assert.False(t, r.Time.IsZero())
	assert.Equal(t, "m", r.Model)
	assert.False(t, r.Stream)
	assert.True(t, r.IncludeUsage)
	assert.Equal(t, []string{"edit_file"}, r.Tools)
	assert.True(t, r.HasTool("edit_file"))
	assert.False(t, r.HasTool("todo_pause"))
	assert.Equal(t, map[string]any{"x": 1.0}, r.JSON()["vendor"])
	assert.Equal(t, []carryontest.Message{
		{Role: "user", Content: "Look here"},
		{
			Role: "assistant", ReasoningContent: "Hm.",
			ToolCalls: []carryontest.ToolCall{{ID: "c1", Name: "edit_file", Arguments: "{}"}},
		},
		{Role: "tool", ToolCallID: "c1", Content: "done"},
	}, r.Messages)
	assert.Equal(t, r.Messages[2], r.Last())

	r.Messages[1].ToolCalls[0].Name = "changed"
	assert.Equal(t, "edit_file", server.Requests()[0].Messages[1].ToolCalls[0].Name)
	assert.Zero(t, carryontest.Request{}.Last())
	assert.Nil(t, carryontest.Request{}.JSON())
}

func TestServerFailsATestWhoseScriptRunsOut(t *testing.T) {
	t.Parallel()
	tb := &silentTB{TB: t}
	server := carryontest.NewServer(tb)
	for range 2 {
		response, err := respond(t.Context(), t, server, streamed)
		require.NoError(t, err)
		response.Body.Close()
	}
	assert.Equal(t, 2, tb.failures)
	server.Append(carryontest.Text("x"))
	response, err := respond(t.Context(), t, server, streamed)
	require.NoError(t, err)
	defer response.Body.Close()
	assert.Equal(t, http.StatusOK, response.StatusCode)
	assert.True(t, strings.HasSuffix(server.URL(), "/v1"))
	assert.NotEqual(t, carryontest.BaseURL, server.URL())
}

// silentTB counts the failures of a test that has not failed.
type silentTB struct {
	testing.TB

	failures int
}

func (tb *silentTB) Errorf(string, ...any) { tb.failures++ }

func TestClosedServerRefusesRequests(t *testing.T) {
	t.Parallel()
	server := carryontest.Start(carryontest.Text("x"))
	server.Close()
	assert.Equal(t, carryontest.BaseURL, server.URL())
	_, err := respond(t.Context(), t, server, streamed) //nolint:bodyclose // none is returned
	require.ErrorContains(t, err, "carryontest: server closed")
}

func TestMistakesInScriptsPanic(t *testing.T) {
	t.Parallel()
	for message, mistake := range map[string]func(){
		"carryon/carryontest: NewServer of a nil testing.TB (Start needs none)": func() { carryontest.NewServer(nil) },
		"carryon/carryontest: Func of a nil function":                           func() { carryontest.Func(nil) },
		"carryon/carryontest: 42 is not a status to answer with":                func() { carryontest.Status(42, "") },
		"carryon/carryontest: Delay of a negative duration":                     func() { carryontest.Text("x").Delay(-1) },
		"carryon/carryontest: a turn made by Status, Chunks, Raw or Func has no answer to change": func() {
			carryontest.Status(http.StatusOK, "{}").AndText("x")
		},
	} {
		assert.PanicsWithValue(t, message, mistake)
	}
}
