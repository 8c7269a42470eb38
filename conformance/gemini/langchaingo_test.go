package gemini_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/googleai"
	"google.golang.org/api/option"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/middleware"
)

// langchaingo's Gemini asks for numbers in place of words, and streams JSON arrays. Whole answers are joined under its
// HTTP client; streams are left alone.
func TestLangchaingoOverItsHTTPClient(t *testing.T) {
	t.Parallel()
	const first = `{"candidates":[{"content":{"parts":[{"text":"` + plan + `"}],"role":"model"},"finishReason":1,"index":0}],` +
		`"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":5,"totalTokenCount":15}}`
	const second = `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"edit_file","args":{"path":"a"}}}],"role":"model"},"finishReason":1}],` +
		`"usageMetadata":{"promptTokenCount":20,"candidatesTokenCount":5,"totalTokenCount":25}}`
	tool := llms.WithTools([]llms.Tool{{Type: "function", Function: &llms.FunctionDefinition{
		Name: "edit_file", Parameters: map[string]any{"type": "object", "properties": map[string]any{"path": map[string]any{"type": "string"}}},
	}}})
	question := []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "Write the parser.")}
	for name, test := range map[string]struct {
		turns []carryontest.Turn
		more  []llms.CallOption
		calls int
	}{
		"whole":    {[]carryontest.Turn{carryontest.Status(http.StatusOK, first), carryontest.Status(http.StatusOK, second)}, nil, 1},
		"streamed": {[]carryontest.Turn{carryontest.Status(http.StatusOK, "["+first+"]")}, []llms.CallOption{llms.WithStreamingFunc(ignore)}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := carryontest.NewServer(t, test.turns...)
			client := &http.Client{Transport: transport.New(server.Transport(), middleware.New(open(), unhurried))}
			at := func(o *googleai.Options) {
				o.ClientOptions = append(o.ClientOptions, option.WithEndpoint("http://gemini.test"))
			}
			model, err := googleai.New(t.Context(), googleai.WithAPIKey("none"), googleai.WithRest(), googleai.WithHTTPClient(client), at)
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, model.Close()) })
			answer, err := model.GenerateContent(t.Context(), question, append(test.more, tool)...)
			require.NoError(t, err)
			assert.Equal(t, plan, answer.Choices[0].Content)
			assert.Equal(t, "FinishReasonStop", answer.Choices[0].StopReason)
			assert.Len(t, answer.Choices[0].ToolCalls, test.calls)
			assert.Len(t, server.Requests(), 1+test.calls)
		})
	}
}

func ignore(context.Context, []byte) error { return nil }
