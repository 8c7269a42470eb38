package wire_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/wire"
)

// The usage of two turns, in the shapes of the protocols and of providers who
// count more.
func TestUsageOfTwoTurns(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ first, second, one, sum string }{
		"chat completions": {
			`{"prompt_tokens":100,"completion_tokens":10,"total_tokens":110,"prompt_tokens_details":{"cached_tokens":64}}`,
			`{"prompt_tokens":120,"completion_tokens":20,"total_tokens":140,"prompt_tokens_details":{"cached_tokens":96}}`,
			`{"prompt_tokens":100,"completion_tokens":30,"total_tokens":130,"prompt_tokens_details":{"cached_tokens":64}}`,
			`{"prompt_tokens":220,"completion_tokens":30,"total_tokens":250,"prompt_tokens_details":{"cached_tokens":160}}`,
		},
		"responses": {
			`{"input_tokens":100,"input_tokens_details":{"cached_tokens":64},"output_tokens":10,"output_tokens_details":{"reasoning_tokens":4},"total_tokens":110}`,
			`{"input_tokens":120,"input_tokens_details":{"cached_tokens":96},"output_tokens":20,"output_tokens_details":{"reasoning_tokens":5},"total_tokens":140}`,
			`{"input_tokens":100,"input_tokens_details":{"cached_tokens":64},"output_tokens":30,"output_tokens_details":{"reasoning_tokens":9},"total_tokens":130}`,
			`{"input_tokens":220,"input_tokens_details":{"cached_tokens":160},"output_tokens":30,"output_tokens_details":{"reasoning_tokens":9},"total_tokens":250}`,
		},
		"messages": {
			`{"input_tokens":10,"cache_creation_input_tokens":5,"cache_read_input_tokens":80,"output_tokens":7,"server_tool_use":{"web_search_requests":1}}`,
			`{"input_tokens":12,"cache_creation_input_tokens":0,"cache_read_input_tokens":85,"output_tokens":8,"server_tool_use":{"web_search_requests":2}}`,
			`{"input_tokens":10,"cache_creation_input_tokens":5,"cache_read_input_tokens":80,"output_tokens":15,"server_tool_use":{"web_search_requests":3}}`,
			`{"input_tokens":22,"cache_creation_input_tokens":5,"cache_read_input_tokens":165,"output_tokens":15,"server_tool_use":{"web_search_requests":3}}`,
		},
		"a price, and a total with more than both": {
			`{"prompt_tokens":10,"completion_tokens":1,"total_tokens":15,"cost":0.25,"prompt_cache_hit_tokens":8}`,
			`{"prompt_tokens":20,"completion_tokens":2,"total_tokens":29,"cost":0.5,"prompt_cache_hit_tokens":9}`,
			`{"prompt_tokens":10,"completion_tokens":3,"total_tokens":24,"cost":0.75,"prompt_cache_hit_tokens":8}`,
			`{"prompt_tokens":30,"completion_tokens":3,"total_tokens":44,"cost":0.75,"prompt_cache_hit_tokens":17}`,
		},
		"a turn without a total": {
			`{"prompt_tokens":10,"completion_tokens":1,"total_tokens":11}`,
			`{"prompt_tokens":20,"completion_tokens":2}`,
			`{"prompt_tokens":10,"completion_tokens":3,"total_tokens":13}`,
			`{"prompt_tokens":30,"completion_tokens":3,"total_tokens":33}`,
		},
		"the first turn says nothing of its prompt": {
			`{"prompt_tokens":0,"completion_tokens":1,"total_tokens":1}`,
			`{"prompt_tokens":20,"completion_tokens":2,"total_tokens":22}`,
			`{"prompt_tokens":20,"completion_tokens":3,"total_tokens":23}`,
			`{"prompt_tokens":20,"completion_tokens":3,"total_tokens":23}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var u wire.Usage
			for _, turn := range []string{c.first, c.second} {
				u.SetUsage([]byte(turn))
				u.EndTurn(true)
			}
			assert.Equal(t, c.one, string(u.ShownUsage(adapter.UsageOneAnswer, nil)))
			assert.Equal(t, c.sum, string(u.ShownUsage(adapter.UsageSum, nil)))
			assert.Equal(t, c.second, string(u.ShownUsage(adapter.UsageLast, nil)))
		})
	}
}

// Counts that are too large for an int do not become small ones.
func TestCounts(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]int{
		"5": 5, "5.0": 5, "-3": -3, "9223372036854775807": math.MaxInt, "9223372036854775808": math.MaxInt, "1e30": math.MaxInt, "1e999": math.MaxInt, "-1e30": math.MinInt,
	} {
		n, ok := wire.Count([]byte(raw))
		assert.True(t, ok, raw)
		assert.Equal(t, want, n, raw)
	}
	for _, raw := range []string{"", "null", `"5"`, "{}", "NaN"} {
		_, ok := wire.Count([]byte(raw))
		assert.False(t, ok, raw)
	}
}
