package messages_test

import (
	"slices"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
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
		"nothing to continue": {[]fakellm.Turn{wiretest.Edit()}, []string{`edit_file{"path":"parser.go"}`}, "tool_use"},
		"text":                {[]fakellm.Turn{fakellm.Text(wiretest.Plan), fakellm.Text("Done.")}, []string{wiretest.Plan, "\n\nDone."}, "end_turn"},
		"calls": {
			[]fakellm.Turn{fakellm.Text(wiretest.Plan), fakellm.Text("Now.").AndCall("edit_file", `{"path":"a"}`).AndCall("edit_file", `{"path":"b"}`)},
			[]string{wiretest.Plan, "\n\nNow.", `edit_file{"path":"a"}`, `edit_file{"path":"b"}`},
			"tool_use",
		},
		"thinking": {
			[]fakellm.Turn{fakellm.Text(wiretest.Plan).Reasoning("Hm. "), wiretest.Edit().Reasoning("So. ")},
			[]string{"(Hm. )", wiretest.Plan, `edit_file{"path":"parser.go"}`},
			"tool_use",
		},
		"a pause":               {[]fakellm.Turn{fakellm.Text(wiretest.Plan), fakellm.Pause(wiretest.Blocked)}, []string{wiretest.Plan, "\n\nTask paused: " + wiretest.Blocked}, "end_turn"},
		"a rejected pause":      {[]fakellm.Turn{fakellm.Text(wiretest.Plan), fakellm.Pause("stuck"), wiretest.Edit()}, []string{wiretest.Plan, `edit_file{"path":"parser.go"}`}, "tool_use"},
		"a refusal":             {slices.Concat([]fakellm.Turn{fakellm.Text(wiretest.Plan)}, slices.Repeat([]fakellm.Turn{fakellm.Text("").Finish("refusal")}, 3)), []string{wiretest.Plan}, "end_turn"},
		"a failed one":          {slices.Concat([]fakellm.Turn{fakellm.Text(wiretest.Plan)}, slices.Repeat([]fakellm.Turn{fakellm.Status(529, `{"type":"error","error":{"type":"overloaded_error","message":"Later."}}`)}, 3)), []string{wiretest.Plan}, "end_turn"},
		"what servers vary":     {[]fakellm.Turn{fakellm.Text(wiretest.Plan).With(fakellm.Padded, fakellm.Pings), wiretest.Edit().With(fakellm.Gaps, fakellm.LateUsage)}, []string{wiretest.Plan, `edit_file{"path":"parser.go"}`}, "tool_use"},
		"thinking that is open": {[]fakellm.Turn{fakellm.Text(wiretest.Plan), wiretest.Edit().Reasoning("So. ").With(fakellm.Unsigned, fakellm.OpenThinking)}, []string{wiretest.Plan, "(So. )", `edit_file{"path":"parser.go"}`}, "tool_use"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) {
				server := fakellm.NewServer(t, test.turns...)
				m, err := ask(t.Context(), through(server, attempts(max(1, len(test.turns)-1))), params(), w.Stream)
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
	wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) {
		server := fakellm.NewServer(t, fakellm.Text(wiretest.Plan).Usage(100, 20), wiretest.Edit().Usage(140, 30))
		m, err := ask(t.Context(), through(server, attempts(1)), params(), w.Stream)
		require.NoError(t, err)
		assert.Equal(t, [2]int64{100, 50}, usageOf(m))
	})
}

// The program gets an error for half a call, whatever it has accumulated.
func TestOfficialSDKSeesThatACallWasCut(t *testing.T) {
	t.Parallel()
	for name, broken := range map[string]fakellm.Turn{
		"cut": wiretest.Edit().CutAfter(4), "ended": wiretest.Edit().EndAfter(4), "reported": wiretest.Edit().ErrorAfter(4, "overloaded"),
	} {
		server := fakellm.NewServer(t, fakellm.Text(wiretest.Plan), broken)
		_, err := ask(t.Context(), through(server, attempts(1)), params(), true)
		require.Error(t, err, name)
	}
}

// A tool loop as programs write it: the answers go into the history unchanged, with the results of their calls.
func TestOfficialSDKInALoop(t *testing.T) {
	t.Parallel()
	wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) {
		server := fakellm.NewServer(t,
			wiretest.Edit(),
			fakellm.Text("The parser is next."), wiretest.Edit(),
			fakellm.Text("Nearly done."), fakellm.Pause(wiretest.Blocked))
		c := through(server, attempts(1))
		ctx, outcomes := middleware.Capture(continuation.WithSession(t.Context(), "loop"))
		var history []sdk.MessageParam
		last := ""
		for calls := true; calls; {
			m, err := ask(ctx, c, params(history...), w.Stream)
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
		assert.Equal(t, "\n\nTask paused: "+wiretest.Blocked, last)
		assert.Len(t, outcomes.All(), 3)
		assert.Equal(t, reasons.Paused, outcomes.Last().Reason)
	})
}
