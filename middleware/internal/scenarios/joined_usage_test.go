package scenarios_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/scenario"
	"github.com/carryon-go/carryon/middleware"
)

func TestJoinedStreamOfUsage(t *testing.T) {
	t.Parallel()
	one, two := draft.Usage(100, 10), fakellm.Text("Done.").Usage(120, 20)
	text := `"\n\nDone."`
	own := concat(draftShown, []string{text, "finish stop", "usage 100/30/130 alone"})
	onFinish := concat(draftShown, []string{text, "finish stop usage 100/30/130"})
	firstOnly := concat(draftShown, []string{text, "finish stop", "usage 100/10/110 alone"})
	secondOnly := concat(draftShown, []string{text, "finish stop", "usage 120/20/140 alone"})
	early := fakellm.Chunks(deltaChunk(`{"content":"Done."}`), rawChunk("", tokens(120, 20)), finishChunk(`{}`, "stop"))
	earlyOnText := fakellm.Chunks(
		rawChunk(`{"index":0,"delta":{"content":"Done."},"finish_reason":null}`, tokens(120, 20)), finishChunk(`{}`, "stop"))
	runJoinCases(t, []joinCase{
		{name: "in a chunk of its own", turns: pair(one, two), want: own},
		{name: "on the finish", turns: pair(one.With(fakellm.UsageOnFinish), two.With(fakellm.UsageOnFinish)), want: onFinish},
		{name: "on the finish, then alone", turns: pair(one.With(fakellm.UsageOnFinish), two), want: own},
		{name: "alone, then on the finish", turns: pair(one, two.With(fakellm.UsageOnFinish)), want: onFinish},
		{name: "on the finish and alone", turns: pair(one.With(fakellm.UsageTwice), two.With(fakellm.UsageTwice)), want: own},
		{
			name: "on a second finish", want: own,
			turns: pair(one.With(fakellm.FinishTwice, fakellm.UsageOnFinish), two.With(fakellm.FinishTwice, fakellm.UsageOnFinish)),
		},
		{
			name: "on a chunk without finish, after it",
			turns: pair(one.With(fakellm.NullFinishLast, fakellm.UsageOnFinish),
				two.With(fakellm.NullFinishLast, fakellm.UsageOnFinish)),
			want: own,
		},
		{
			name:  "on every chunk",
			turns: pair(one.With(fakellm.UsageEveryChunk), two.With(fakellm.UsageEveryChunk)),
			want: []string{
				"role usage 100/3/103", `"Plan." usage 100/6/106`, text, "finish stop usage 100/30/130",
			},
		},
		{
			name:  "on every chunk of the first turn, none in the second",
			turns: pair(one.With(fakellm.UsageEveryChunk), two.NoUsage()),
			want: []string{
				"role usage 100/3/103", `"Plan." usage 100/6/106`, text, "finish stop", "usage 100/10/110 alone",
			},
		},
		{name: "on every chunk of the second turn", turns: pair(one.NoUsage(), two.With(fakellm.UsageEveryChunk)), want: concat(draftShown,
			[]string{text, "finish stop usage 120/20/140"})},
		{name: "in the first turn only", turns: pair(one, two.NoUsage()), want: firstOnly},
		{name: "in the first turn only, on the finish", turns: pair(one.With(fakellm.UsageOnFinish), two.NoUsage()), want: firstOnly},
		{name: "in the first turn only, with text", turns: pair(one.With(fakellm.OneChunk), two.NoUsage()), want: concat(
			[]string{`role "Plan."`}, firstOnly[2:])},
		{name: "in the second turn only", turns: pair(one.NoUsage(), two), want: secondOnly},
		{
			name: "in neither turn", turns: pair(one.NoUsage(), two.NoUsage()),
			want: concat(draftShown, []string{text, "finish stop"}),
		},
		{name: "before the finish", turns: pair(one, early), want: own},
		{name: "before the finish, of the second turn only", turns: pair(one.NoUsage(), early), want: secondOnly},
		{name: "on text, of the second turn only", turns: pair(one.NoUsage(), earlyOnText), want: secondOnly},
		{
			name: "before the finish of the first turn",
			turns: pair(fakellm.Chunks(deltaChunk(`{"role":"assistant","content":"Plan."}`),
				rawChunk("", tokens(100, 10)), finishChunk(`{}`, "stop")), two),
			want: []string{`role "Plan."`, "usage 100/10/110 alone", text, "finish stop", "usage 100/30/130 alone"},
		},
		{
			name:  "of the middle turn only",
			turns: []fakellm.Turn{one.NoUsage(), two, fakellm.Text("Last:").NoUsage()},
			want:  concat(draftShown, []string{text, `"\n\nLast:"`, "finish stop", "usage 120/20/140 alone"}),
		},
		{
			name:  "of three turns",
			turns: []fakellm.Turn{one, two.With(fakellm.UsageOnFinish), fakellm.Text("Last:").Usage(1, 2).With(fakellm.UsageTwice)},
			want:  concat(draftShown, []string{text, `"\n\nLast:"`, "finish stop", "usage 100/32/132 alone"}),
		},
		{
			name: "totals grow by what is not the prompt", want: concat(draftShown, []string{text, "finish stop", "usage 1/6/1097 alone"}),
			turns: pair(
				one.UsageJSON(`{"prompt_tokens":1,"completion_tokens":2,"total_tokens":100}`),
				two.UsageJSON(`{"prompt_tokens":3,"completion_tokens":4,"total_tokens":1000}`)),
		},
		{
			name: "with a call", want: concat(draftShown, []string{
				"[0 a function edit_file {}]", "finish tool_calls", "usage 100/30/130 alone",
			}),
			turns: pair(one, fakellm.Call("edit_file", `{}`).ID("a").With(fakellm.WholeCalls).Usage(120, 20)),
		},
		{
			name: "with a pause", want: concat(draftShown, []string{noticeShown, "finish stop", "usage 100/30/130 alone"}),
			turns: pair(one, fakellm.Pause(scenario.Blocked).Usage(120, 20)),
		},
	})
}

