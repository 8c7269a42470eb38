package messages_test

import (
	"slices"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/middleware"
)

// The official SDK reads the joined answer over HTTP, accumulated from a stream and as a whole answer.
func TestOfficialSDKReadsJoinedAnswers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		turns  []fakellm.Turn
		shown  []string
		reason sdk.StopReason
	}{
		"nothing to continue": {[]fakellm.Turn{edit()}, []string{`edit_file{"path":"parser.go"}`}, "tool_use"},
		"text":                {[]fakellm.Turn{fakellm.Text(plan), fakellm.Text("Done.")}, []string{plan, "\n\nDone."}, "end_turn"},
		"calls": {
			[]fakellm.Turn{fakellm.Text(plan), fakellm.Text("Now.").AndCall("edit_file", `{"path":"a"}`).AndCall("edit_file", `{"path":"b"}`)},
			[]string{plan, "\n\nNow.", `edit_file{"path":"a"}`, `edit_file{"path":"b"}`},
			"tool_use",
		},
		"thinking": {
			[]fakellm.Turn{fakellm.Text(plan).Reasoning("Hm. "), edit().Reasoning("So. ")},
			[]string{"(Hm. )", plan, `edit_file{"path":"parser.go"}`},
			"tool_use",
		},
		"a pause":               {[]fakellm.Turn{fakellm.Text(plan), fakellm.Pause(blocked)}, []string{plan, "\n\nTask paused: " + blocked}, "end_turn"},
		"a rejected pause":      {[]fakellm.Turn{fakellm.Text(plan), fakellm.Pause("stuck"), edit()}, []string{plan, `edit_file{"path":"parser.go"}`}, "tool_use"},
		"a refusal":             {slices.Concat([]fakellm.Turn{fakellm.Text(plan)}, slices.Repeat([]fakellm.Turn{fakellm.Text("").Finish("refusal")}, 3)), []string{plan}, "end_turn"},
		"a failed one":          {slices.Concat([]fakellm.Turn{fakellm.Text(plan)}, slices.Repeat([]fakellm.Turn{fakellm.Status(529, `{"type":"error","error":{"type":"overloaded_error","message":"Later."}}`)}, 3)), []string{plan}, "end_turn"},
		"what servers vary":     {[]fakellm.Turn{fakellm.Text(plan).With(fakellm.Padded, fakellm.Pings), edit().With(fakellm.Gaps, fakellm.LateUsage)}, []string{plan, `edit_file{"path":"parser.go"}`}, "tool_use"},
		"thinking that is open": {[]fakellm.Turn{fakellm.Text(plan), edit().Reasoning("So. ").With(fakellm.Unsigned, fakellm.OpenThinking)}, []string{plan, "(So. )", `edit_file{"path":"parser.go"}`}, "tool_use"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBothWays(t, func(t *testing.T, stream bool) {
				server := fakellm.NewServer(t, test.turns...)
				m, err := ask(t.Context(), through(server, attempts(max(1, len(test.turns)-1))), params(), stream)
				require.NoError(t, err)
				assert.Equal(t, "msg_1", m.ID)
				assert.Equal(t, test.shown, shown(m))
				assert.Equal(t, test.reason, m.StopReason)
				requireAccepted(t, m)
			})
		})
	}
}

func TestOfficialSDKReadsUsageAsOfOneAnswer(t *testing.T) {
	t.Parallel()
	inBothWays(t, func(t *testing.T, stream bool) {
		server := fakellm.NewServer(t, fakellm.Text(plan).Usage(100, 20), edit().Usage(140, 30))
		m, err := ask(t.Context(), through(server, attempts(1)), params(), stream)
		require.NoError(t, err)
		assert.Equal(t, [2]int64{100, 50}, usageOf(m))
	})
}

// The program gets an error for half a call, whatever it has accumulated.
func TestOfficialSDKSeesThatACallWasCut(t *testing.T) {
	t.Parallel()
	for name, broken := range map[string]fakellm.Turn{
		"cut": edit().CutAfter(4), "ended": edit().EndAfter(4), "reported": edit().ErrorAfter(4, "overloaded"),
	} {
		server := fakellm.NewServer(t, fakellm.Text(plan), broken)
		_, err := ask(t.Context(), through(server, attempts(1)), params(), true)
		require.Error(t, err, name)
	}
}

// A tool loop as programs write it: the answers go into the history unchanged, with the results of their calls.
func TestOfficialSDKInALoop(t *testing.T) {
	t.Parallel()
	inBothWays(t, func(t *testing.T, stream bool) {
		server := fakellm.NewServer(t,
			edit(),
			fakellm.Text("The parser is next."), edit(),
			fakellm.Text("Nearly done."), fakellm.Pause(blocked))
		c := through(server, attempts(1))
		ctx, outcomes := middleware.Capture(continuation.WithSession(t.Context(), "loop"))
		var history []sdk.MessageParam
		last := ""
		for calls := true; calls; {
			m, err := ask(ctx, c, params(history...), stream)
			require.NoError(t, err)
			history = append(history, m.ToParam())
			var results []sdk.ContentBlockParamUnion
			for _, b := range m.Content {
				last = b.Text
				if b.Type == "tool_use" {
					results = append(results, sdk.NewToolResultBlock(b.ID, "done", false))
				}
			}
			calls = len(results) > 0
			if calls {
				history = append(history, sdk.NewUserMessage(results...))
			}
		}
		assert.Equal(t, "\n\nTask paused: "+blocked, last)
		assert.Len(t, outcomes.All(), 3)
		assert.Equal(t, continuation.ReasonPaused, outcomes.Last().Reason)
	})
}
