package langchaingo

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A total that one of the turns does not report is the sum of its parts.
func TestTotalsOfTurns(t *testing.T) {
	t.Parallel()
	type info = map[string]any
	for name, tt := range map[string]struct {
		answer, turn info
		sum, extend  any // the totals
		key          string
	}{
		"both report it":     {answer: info{"PromptTokens": 10, "CompletionTokens": 5, "TotalTokens": 17}, turn: info{"PromptTokens": 20, "CompletionTokens": 7, "TotalTokens": 30}, sum: 47, extend: 27},
		"the first alone":    {answer: info{"PromptTokens": 10, "CompletionTokens": 5, "TotalTokens": 15}, turn: info{"PromptTokens": 20, "CompletionTokens": 7}, sum: 42, extend: 22},
		"the second alone":   {answer: info{"PromptTokens": 10, "CompletionTokens": 5}, turn: info{"PromptTokens": 20, "CompletionTokens": 7, "TotalTokens": 27}, sum: 42, extend: 22},
		"zero is unreported": {answer: info{"PromptTokens": 10, "CompletionTokens": 5, "TotalTokens": 0}, turn: info{"PromptTokens": 20, "CompletionTokens": 7, "TotalTokens": 27}, sum: 42, extend: 22},
		"of another type":    {answer: info{"input_tokens": 10, "output_tokens": 5}, turn: info{"input_tokens": 20, "output_tokens": 7, "total_tokens": int64(27)}, key: "total_tokens", sum: int64(42), extend: int64(22)},
		"no parts":           {answer: info{"Model": "a"}, turn: info{"TotalTokens": 27}, sum: 27, extend: 27},
		"neither":            {answer: info{"PromptTokens": 10}, turn: info{"PromptTokens": 20}},
		"no number":          {answer: info{"PromptTokens": 10}, turn: info{"TotalTokens": "many"}, sum: "many", extend: "many"},
	} {
		if tt.key == "" {
			tt.key = "TotalTokens"
		}
		answer, turn := maps.Clone(tt.answer), maps.Clone(tt.turn)
		assert.Equal(t, tt.sum, addInfo(answer, turn)[tt.key], name)
		assert.Equal(t, tt.extend, extendInfo(answer, turn)[tt.key], name)
		assert.Equal(t, tt.answer, answer, "%s: the caller's map", name)
		assert.Equal(t, tt.turn, turn, "%s: the caller's map", name)
	}
}
