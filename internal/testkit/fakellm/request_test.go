package fakellm_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/testkit/fakellm"
)

const longRequest = `{
	"model": "m", "stream": true, "stream_options": {"include_usage": true}, "vendor": {"x": 1},
	"tools": [
		{"type": "function", "function": {"name": "edit_file"}},
		{"type": "custom", "custom": {"name": "shell"}}
	],
	"messages": [
		{"role": "system", "content": "Be brief."},
		{"role": "user", "content": [{"type": "text", "text": "Look "}, {"type": "image_url", "image_url": {}}, {"type": "text", "text": "here"}]},
		{"role": "assistant", "content": null, "reasoning_content": "hm", "tool_calls": [
			{"id": "c1", "type": "function", "function": {"name": "edit_file", "arguments": "{}"}}]},
		{"role": "tool", "tool_call_id": "c1", "content": "done"}
	]
}`

func post(t *testing.T, s *fakellm.Server, body string) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/chat/completions", strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer x")
	s.Handler().ServeHTTP(httptest.NewRecorder(), r)
}

func TestRequestIsDecoded(t *testing.T) {
	s := fakellm.NewServer(t, fakellm.Text("hi"))
	post(t, s, longRequest)
	require.Len(t, s.Requests(), 1)
	r := s.Requests()[0]

	assert.Equal(t, http.MethodPost, r.Method)
	assert.Equal(t, "/v1/chat/completions", r.Path)
	assert.Equal(t, "Bearer x", r.Header.Get("Authorization"))
	assert.True(t, bytes.Equal([]byte(longRequest), r.Body))
	assert.False(t, r.Time.IsZero())
	assert.Equal(t, "m", r.Model)
	assert.True(t, r.Stream)
	assert.True(t, r.IncludeUsage)
	assert.Equal(t, []string{"edit_file", "shell"}, r.Tools)
	assert.True(t, r.HasTool("shell"))
	assert.False(t, r.HasTool("todo_pause"))
	assert.Equal(t, map[string]any{"x": 1.0}, r.JSON()["vendor"])
	assert.Equal(t, []fakellm.Message{
		{Role: "system", Content: "Be brief."},
		{Role: "user", Content: "Look here"},
		{
			Role: "assistant", ReasoningContent: "hm",
			ToolCalls: []fakellm.ToolCall{{ID: "c1", Name: "edit_file", Arguments: "{}"}},
		},
		{Role: "tool", ToolCallID: "c1", Content: "done"},
	}, r.Messages)
	assert.Equal(t, r.Messages[3], r.Last())
}

func TestRequestsAreCopies(t *testing.T) {
	s := fakellm.NewServer(t, fakellm.Text("hi"))
	post(t, s, longRequest)
	r := s.Requests()[0]
	r.Header.Set("Authorization", "changed")
	r.Body[0] = 'x'
	r.Tools[0] = "changed"
	r.Messages[0].Content = "changed"
	r.Messages[2].ToolCalls[0].Name = "changed"

	again := s.Requests()[0]
	assert.Equal(t, "Bearer x", again.Header.Get("Authorization"))
	assert.True(t, bytes.Equal([]byte(longRequest), again.Body))
	assert.Equal(t, "edit_file", again.Tools[0])
	assert.Equal(t, "Be brief.", again.Messages[0].Content)
	assert.Equal(t, "edit_file", again.Messages[2].ToolCalls[0].Name)
}

func TestEmptyRequest(t *testing.T) {
	assert.Zero(t, fakellm.Request{}.Last())
	assert.Nil(t, fakellm.Request{}.JSON())
}
