package messages_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/anthropic"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
)

// langchaingo's own client of Messages, through its HTTP client, streamed and not.
func TestLangchaingoReadsJoinedAnswers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		turns []fakellm.Turn
		text  string
		calls []string
	}{
		"text":    {[]fakellm.Turn{fakellm.Text(wiretest.Plan), fakellm.Text("Done.")}, wiretest.Plan + "\n\nDone.", nil},
		"a call":  {[]fakellm.Turn{fakellm.Text(wiretest.Plan), fakellm.Text("Now.").AndCall("edit_file", `{"path":"parser.go"}`)}, wiretest.Plan + "\n\nNow.", []string{`edit_file{"path":"parser.go"}`}},
		"a pause": {[]fakellm.Turn{fakellm.Text(wiretest.Plan), fakellm.Pause(wiretest.Blocked)}, wiretest.Plan + "\n\nTask paused: " + wiretest.Blocked, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) {
				server := fakellm.NewServer(t, test.turns...)
				llm, err := anthropic.New(anthropic.WithToken("none"), anthropic.WithModel(model), anthropic.WithBaseURL(server.URL()),
					anthropic.WithHTTPClient(&http.Client{Transport: transport.New(http.DefaultTransport, attempts(1))}))
				require.NoError(t, err)
				options := []llms.CallOption{llms.WithMaxTokens(100), llms.WithTools([]llms.Tool{{
					Type: "function", Function: &llms.FunctionDefinition{Name: "edit_file", Parameters: map[string]any{"type": "object"}},
				}})}
				var streamed strings.Builder
				if w.Stream {
					options = append(options, llms.WithStreamingFunc(func(_ context.Context, chunk []byte) error {
						streamed.Write(chunk)
						return nil
					}))
				}
				answer, err := llm.GenerateContent(t.Context(), []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "Write it.")}, options...)
				require.NoError(t, err)
				text, calls := contentOf(answer)
				assert.Equal(t, test.text, text)
				assert.Equal(t, test.calls, calls)
				if w.Stream {
					assert.True(t, strings.HasPrefix(streamed.String(), test.text), streamed.String())
				}
			})
		})
	}
}

// contentOf joins the content of the choices, one for each block.
func contentOf(answer *llms.ContentResponse) (said string, calls []string) {
	var text strings.Builder
	for _, choice := range answer.Choices {
		text.WriteString(choice.Content)
		for _, call := range choice.ToolCalls {
			calls = append(calls, call.FunctionCall.Name+call.FunctionCall.Arguments)
		}
	}
	return text.String(), calls
}
