package messages_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
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
			[]fakellm.Turn{fakellm.Text(plan), fakellm.Text("Done with it.")},
			[]string{plan, "\n\nDone with it."},
			"end_turn", `{"input_tokens":10,"output_tokens":10}`,
		},
		"a call": {
			[]fakellm.Turn{fakellm.Text(plan), edit()},
			[]string{plan, `edit_file{"path":"parser.go"}`},
			"tool_use", `{"input_tokens":10,"output_tokens":10}`,
		},
		"text and calls": {
			[]fakellm.Turn{fakellm.Text(plan), fakellm.Text("Now.").AndCall("edit_file", `{"a":1}`).AndCall("edit_file", `{"b":2}`).Usage(30, 7)},
			[]string{plan, "\n\nNow.", `edit_file{"a":1}`, `edit_file{"b":2}`},
			"tool_use", `{"input_tokens":10,"output_tokens":12}`,
		},
		"three turns": {
			[]fakellm.Turn{fakellm.Text(plan), fakellm.Text("Then I test."), edit()},
			[]string{plan, "\n\nThen I test.", `edit_file{"path":"parser.go"}`},
			"tool_use", `{"input_tokens":10,"output_tokens":15}`,
		},
		"a line break before": {
			[]fakellm.Turn{fakellm.Text(plan + "\n"), fakellm.Text("Done.")},
			[]string{plan + "\n", "\nDone."},
			"end_turn", `{"input_tokens":10,"output_tokens":10}`,
		},
		"a pause": {
			[]fakellm.Turn{fakellm.Text(plan), fakellm.Text("Stuck.").AndCall("todo_pause", `{"reason":"`+blocked+`"}`)},
			[]string{plan, "\n\nStuck.", "\n\nTask paused: " + blocked},
			"end_turn", `{"input_tokens":10,"output_tokens":10}`,
		},
		"a pause alone": {
			[]fakellm.Turn{fakellm.Text(plan), fakellm.Pause(blocked)},
			[]string{plan, "\n\nTask paused: " + blocked},
			"end_turn", `{"input_tokens":10,"output_tokens":10}`,
		},
		"a pause and a call": {
			[]fakellm.Turn{fakellm.Text(plan), fakellm.Pause(blocked).AndCall("edit_file", `{}`)},
			[]string{plan, `edit_file{}`, "\n\nTask paused: " + blocked},
			"tool_use", `{"input_tokens":10,"output_tokens":10}`,
		},
		"a printed pause": {
			[]fakellm.Turn{fakellm.Text(plan), fakellm.Text("Stuck. todo_pause('" + blocked + "')")},
			[]string{plan, "\n\nStuck. ", "\n\nTask paused: " + blocked},
			"end_turn", `{"input_tokens":10,"output_tokens":10}`,
		},
		"nothing but a printed pause": {
			[]fakellm.Turn{fakellm.Text(plan), fakellm.Text("todo_pause('" + blocked + "')")},
			[]string{plan, "\n\nTask paused: " + blocked},
			"end_turn", `{"input_tokens":10,"output_tokens":10}`,
		},
		"a rejected pause": {
			[]fakellm.Turn{fakellm.Text(plan), fakellm.Text("Hm.").AndCall("todo_pause", `{"reason":"stuck"}`), edit()},
			[]string{plan, "\n\nHm.", `edit_file{"path":"parser.go"}`},
			"tool_use", `{"input_tokens":10,"output_tokens":15}`,
		},
		"what looks like a printed pause": {
			[]fakellm.Turn{fakellm.Text(plan), fakellm.Pieces("I call todo_", "pause later.")},
			[]string{plan, "\n\nI call todo_pause later."},
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
		ask{options: []middleware.Option{budget}, turns: []fakellm.Turn{fakellm.Text(plan), fakellm.Text("Soon.").UsageJSON(usage)}}.both(t, func(t *testing.T, got answer) {
			t.Helper()
			assert.Equal(t, continuation.ReasonTokenBudget, got.outcome.Reason, got.outcome.Reason.String())
			assert.Len(t, got.requests, 2)
		})
	}
}
