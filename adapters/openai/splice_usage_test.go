package openai_test

import (
	"testing"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/middleware"
)

func TestSpliceOfUsage(t *testing.T) {
	t.Parallel()
	one, two := draft.Usage(100, 10), carryontest.Text("Done.").Usage(120, 20)
	text := `"\n\nDone."`
	own := lines(draftShown, []string{text, "finish stop", "usage 220/30/250 alone"})
	onFinish := lines(draftShown, []string{text, "finish stop usage 220/30/250"})
	firstOnly := lines(draftShown, []string{text, "finish stop", "usage 100/10/110 alone"})
	secondOnly := lines(draftShown, []string{text, "finish stop", "usage 120/20/140 alone"})
	early := carryontest.Chunks(says(`{"content":"Done."}`), rawChunk("", tokens(120, 20)), ends(`{}`, "stop"))
	earlyOnText := carryontest.Chunks(
		rawChunk(`{"index":0,"delta":{"content":"Done."},"finish_reason":null}`, tokens(120, 20)), ends(`{}`, "stop"))
	runSpliceCases(t, []spliceCase{
		{name: "in a chunk of its own", turns: pair(one, two), want: own},
		{name: "on the finish", turns: pair(one.UsageOnFinish(), two.UsageOnFinish()), want: onFinish},
		{name: "on the finish, then alone", turns: pair(one.UsageOnFinish(), two), want: own},
		{name: "alone, then on the finish", turns: pair(one, two.UsageOnFinish()), want: onFinish},
		{name: "on the finish and alone", turns: pair(one.UsageTwice(), two.UsageTwice()), want: own},
		{
			name: "on a second finish", want: own,
			turns: pair(one.FinishTwice().UsageOnFinish(), two.FinishTwice().UsageOnFinish()),
		},
		{
			name:  "on a chunk without finish, after it",
			turns: pair(one.NullFinishLast().UsageOnFinish(), two.NullFinishLast().UsageOnFinish()),
			want:  own,
		},
		{
			name:  "on every chunk",
			turns: pair(one.UsageEveryChunk(), two.UsageEveryChunk()),
			want: []string{
				"role usage 100/3/103", `"Plan." usage 100/6/106`, text, "finish stop usage 220/30/250",
			},
		},
		{
			name:  "on every chunk of the first turn, none in the second",
			turns: pair(one.UsageEveryChunk(), two.NoUsage()),
			want: []string{
				"role usage 100/3/103", `"Plan." usage 100/6/106`, text, "finish stop", "usage 100/10/110 alone",
			},
		},
		{name: "on every chunk of the second turn", turns: pair(one.NoUsage(), two.UsageEveryChunk()), want: lines(draftShown,
			[]string{text, "finish stop usage 120/20/140"})},
		{name: "in the first turn only", turns: pair(one, two.NoUsage()), want: firstOnly},
		{name: "in the first turn only, on the finish", turns: pair(one.UsageOnFinish(), two.NoUsage()), want: firstOnly},
		{name: "in the first turn only, with text", turns: pair(one.OneChunk(), two.NoUsage()), want: lines(
			[]string{`role "Plan."`}, firstOnly[2:])},
		{name: "in the second turn only", turns: pair(one.NoUsage(), two), want: secondOnly},
		{
			name: "in neither turn", turns: pair(one.NoUsage(), two.NoUsage()),
			want: lines(draftShown, []string{text, "finish stop"}),
		},
		{name: "before the finish", turns: pair(one, early), want: own},
		{name: "before the finish, of the second turn only", turns: pair(one.NoUsage(), early), want: secondOnly},
		{name: "on text, of the second turn only", turns: pair(one.NoUsage(), earlyOnText), want: secondOnly},
		{
			name:  "before the finish of the first turn",
			turns: pair(carryontest.Chunks(says(`{"role":"assistant","content":"Plan."}`), rawChunk("", tokens(100, 10)), ends(`{}`, "stop")), two),
			want:  []string{`role "Plan."`, "usage 100/10/110 alone", text, "finish stop", "usage 220/30/250 alone"},
		},
		{
			name:  "of the middle turn only",
			turns: []carryontest.Turn{one.NoUsage(), two, carryontest.Text("Last.").NoUsage()},
			want:  lines(draftShown, []string{text, `"\n\nLast."`, "finish stop", "usage 120/20/140 alone"}),
		},
		{
			name:  "of three turns",
			turns: []carryontest.Turn{one, two.UsageOnFinish(), carryontest.Text("Last.").Usage(1, 2).UsageTwice()},
			want:  lines(draftShown, []string{text, `"\n\nLast."`, "finish stop", "usage 221/32/253 alone"}),
		},
		{
			name: "totals are summed as they are", want: lines(draftShown, []string{text, "finish stop", "usage 4/6/1100 alone"}),
			turns: pair(
				one.UsageJSON(`{"prompt_tokens":1,"completion_tokens":2,"total_tokens":100}`),
				two.UsageJSON(`{"prompt_tokens":3,"completion_tokens":4,"total_tokens":1000}`)),
		},
		{
			name: "with a call", want: lines(draftShown, []string{
				"[0 a function edit_file {}]", "finish tool_calls", "usage 220/30/250 alone",
			}),
			turns: pair(one, carryontest.Call("edit_file", `{}`).ID("a").WholeCalls().Usage(120, 20)),
		},
		{
			name: "with a pause", want: lines(draftShown, []string{noticeShown, "finish stop", "usage 220/30/250 alone"}),
			turns: pair(one, carryontest.Pause(goodReason).Usage(120, 20)),
		},
	})
}

