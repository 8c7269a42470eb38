package messages_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/middleware"
)

const model = "claude-sonnet-4-5"

func attempts(n int) *middleware.Middleware {
	return middleware.New(wiretest.TwoTodos, wiretest.Continuations(n))
}

// client returns a client of the official SDK behind a transport.
func client(url string, base http.RoundTripper) sdk.Client {
	return sdk.NewClient(option.WithBaseURL(strings.TrimSuffix(url, "/v1")), option.WithAPIKey("none"), option.WithMaxRetries(0),
		option.WithHTTPClient(&http.Client{Transport: base}))
}

// through returns a client of a scripted server, through carryon.
func through(server *fakellm.Server, mw *middleware.Middleware) sdk.Client {
	return client(server.URL(), transport.New(http.DefaultTransport, mw))
}

func params(messages ...sdk.MessageParam) sdk.MessageNewParams {
	return sdk.MessageNewParams{
		Model: model, MaxTokens: 1024,
		Messages: append([]sdk.MessageParam{sdk.NewUserMessage(sdk.NewTextBlock("Write and test the parser."))}, messages...),
		Tools: []sdk.ToolUnionParam{{OfTool: &sdk.ToolParam{
			Name: "edit_file", InputSchema: sdk.ToolInputSchemaParam{Properties: map[string]any{"path": map[string]string{"type": "string"}}},
		}}},
	}
}

// ask asks for a message, streamed or not. It accumulates a stream as programs do.
func ask(ctx context.Context, c sdk.Client, p sdk.MessageNewParams, stream bool) (sdk.Message, error) {
	if !stream {
		m, err := c.Messages.New(ctx, p)
		if err != nil {
			return sdk.Message{}, err
		}
		return *m, nil
	}
	var m sdk.Message
	events := c.Messages.NewStreaming(ctx, p)
	for events.Next() {
		if err := m.Accumulate(events.Current()); err != nil {
			return m, err
		}
	}
	return m, events.Err()
}

// shown returns the blocks of a message in a short form.
func shown(m sdk.Message) []string {
	var list []string
	for _, b := range m.Content {
		switch b.Type {
		case "text":
			list = append(list, b.Text)
		case "thinking":
			list = append(list, "("+b.Thinking+")")
		case "tool_use":
			list = append(list, b.Name+string(b.Input))
		default:
			list = append(list, "<"+b.Type+" "+b.ID+b.ToolUseID+">")
		}
	}
	return list
}

// requireAccepted sends a message back, with the results of its calls.
func requireAccepted(t *testing.T, m sdk.Message) {
	t.Helper()
	var results []sdk.ContentBlockParamUnion
	for _, b := range m.Content {
		if b.Type == "tool_use" {
			results = append(results, sdk.NewToolResultBlock(b.ID, "done", false))
		}
	}
	if len(results) == 0 {
		results = append(results, sdk.NewTextBlock("Go on."))
	}
	server := fakellm.NewServer(t, fakellm.Text("Good."))
	bare := client(server.URL(), http.DefaultTransport)
	_, err := ask(t.Context(), bare, params(m.ToParam(), sdk.NewUserMessage(results...)), false)
	require.NoError(t, err)
}

// usageOf returns the counts of a message.
func usageOf(m sdk.Message) [2]int64 { return [2]int64{m.Usage.InputTokens, m.Usage.OutputTokens} }
