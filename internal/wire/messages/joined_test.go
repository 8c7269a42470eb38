package messages_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/middleware"
)

func TestTurnsAreJoined(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		turns  []fakellm.Turn
		shown  []string
		reason string
		usage  string
	}{
		"text": {
			[]fakellm.Turn{fakellm.Text(wiretest.Plan), fakellm.Text("Done with it.")},
			[]string{wiretest.Plan, "\n\nDone with it."},
			"end_turn", `{"input_tokens":10,"output_tokens":10}`,
		},
		"a call": {
			[]fakellm.Turn{fakellm.Text(wiretest.Plan), wiretest.Edit()},
			[]string{wiretest.Plan, `edit_file{"path":"parser.go"}`},
			"tool_use", `{"input_tokens":10,"output_tokens":10}`,
		},
		"text and calls": {
			[]fakellm.Turn{fakellm.Text(wiretest.Plan), fakellm.Text("Now.").AndCall("edit_file", `{"a":1}`).AndCall("edit_file", `{"b":2}`).Usage(30, 7)},
			[]string{wiretest.Plan, "\n\nNow.", `edit_file{"a":1}`, `edit_file{"b":2}`},
			"tool_use", `{"input_tokens":10,"output_tokens":12}`,
		},
		"three turns": {
			[]fakellm.Turn{fakellm.Text(wiretest.Plan), fakellm.Text("Then I test."), wiretest.Edit()},
			[]string{wiretest.Plan, "\n\nThen I test.", `edit_file{"path":"parser.go"}`},
			"tool_use", `{"input_tokens":10,"output_tokens":15}`,
		},
		"a line break before": {
			[]fakellm.Turn{fakellm.Text(wiretest.Plan + "\n"), fakellm.Text("Done.")},
			[]string{wiretest.Plan + "\n", "\nDone."},
			"end_turn", `{"input_tokens":10,"output_tokens":10}`,
		},
		"a pause": {
			[]fakellm.Turn{fakellm.Text(wiretest.Plan), fakellm.Text("Stuck.").AndCall("todo_pause", `{"reason":"`+wiretest.Blocked+`"}`)},
			[]string{wiretest.Plan, "\n\nStuck.", "\n\nTask paused: " + wiretest.Blocked},
			"end_turn", `{"input_tokens":10,"output_tokens":10}`,
		},
		"a pause alone": {
			[]fakellm.Turn{fakellm.Text(wiretest.Plan), fakellm.Pause(wiretest.Blocked)},
			[]string{wiretest.Plan, "\n\nTask paused: " + wiretest.Blocked},
			"end_turn", `{"input_tokens":10,"output_tokens":10}`,
		},
		"a pause and a call": {
			[]fakellm.Turn{fakellm.Text(wiretest.Plan), fakellm.Pause(wiretest.Blocked).AndCall("edit_file", `{}`)},
			[]string{wiretest.Plan, `edit_file{}`, "\n\nTask paused: " + wiretest.Blocked},
			"tool_use", `{"input_tokens":10,"output_tokens":10}`,
		},
		"a printed pause": {
			[]fakellm.Turn{fakellm.Text(wiretest.Plan), fakellm.Text("Stuck. todo_pause('" + wiretest.Blocked + "')")},
			[]string{wiretest.Plan, "\n\nStuck. ", "\n\nTask paused: " + wiretest.Blocked},
			"end_turn", `{"input_tokens":10,"output_tokens":10}`,
		},
		"nothing but a printed pause": {
			[]fakellm.Turn{fakellm.Text(wiretest.Plan), fakellm.Text("todo_pause('" + wiretest.Blocked + "')")},
			[]string{wiretest.Plan, "\n\nTask paused: " + wiretest.Blocked},
			"end_turn", `{"input_tokens":10,"output_tokens":10}`,
		},
		"a rejected pause": {
			[]fakellm.Turn{fakellm.Text(wiretest.Plan), fakellm.Text("Hm.").AndCall("todo_pause", `{"reason":"stuck"}`), wiretest.Edit()},
			[]string{wiretest.Plan, "\n\nHm.", `edit_file{"path":"parser.go"}`},
			"tool_use", `{"input_tokens":10,"output_tokens":15}`,
		},
		"what looks like a printed pause": {
			[]fakellm.Turn{fakellm.Text(wiretest.Plan), fakellm.Pieces("I call todo_", "pause later.")},
			[]string{wiretest.Plan, "\n\nI call todo_pause later."},
			"end_turn", `{"input_tokens":10,"output_tokens":10}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ask{turns: test.turns}.both(t, func(t *testing.T, got answer) {
				t.Helper()
				require.NoError(t, got.err)
				require.Len(t, got.requests, len(test.turns))
				assert.Equal(t, "msg_1", got.message.ID)
				assert.Equal(t, test.shown, got.message.shown())
				assert.Equal(t, test.reason, got.message.StopReason)
				assert.JSONEq(t, test.usage, string(got.message.Usage))
				assert.NotContains(t, got.raw, "todo_pause\"")
			})
		})
	}
}

// A budget holds whatever counts a provider reports.
func TestCountsBeyondAnyBudget(t *testing.T) {
	t.Parallel()
	budget := middleware.WithLimits(continuation.Limits{TokenBudget: 1_000_000, MaxAttempts: 3, MinInterval: continuation.Off})
	for _, usage := range []string{
		`{"input_tokens":9223372036854775807,"cache_read_input_tokens":9223372036854775807,"output_tokens":2}`, `{"input_tokens":3,"output_tokens":1e30}`,
	} {
		ask{options: []middleware.Option{budget}, turns: []fakellm.Turn{fakellm.Text(wiretest.Plan), fakellm.Text("Soon.").UsageJSON(usage)}}.both(t, func(t *testing.T, got answer) {
			t.Helper()
			assert.Equal(t, reasons.TokenBudget, got.outcome.Reason, got.outcome.Reason.String())
			assert.Len(t, got.requests, 2)
		})
	}
}
