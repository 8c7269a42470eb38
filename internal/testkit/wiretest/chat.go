package wiretest

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/pausetool"
	"github.com/carryon-go/carryon/pause"
)

// ChatTool is a tool of the caller's.
const ChatTool = `{"type":"function","function":{"name":"edit_file","parameters":{"type":"object","properties":{}}}}`

// ChatBody is a request in scope, with more members if there are any.
func ChatBody(stream bool, more ...string) string {
	members := slices.Concat([]string{`"model":"test-model"`}, more, []string{
		`"messages":[{"role":"system","content":"You write code."},{"role":"user","content":"Write and test the parser."}]`,
		`"tools":[` + ChatTool + `]`,
	})
	if stream {
		members = append(members, `"stream":true`, `"stream_options":{"include_usage":true}`)
	}
	return "{" + strings.Join(members, ",") + "}"
}

// NewChatRequest returns a request with the body.
func NewChatRequest(tb testing.TB, ctx context.Context, url, body string) *http.Request { //nolint:revive // t comes first in tests
	tb.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/chat/completions", strings.NewReader(body))
	require.NoError(tb, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer no key")
	return r
}

// ChatReading is a client's reading of an answer.
type ChatReading struct {
	ID, Text, Finish string
	Calls            []string // name and arguments
	Prompt           int      // tokens
	Completion       int
}

// Chat reads an answer, streamed or not.
func (r Reply) Chat(t *testing.T) ChatReading {
	t.Helper()
	var h ChatReading
	if strings.HasPrefix(strings.TrimSpace(r.Body), "{") {
		h.add(t, r.Body)
		return h
	}
	for line := range strings.Lines(r.Body) {
		payload, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "data: ")
		if ok && payload != "[DONE]" {
			h.add(t, payload)
		}
	}
	return h
}

// add reads a chunk, or a whole answer.
func (h *ChatReading) add(t *testing.T, payload string) {
	t.Helper()
	type message struct {
		Content   string
		ToolCalls []struct {
			Function struct{ Name, Arguments string }
		} `json:"tool_calls"`
	}
	var c struct {
		ID      string
		Choices []struct {
			Delta, Message message
			FinishReason   string `json:"finish_reason"`
		}
		Usage struct {
			Prompt     int `json:"prompt_tokens"`
			Completion int `json:"completion_tokens"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(payload), &c), payload)
	h.ID = c.ID
	h.Prompt, h.Completion = h.Prompt+c.Usage.Prompt, h.Completion+c.Usage.Completion
	for _, choice := range c.Choices {
		h.Text += choice.Delta.Content + choice.Message.Content
		h.Finish += choice.FinishReason
		for _, call := range append(choice.Delta.ToolCalls, choice.Message.ToolCalls...) {
			if call.Function.Name != "" {
				h.Calls = append(h.Calls, call.Function.Name+" ")
			}
			h.Calls[len(h.Calls)-1] += call.Function.Arguments
		}
	}
}

// RequireChat checks that an answer is whole, and that it has this reading.
func RequireChat(t *testing.T, got Reply, text, finish string) {
	t.Helper()
	require.NoError(t, got.Err)
	h := got.Chat(t)
	assert.Equal(t, text, h.Text)
	assert.Equal(t, finish, h.Finish)
	assert.Equal(t, "chatcmpl-1", h.ID)
}

// ChatPauseTool is todo_pause as it is declared on the wire.
func ChatPauseTool(t *testing.T, strict bool) string {
	t.Helper()
	type function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
		Strict      bool            `json:"strict,omitempty"`
	}
	b, err := json.Marshal(struct {
		Type     string   `json:"type"`
		Function function `json:"function"`
	}{"function", function{pause.ToolName, pausetool.Description(), pausetool.Schema(strict), strict}})
	require.NoError(t, err)
	return string(b)
}
