package langchaingo_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/llms"

	carrylangchain "github.com/carryon-go/carryon/adapters/langchaingo"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// What the model answers to the closing question is joined and streamed; of an answer that nothing is open, the callbacks get
// nothing, not even its reasoning.
func TestClosingQuestion(t *testing.T) {
	t.Parallel()
	const report, except = "The parser is written.", "Nothing is open, except for a test."
	for name, scene := range map[string]struct {
		second          fakellm.Turn
		text, reasoning string
		reason          continuation.Reason
	}{
		"nothing is open":   {fakellm.Text("**Nothing is open.**").Reasoning("All is done."), report, "", reasons.NothingOpen},
		"something is open": {fakellm.Text(except).Reasoning("One is missing."), report + "\n\n" + except, "One is missing.", reasons.Asked},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, streams := range []bool{false, true} {
				server := fakellm.NewServer(t, fakellm.Text(report), scene.second)
				mw := middleware.New(todo.FromConversation(), unhurried, middleware.WithClosingQuestion())
				text, chunks, reasoning := "", "", ""
				options := []llms.CallOption{withTools("search")}
				if streams {
					options = append(options,
						llms.WithStreamingFunc(func(_ context.Context, chunk []byte) error { text += string(chunk); return nil }),
						llms.WithStreamingReasoningFunc(func(_ context.Context, thought, chunk []byte) error {
							reasoning, chunks = reasoning+string(thought), chunks+string(chunk)
							return nil
						}))
				}
				ctx, outcomes := middleware.Capture(t.Context())
				answer, err := carrylangchain.Wrap(newOpenAI(t, server), mw).GenerateContent(ctx, []llms.MessageContent{
					llms.TextParts(llms.ChatMessageTypeHuman, "Write and test the parser."),
					{Role: llms.ChatMessageTypeAI, Parts: []llms.ContentPart{llms.ToolCall{
						ID: "c1", Type: "function", FunctionCall: &llms.FunctionCall{Name: "search", Arguments: "{}"},
					}}},
					{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{llms.ToolCallResponse{ToolCallID: "c1", Name: "search", Content: "ok"}}},
				}, options...)
				require.NoError(t, err)
				assert.Equal(t, scene.text, answer.Choices[0].Content)
				assert.Equal(t, scene.reason, outcomes.Last().Reason)
				if streams {
					assert.Equal(t, scene.text, text)
					assert.Equal(t, scene.text, chunks)
					assert.Equal(t, scene.reasoning, reasoning)
				}
			}
		})
	}
}
