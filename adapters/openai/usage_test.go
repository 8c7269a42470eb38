package openai_test

import (
	"testing"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/scenario"
	"github.com/carryon-go/carryon/middleware"
)

func TestUsageDetailsOfOneAnswer(t *testing.T) {
	t.Parallel()
	const full = `{"prompt_tokens":10,"completion_tokens":20,"total_tokens":30,` +
		`"prompt_tokens_details":{"audio_tokens":1,"cached_tokens":2},` +
		`"completion_tokens_details":{"audio_tokens":3,"reasoning_tokens":4,` +
		`"accepted_prediction_tokens":5,"rejected_prediction_tokens":6}}`
	const short = `{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}`
	one := &openai.Usage{
		PromptTokensDetails: &openai.PromptTokensDetails{AudioTokens: 1, CachedTokens: 2},
		CompletionTokensDetails: &openai.CompletionTokensDetails{
			AudioTokens: 3, ReasoningTokens: 4, AcceptedPredictionTokens: 5, RejectedPredictionTokens: 6,
		},
	}
	both := &openai.Usage{
		PromptTokensDetails: one.PromptTokensDetails, // the first turn's
		CompletionTokensDetails: &openai.CompletionTokensDetails{
			AudioTokens: 6, ReasoningTokens: 8, AcceptedPredictionTokens: 10, RejectedPredictionTokens: 12,
		},
	}
	for name, c := range map[string]struct {
		first, second string
		want          *openai.Usage
	}{
		"of both turns":           {full, full, both},
		"of the first turn only":  {full, short, one},
		"of the second turn only": {short, full, &openai.Usage{CompletionTokensDetails: one.CompletionTokensDetails}},
		"of neither turn":         {short, short, &openai.Usage{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, m := range scenario.AllModes() {
				server := fakellm.NewServer(t, fakellm.Text("Plan.").UsageJSON(c.first), fakellm.Text("Done.").UsageJSON(c.second))
				mw := middleware.New(scenario.TwoTodos(), scenario.AtMost(1))
				got := m.Call(t.Context(), m.HTTPClient(server, mw), scenario.Request())
				require.NoError(t, got.Err, m.String())
				require.NotNil(t, got.Usage, m.String())
				assert.Equal(t, c.want.PromptTokensDetails, got.Usage.PromptTokensDetails, m.String())
				assert.Equal(t, c.want.CompletionTokensDetails, got.Usage.CompletionTokensDetails, m.String())
			}
		})
	}
}
