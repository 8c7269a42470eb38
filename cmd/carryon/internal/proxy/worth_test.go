package proxy

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/middleware"
)

func TestWorthIsASentence(t *testing.T) {
	t.Parallel()
	dollars := func(n float64) *float64 { return &n }
	tokens := middleware.Tokens{Input: 2000, Cached: 20, Output: 20}
	for want, w := range map[string]worth{
		"": {},
		"resumed 2 stalls; 3 todos were finished after that, for 2,040 tokens; 1 continuation was unwanted": {
			Worth: middleware.Worth{Resumed: 2, Finished: 3, Tokens: tokens, Paused: 1},
		},
		"resumed 1 stall; 1 todo was finished after that, for 2,040 tokens ($1.12)": {
			Worth: middleware.Worth{Resumed: 1, Finished: 1, Tokens: tokens}, Money: dollars(1.123),
		},
		"resumed 0 stalls; 0 todos were finished after that, for 0 tokens; 6 continuations were unwanted": {
			Worth: middleware.Worth{Paused: 1, Repeated: 2, NoProgress: 3},
		},
		"1 continuation was not sent, of about 1,234,567 tokens; what would have followed is not known": {
			Worth: middleware.Worth{Unsent: 1, Estimate: middleware.Tokens{Input: 1234567}},
		},
		"2 continuations were not sent, of about 12 tokens ($0.00); what would have followed is not known": {
			Worth: middleware.Worth{Unsent: 2, Estimate: middleware.Tokens{Input: 12}}, MoneyEstimate: dollars(0),
		},
	} {
		assert.Equal(t, want, w.String())
	}
	assert.Equal(t, "9,223,372,036,854,775,807", grouped(math.MaxInt))
}

func TestPrice(t *testing.T) {
	t.Parallel()
	p, err := parsePrice("3, 0.30,15")
	require.NoError(t, err)
	assert.InDelta(t, 3+0.15+30, p.of(middleware.Tokens{Input: 1e6, Cached: 5e5, Output: 2e6}), 1e-9)
}

// A conversation over two calls: the second shows what the first was worth.
func TestPageAndLastLineSayWhatContinuationsWereWorth(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, stream bool) {
		s := newScene(t, "-price", "10,1,100")
		s.ask(t, conversation{session: "a", stream: stream}, carryontest.Text(plan), edit().Usage(100000, 1000))
		finished := `{"todos":[{"id":"1","content":"Write the parser","status":"completed"}]}`
		s.ask(t, conversation{session: "a", call: "c1", todos: finished, stream: stream}, carryontest.Text("Done."))
		got := s.report(t).Worth
		assert.Equal(t, middleware.Worth{Resumed: 1, Finished: 1, Tokens: middleware.Tokens{Input: 100000, Output: 1000}}, got.Worth)
		require.NotNil(t, got.Money)
		assert.InDelta(t, 1.1, *got.Money, 1e-9)
		assert.Equal(t, "resumed 1 stall; 1 todo was finished after that, for 101,000 tokens ($1.10)", got.String())
		assert.Contains(t, s.logs.String(), `msg="carryon: worth"`)
	})
}

func TestPageSaysWhatADryRunWouldHaveSent(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, stream bool) {
		s := newScene(t, "-dry-run")
		s.ask(t, conversation{session: "a", stream: stream}, carryontest.Text(plan).Usage(100, 10))
		got := s.report(t).Worth
		assert.Equal(t, 1, got.Unsent)
		assert.Equal(t, 10, got.Estimate.Output)
		assert.Greater(t, got.Estimate.Input, 110)
		assert.Nil(t, got.Money)
		assert.Zero(t, got.Tokens)
	})
}
