package openai_test

import (
	"errors"
	"io"
	"testing"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	carryopenai "github.com/carryon-go/carryon/adapters/openai"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// What the model answers to the closing question is joined; that nothing is open is not shown.
func TestClosingQuestion(t *testing.T) {
	t.Parallel()
	const report = "The parser is written."
	for name, scene := range map[string]struct {
		second fakellm.Turn
		text   string
		reason continuation.Reason
	}{
		"nothing is open":   {fakellm.Text("Nothing is open.").Reasoning("All is done."), report, reasons.NothingOpen},
		"something is open": {fakellm.Text("Nothing is open, except for a test."), report + "\n\nNothing is open, except for a test.", reasons.Asked},
		"it goes on":        {fakellm.Call("edit_file", `{}`).AndText("Nothing is open."), report + "\n\nNothing is open.", reasons.ToolCalls},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls := 0
			if scene.reason == reasons.ToolCalls {
				calls = 1
			}

			ctx, outcomes := middleware.Capture(t.Context())
			answer, err := asking(t, scene.second, report).CreateChatCompletion(ctx, afterATool())
			require.NoError(t, err)
			message := answer.Choices[0].Message
			assert.Equal(t, scene.text, message.Content)
			assert.Len(t, message.ToolCalls, calls)
			assert.Equal(t, scene.reason, outcomes.Last().Reason)

			stream, err := asking(t, scene.second, report).CreateChatCompletionStream(t.Context(), afterATool())
			require.NoError(t, err)
			text, reasoning, finish := "", "", openai.FinishReason("")
			for {
				chunk, err := stream.Recv()
				if errors.Is(err, io.EOF) {
					break
				}
				require.NoError(t, err)
				for _, choice := range chunk.Choices {
					text, reasoning = text+choice.Delta.Content, reasoning+choice.Delta.ReasoningContent
					if choice.FinishReason != "" {
						finish = choice.FinishReason
					}
				}
			}
			require.NoError(t, stream.Close())
			assert.Equal(t, scene.text, text)
			assert.Empty(t, reasoning)
			assert.Equal(t, answer.Choices[0].FinishReason, finish)
			assert.Equal(t, scene.reason, stream.Outcome().Reason)
		})
	}
}

func asking(t *testing.T, second fakellm.Turn, report string) *carryopenai.Client {
	t.Helper()
	server := fakellm.NewServer(t, fakellm.Text(report), second)
	config := openai.DefaultConfig("no key")
	config.BaseURL = server.URL()
	return carryopenai.Wrap(openai.NewClientWithConfig(config), middleware.New(todo.FromConversation(),
		middleware.WithClosingQuestion(), middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off})))
}

// afterATool is a request of a user turn that has called a tool.
func afterATool() openai.ChatCompletionRequest {
	return openai.ChatCompletionRequest{
		Model: "test-model",
		Messages: []openai.ChatCompletionMessage{
			{Role: "user", Content: "Write and test the parser."},
			{Role: "assistant", ToolCalls: []openai.ToolCall{{ID: "c1", Type: "function", Function: openai.FunctionCall{Name: "edit_file", Arguments: "{}"}}}},
			{Role: "tool", ToolCallID: "c1", Content: "ok"},
		},
		Tools: []openai.Tool{{Type: "function", Function: &openai.FunctionDefinition{Name: "edit_file"}}},
	}
}