func TestUsageThatWasPaid(t *testing.T) {
	t.Parallel()
	sum := []middleware.Option{middleware.WithUsage(middleware.UsageSum)}
	one, two := draft.Usage(100, 10), fakellm.Text("Done.").Usage(120, 20)
	text := `"\n\nDone."`
	runJoinCases(t, []joinCase{
		{
			name: "in a chunk of its own", turns: pair(one, two), options: sum,
			want: concat(draftShown, []string{text, "finish stop", "usage 220/30/250 alone"}),
		},
		{
			name: "on the finish", turns: pair(one, two.With(fakellm.UsageOnFinish)), options: sum,
			want: concat(draftShown, []string{text, "finish stop usage 220/30/250"}),
		},
		{
			name: "in the second turn only", turns: pair(one.NoUsage(), two), options: sum,
			want: concat(draftShown, []string{text, "finish stop", "usage 120/20/140 alone"}),
		},
	})
}

func TestUsageOfTheLastTurn(t *testing.T) {
	t.Parallel()
	last := []middleware.Option{middleware.WithUsage(middleware.UsageLastTurn)}
	one, two := draft.Usage(100, 10), fakellm.Text("Done.").Usage(120, 20)
	text := `"\n\nDone."`
	runJoinCases(t, []joinCase{
		{
			name: "in a chunk of its own", turns: pair(one, two), options: last,
			want: concat(draftShown, []string{text, "finish stop", "usage 120/20/140 alone"}),
		},
		{
			name: "on the finish", turns: pair(one, two.With(fakellm.UsageOnFinish)), options: last,
			want: concat(draftShown, []string{text, "finish stop usage 120/20/140"}),
		},
		{
			name: "in the first turn only", turns: pair(one, two.NoUsage()), options: last,
			want: concat(draftShown, []string{text, "finish stop", "usage 100/10/110 alone"}),
		},
		{
			name: "in neither turn", turns: pair(one.NoUsage(), two.NoUsage()), options: last,
			want: concat(draftShown, []string{text, "finish stop"}),
		},
	})
}

func TestUsageThatNobodyAskedForStays(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.StreamModes(), func(t *testing.T, m scenario.Mode) {
		server := fakellm.NewServer(t, draft, done().With(fakellm.UsageOnFinish))
		mw := middleware.New(scenario.TwoTodos(), scenario.AtMost(1))
		s, err := scenario.Open(t.Context(), m.HTTPClient(server, mw), scenario.Request())
		require.NoError(t, err)
		got, err := scenario.ReadAll(s)
		require.NoError(t, err)
		assert.Equal(t, concat(draftShown, []string{`"\n\nDone."`, "finish stop usage 10/5/15"}), showAll(got))
	})
}

func TestUsageIsNotInventedWhereItWasNotAskedFor(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.StreamModes(), func(t *testing.T, m scenario.Mode) {
		server := fakellm.NewServer(t, draft, done())
		mw := middleware.New(scenario.TwoTodos(), scenario.AtMost(1))
		s, err := scenario.Open(t.Context(), m.HTTPClient(server, mw), scenario.Request())
		require.NoError(t, err)
		got, err := scenario.ReadAll(s)
		require.NoError(t, err)
		assert.Equal(t, concat(draftShown, []string{`"\n\nDone."`, "finish stop"}), showAll(got))
		for _, request := range server.Requests() {
			assert.False(t, request.IncludeUsage)
		}
	})
}

func TestUsagePerTurnStandsInTheOutcome(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.StreamModes(), func(t *testing.T, m scenario.Mode) {
		got := joinOn(t.Context(), m, []fakellm.Turn{
			draft.Usage(100, 10).With(fakellm.UsageEveryChunk), done().Usage(120, 20).With(fakellm.UsageTwice),
			fakellm.Text("Last:").NoUsage(),
		})
		require.NoError(t, got.Err)
		assert.Equal(t, []adapter.Usage{
			{Prompt: 100, Completion: 10, Total: 110}, {Prompt: 120, Completion: 20, Total: 140}, {},
		}, got.Outcome.Usage)
	})
}
