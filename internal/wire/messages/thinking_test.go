package messages_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/middleware"
)

// thought is a turn with thinking before its text.
func thought(text string) fakellm.Turn { return fakellm.Text(text).Reasoning("Let me see. ") }

func called() fakellm.Turn { return wiretest.Edit().Reasoning("So I edit. ") }

// Signed thinking of later turns is never shown, in any order of blocks: the
// API would refuse the caller's next request.
func TestSignedThinkingOfLaterTurnsIsNotShown(t *testing.T) {
	t.Parallel()
	const tool = `edit_file{"path":"parser.go"}`
	for name, test := range map[string]struct {
		turns []fakellm.Turn
		shown []string
	}{
		"both turns": {[]fakellm.Turn{thought(wiretest.Plan), called()}, []string{"(Let me see. )", wiretest.Plan, tool}},
		"the second": {[]fakellm.Turn{fakellm.Text(wiretest.Plan), thought("Now.").AndCall("edit_file", `{}`)}, []string{wiretest.Plan, "\n\nNow.", `edit_file{}`}},
		"three":      {[]fakellm.Turn{thought(wiretest.Plan), thought("Now."), called()}, []string{"(Let me see. )", wiretest.Plan, "\n\nNow.", tool}},
		"omitted":    {[]fakellm.Turn{thought(wiretest.Plan).With(fakellm.Omitted), called().With(fakellm.Omitted)}, []string{"()", wiretest.Plan, tool}},
		"a pause":    {[]fakellm.Turn{thought(wiretest.Plan), fakellm.Pause(wiretest.Blocked).Reasoning("I am stuck.")}, []string{"(Let me see. )", wiretest.Plan, "\n\nTask paused: " + wiretest.Blocked}},
		"alone":      {[]fakellm.Turn{fakellm.Text("").Reasoning("Hm. "), called()}, []string{"(Hm. )", tool}},
		"signed once is signed for all": {
			[]fakellm.Turn{thought(wiretest.Plan), called().With(fakellm.Unsigned)}, []string{"(Let me see. )", wiretest.Plan, tool},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ask{model: "claude-opus-5-5", turns: test.turns}.both(t, func(t *testing.T, got answer) {
				t.Helper()
				require.NoError(t, got.err)
				assert.Equal(t, test.shown, got.message.shown())
				requireUnchangedPrefix(t, got.requests)
			})
		})
	}
}

// requireUnchangedPrefix requires that continuations only append to the
// caller's request, and send no thinking that the caller does not have.
func requireUnchangedPrefix(t *testing.T, requests []fakellm.Request) {
	t.Helper()
	own := string(requests[0].Body)
	upTo := strings.LastIndex(own, `],"tools"`)
	for _, r := range requests[1:] {
		body := string(r.Body)
		assert.Equal(t, own[:upTo], body[:upTo])
		assert.True(t, strings.HasSuffix(body, own[upTo:]), "the tools are the caller's: %s", body)
		assert.Equal(t, strings.Count(own, `"thinking"`), strings.Count(body, `"thinking"`))
		assert.Contains(t, r.Last().Content, "todo_pause is not among your tools.")
	}
}

// Unsigned thinking can be sent back anywhere. Servers that run other vendors'
// models do not sign it.
func TestUnsignedThinkingOfLaterTurnsIsShown(t *testing.T) {
	t.Parallel()
	for name, quirk := range map[string]fakellm.Quirk{"ended": fakellm.Unsigned, "not ended": fakellm.Unsigned | fakellm.OpenThinking} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			second := called()
			if name == "ended" {
				second = thought("Now.").AndCall("edit_file", `{}`)
			}
			a := ask{model: "qwen3", turns: []fakellm.Turn{fakellm.Text(wiretest.Plan), second.With(quirk)}}
			got := a.play(t, true)
			require.NoError(t, got.err)
			if name == "ended" {
				assert.Equal(t, []string{wiretest.Plan, "(Let me see. )", "\n\nNow.", "edit_file{}"}, got.message.shown())
				return
			}
			assert.Equal(t, []string{wiretest.Plan, "(So I edit. )", `edit_file{"path":"parser.go"}`}, got.message.shown())
		})
	}
	a := ask{model: "qwen3", turns: []fakellm.Turn{
		fakellm.Text("").Reasoning("Hm. ").With(fakellm.Unsigned), thought("Now.").With(fakellm.Unsigned),
	}}
	a.both(t, func(t *testing.T, got answer) {
		t.Helper()
		assert.Equal(t, []string{"(Hm. )", "Now."}, got.message.shown(), "never thinking right behind thinking")
	})
}

const thinkingHistory = `{"role":"user","content":"Begin."},{"role":"assistant","content":[` +
	`{"type":"thinking","thinking":"Hm.","signature":"abc"},{"type":"tool_use","id":"t1","name":"edit_file","input":{}}]},` +
	`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"done"}]}`