func TestUsageOfTheLastTurn(t *testing.T) {
	t.Parallel()
	last := []middleware.Option{middleware.WithUsage(middleware.LastTurn)}
	one, two := draft.Usage(100, 10), carryontest.Text("Done.").Usage(120, 20)
	text := `"\n\nDone."`
	runSpliceCases(t, []spliceCase{
		{
			name: "in a chunk of its own", turns: pair(one, two), options: last,
			want: lines(draftShown, []string{text, "finish stop", "usage 120/20/140 alone"}),
		},
		{
			name: "on the finish", turns: pair(one, two.UsageOnFinish()), options: last,
			want: lines(draftShown, []string{text, "finish stop usage 120/20/140"}),
		},
		{
			name: "in the first turn only", turns: pair(one, two.NoUsage()), options: last,
			want: lines(draftShown, []string{text, "finish stop", "usage 100/10/110 alone"}),
		},
		{
			name: "in neither turn", turns: pair(one.NoUsage(), two.NoUsage()), options: last,
			want: lines(draftShown, []string{text, "finish stop"}),
		},
	})
}

func TestUsageDetailsAreSummed(t *testing.T) {
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
		PromptTokensDetails: &openai.PromptTokensDetails{AudioTokens: 2, CachedTokens: 4},
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
		"of the second turn only": {short, full, one},
		"of neither turn":         {short, short, &openai.Usage{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, m := range allModes {
				server := carryontest.NewServer(t, draft.UsageJSON(c.first), done().UsageJSON(c.second))
				got := m.call(t.Context(), m.clientOn(server, middleware.New(twoTodos, atMost(1))), ask())
				require.NoError(t, got.Err, m.name)
				require.NotNil(t, got.Usage, m.name)
				assert.Equal(t, c.want.PromptTokensDetails, got.Usage.PromptTokensDetails, m.name)
				assert.Equal(t, c.want.CompletionTokensDetails, got.Usage.CompletionTokensDetails, m.name)
			}
		})
	}
}

func TestUsageThatNobodyAskedForStays(t *testing.T) {
	t.Parallel()
	inModes(t, streamModes, func(t *testing.T, m mode) {
		server := carryontest.NewServer(t, draft, done().UsageOnFinish())
		s, err := open(t.Context(), m.clientOn(server, middleware.New(twoTodos, atMost(1))), ask())
		require.NoError(t, err)
		got, err := readAll(s)
		require.NoError(t, err)
		assert.Equal(t, lines(draftShown, []string{`"\n\nDone."`, "finish stop usage 10/5/15"}), showAll(got))
	})
}

func TestUsageIsNotInventedWhereItWasNotAskedFor(t *testing.T) {
	t.Parallel()
	inModes(t, streamModes, func(t *testing.T, m mode) {
		server := carryontest.NewServer(t, draft, done())
		s, err := open(t.Context(), m.clientOn(server, middleware.New(twoTodos, atMost(1))), ask())
		require.NoError(t, err)
		got, err := readAll(s)
		require.NoError(t, err)
		assert.Equal(t, lines(draftShown, []string{`"\n\nDone."`, "finish stop"}), showAll(got))
		for _, request := range server.Requests() {
			assert.False(t, request.IncludeUsage)
		}
	})
}

func TestUsagePerTurnStandsInTheOutcome(t *testing.T) {
	t.Parallel()
	inModes(t, streamModes, func(t *testing.T, m mode) {
		got := joinOn(t.Context(), m, []carryontest.Turn{
			draft.Usage(100, 10).UsageEveryChunk(), done().Usage(120, 20).UsageTwice(), carryontest.Text("Last.").NoUsage(),
		})
		require.NoError(t, got.Err)
		assert.Equal(t, []middleware.Usage{
			{Prompt: 100, Completion: 10, Total: 110}, {Prompt: 120, Completion: 20, Total: 140}, {},
		}, got.Outcome.Usage)
	})
}