// The tool is offered only if there can be no signed thinking; otherwise the
// prompt asks the model to pause in words.
func TestPauseToolIsOfferedWhereNothingIsSigned(t *testing.T) {
	t.Parallel()
	always := []middleware.Option{middleware.WithPauseTool(middleware.PauseToolAlways)}
	for name, test := range map[string]struct {
		ask
		offered bool
	}{
		"a model that does not think unasked": {ask{model: "claude-sonnet-4-5"}, true},
		"one of somebody else's":              {ask{model: "qwen3-coder"}, true},
		"one that thinks unasked":             {ask{model: "claude-opus-5-5-20260801"}, false},
		"thinking ruled out":                  {ask{model: "claude-opus-5-5", members: `"thinking":{"type":"disabled"},`}, true},
		"thinking asked for":                  {ask{members: `"thinking":{"type":"enabled","budget_tokens":2048},`}, false},
		"adaptive thinking":                   {ask{members: `"thinking":{"type":"adaptive"},`}, false},
		"thinking in the history":             {ask{messages: thinkingHistory}, false},
		"redacted thinking in the history":    {ask{messages: strings.Replace(thinkingHistory, `"type":"thinking","thinking":"Hm.","signature":"abc"`, `"type":"redacted_thinking","data":"x"`, 1)}, false},
		"thinking in the history, ruled out":  {ask{messages: thinkingHistory, members: `"thinking":{"type":"disabled"},`}, false},
		"always":                              {ask{model: "claude-opus-5-5", options: always}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.turns = []fakellm.Turn{fakellm.Text(wiretest.Plan), wiretest.Edit()}
			got := test.send(t, true)
			require.Len(t, got.requests, 2)
			assert.Equal(t, test.offered, got.requests[1].HasTool("todo_pause"))
			assert.Equal(t, !test.offered, strings.Contains(got.requests[1].Last().Content, "not among your tools"))
			assert.Equal(t, name == "always", got.requests[0].HasTool("todo_pause"))
		})
	}
}

// Nor is the tool offered to a model that has thought unasked.
func TestPauseToolIsNotOfferedToAModelThatHasThought(t *testing.T) {
	t.Parallel()
	ask{turns: []fakellm.Turn{thought(wiretest.Plan), called()}}.both(t, func(t *testing.T, got answer) {
		t.Helper()
		requireUnchangedPrefix(t, got.requests)
	})
}

// A call of a tool that was not offered is a pause too, and a rejected one is
// answered in words: a call may not come back without the thinking before it.
func TestPauseWithoutATool(t *testing.T) {
	t.Parallel()
	vague := fakellm.Text("Hm.").AndCall("todo_pause", `{"reason":"stuck"}`).Reasoning("Now what? ")
	a := ask{model: "claude-opus-5-5", turns: []fakellm.Turn{thought(wiretest.Plan), vague, called()}}
	a.both(t, func(t *testing.T, got answer) {
		t.Helper()
		assert.Equal(t, []string{"(Let me see. )", wiretest.Plan, "\n\nHm.", `edit_file{"path":"parser.go"}`}, got.message.shown())
		last := got.requests[2]
		assert.Contains(t, last.Last().Content, "the pause reason was rejected")
		assert.Empty(t, last.Last().ToolCallID)
		requireUnchangedPrefix(t, got.requests)
	})
}

// With Always, todo_pause is part of every request's prefix, and calls of it are
// removed from the first turn on.
func TestPauseToolThatIsAlwaysThere(t *testing.T) {
	t.Parallel()
	a := ask{options: []middleware.Option{middleware.WithPauseTool(middleware.PauseToolAlways)}}
	a.turns = []fakellm.Turn{fakellm.Text("I am stuck.").AndCall("todo_pause", `{"reason":"`+wiretest.Blocked+`"}`)}
	a.both(t, func(t *testing.T, got answer) {
		t.Helper()
		assert.Equal(t, []string{"I am stuck.", "\n\nTask paused: " + wiretest.Blocked}, got.message.shown())
		assert.Equal(t, "end_turn", got.message.StopReason)
	})
	a.turns = []fakellm.Turn{thought(wiretest.Plan), fakellm.Pause(wiretest.Blocked).Reasoning("I am stuck. ")}
	a.both(t, func(t *testing.T, got answer) {
		t.Helper()
		assert.Equal(t, []string{"(Let me see. )", wiretest.Plan, "\n\nTask paused: " + wiretest.Blocked}, got.message.shown())
	})
	a.turns = []fakellm.Turn{
		fakellm.Call("todo_pause", `{"reason":"`+wiretest.Blocked+`"}`).AndCall("edit_file", `{}`).With(fakellm.Pings).AndText("Both."),
	}
	a.both(t, func(t *testing.T, got answer) {
		t.Helper()
		assert.Equal(t, []string{"Both.", "edit_file{}", "\n\nTask paused: " + wiretest.Blocked}, got.message.shown())
		assert.Equal(t, "tool_use", got.message.StopReason)
	})
}
