package scenarios_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/pausetool"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/scenario"
	"github.com/carryon-go/carryon/internal/testkit/testclock"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/pause"
	"github.com/carryon-go/carryon/todo"
)

// reasonArguments returns the arguments of a todo_pause with the reason.
func reasonArguments(reason any) string {
	data, _ := json.Marshal(map[string]any{"reason": reason})
	return string(data)
}

// requirePaused checks that a call ended in a pause, and that shown is its reason.
func requirePaused(t *testing.T, s *scenario.Scenario, got scenario.Answer, shown string) {
	t.Helper()
	require.NoError(t, got.Err)
	assert.Equal(t, reasons.Paused, got.Outcome.Reason)
	require.NotNil(t, got.Outcome.Paused)
	assert.Equal(t, shown, got.Outcome.Paused.Reason)
	paused := pauses(s.Events)
	require.Len(t, paused, 1)
	assert.Equal(t, *got.Outcome.Paused, paused[0].Result)
	assert.Equal(t, shown, s.State(t).Paused.Reason)
	if s.Mode.Streamed() {
		scenario.RequireWellFormed(t, got)
	}
}

// The texts with which the model is told that a reason is rejected.
const (
	tooBrief = "Reason too brief (min 10 characters for clarity)"
	tooVague = "Please provide a more specific explanation of the blocking issue"
	tooDone  = "The task is not blocked: update its status in the todo list instead"
)

// judgedReasons are arguments of todo_pause, and the problem with each.
var judgedReasons = []struct {
	name, arguments string
	problem         string // "" if the reason is accepted
}{
	{"no arguments", ``, "Input is required"},
	{"broken arguments", `{"reason":"The disk`, "Input is required"},
	{"an array", `["The disk is full and read-only"]`, "Input is required"},
	{"null", `null`, "Input is required"},
	{"no reason", `{}`, "Reason is required"},
	{"reason null", `{"reason":null}`, "Reason is required"},
	{"reason empty", `{"reason":""}`, "Reason is required"},
	{"reason a number", `{"reason":42}`, "Reason must be a string"},
	{"reason an object", `{"reason":{"text":"the disk is full"}}`, "Reason must be a string"},
	{"reason of white space", `{"reason":" \n\t "}`, "Reason cannot be empty"},
	{"reason too long", reasonArguments(strings.Repeat("blocked! ", 60)), "Reason too long (max 500 characters)"},
	{"arguments of 100 KiB", reasonArguments(strings.Repeat("x", 100<<10)), "Reason too long (max 500 characters)"},
	{"reason too brief", reasonArguments("disk full"), tooBrief},
	{"stuck", reasonArguments("stuck"), tooBrief},
	{"vague", reasonArguments("I am stuck here"), tooVague},
	{"not sure", reasonArguments("not sure about the best approach"), tooVague},
	{"curly apostrophe", reasonArguments("I don’t know what to do"), tooVague},
	{"done", reasonArguments("task is finished"), tooDone},
	{"specific", reasonArguments("Cannot find config file 'app.config.js' mentioned in the task"), ""},
	{"permission", reasonArguments("Permission denied when trying to write to /etc/nginx/. Need sudo access"), ""},
	{"package", reasonArguments("Package 'react-router-dom' is not installed but required for routing implementation"), ""},
	{"500 characters", reasonArguments(strings.Repeat("é", 500)), ""},
	{"10 bytes", reasonArguments("ディスク"), ""},
	{"encoded twice", fmt.Sprintf("%q", reasonArguments(scenario.Blocked)), ""},
	{"another property", `{"reason":"` + scenario.Blocked + `","status":"blocked"}`, ""},
}

func TestReasonsAreJudged(t *testing.T) {
	t.Parallel()
	for _, tt := range judgedReasons {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
				s := scenario.New(t, m, scenario.TwoTodos())
				s.Server.Append(fakellm.Text(scenario.Plan), fakellm.Call("todo_pause", tt.arguments).ID("call_p"))
				if tt.problem == "" {
					got := s.Ask()
					reason, err := pausetool.Parse(tt.arguments, pausetool.Strict)
					require.NoError(t, err)
					requirePaused(t, s, got, reason)
					assert.Equal(t, scenario.Plan+"\n\nTask paused: "+reason, got.Text)
					assert.Equal(t, "stop", got.Finish)
					assert.Empty(t, got.Calls)
					return
				}
				got := s.Ask(scenario.Edit())
				scenario.RequireComplete(t, m, got, scenario.Plan, "tool_calls")
				requests := s.Server.Requests()
				require.Len(t, requests, 3)
				result := requests[2].Last()
				assert.Equal(t, "tool", result.Role)
				assert.Equal(t, "call_p", result.ToolCallID)
				assert.True(t, strings.HasPrefix(result.Content, "Invalid pause reason: "+tt.problem+"\n"), result.Content)
			})
		})
	}
}

func TestRejectedPauseIsAnsweredAsAToolResult(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos())
		got := s.Ask(fakellm.Text("One:"),
			fakellm.Call("Todo_Pause", `{"reason":"stuck"}`).ID("call_p").AndText("Two:"), scenario.Edit())

		scenario.RequireComplete(t, m, got, "One:\n\nTwo:", "tool_calls")
		require.Len(t, got.Calls, 1)
		assert.Equal(t, "edit_file", got.Calls[0].Function.Name)
		requests := s.Server.Requests()
		require.Len(t, requests, 3)
		messages := requests[2].Messages
		require.Len(t, messages, 4, "no prompt is repeated")
		assert.Equal(t, requests[0].Messages, messages[:2])
		assert.Equal(t, fakellm.Message{
			Role: "assistant", Content: "One:\n\nTwo:",
			ToolCalls: []fakellm.ToolCall{{ID: "call_p", Name: "Todo_Pause", Arguments: `{"reason":"stuck"}`}},
		}, messages[2])
		assert.Equal(t, "tool", messages[3].Role)
		assert.Contains(t, messages[3].Content, "'Write the parser'", "the task again")
		assert.Equal(t, []string{"edit_file", "todo_pause"}, requests[2].Tools)

		assert.Equal(t, []int{1, 2}, attempts(s.Events), "the answer is an attempt")
		assert.Equal(t, 2, s.State(t).Continuations)
		rejected := rejections(s.Events)
		require.Len(t, rejected, 1)
		assert.Equal(t, "stuck", rejected[0].Result.Reason)
		require.ErrorIs(t, rejected[0].Err, pause.ErrInvalidReason)
		assert.Nil(t, got.Outcome.Paused)
	})
}

func TestRejectedPauseWithoutTextIsAnsweredAlone(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos())
		got := s.Ask(fakellm.Text("One:"), fakellm.Pause("stuck"), fakellm.Text("Two:"), scenario.Edit())
		scenario.RequireComplete(t, m, got, "One:\n\nTwo:", "tool_calls")
		requests := s.Server.Requests()
		require.Len(t, requests, 4)
		assert.Equal(t, "One:", requests[2].Messages[2].Content)
		assert.Equal(t, "user", requests[3].Last().Role, "the turn after is prompted again")
	})
}

// pauseWithoutID returns a call of todo_pause without an id, streamed or not.
func pauseWithoutID(m scenario.Mode, arguments string) fakellm.Turn {
	call := `{"index":0,"type":"function","function":{"name":"todo_pause","arguments":` + fmt.Sprintf("%q", arguments) + `}}`
	const envelope = `{"id":"chatcmpl-2","object":"o","created":1,"model":"m","choices":[{"index":0,`
	if m.Streamed() {
		return fakellm.Chunks(envelope+`"delta":{"tool_calls":[`+call+`]}}]}`,
			envelope+`"delta":{},"finish_reason":"tool_calls"}]}`)
	}
	return fakellm.Status(200, envelope+
		`"message":{"role":"assistant","content":null,"tool_calls":[`+call+`]},"finish_reason":"tool_calls"}]}`)
}

func TestRejectedPauseWithoutAnIDGetsOne(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos())
		s.Ask(fakellm.Text("One:"), pauseWithoutID(m, `{"reason":"stuck"}`), scenario.Edit())
		requests := s.Server.Requests()
		require.Len(t, requests, 3)
		result := requests[2].Last()
		assert.Regexp(t, `^[a-zA-Z0-9]{9}$`, result.ToolCallID)
		require.Len(t, requests[2].Messages[2].ToolCalls, 1)
		assert.Equal(t, result.ToolCallID, requests[2].Messages[2].ToolCalls[0].ID)
	})
}

func TestBrokenArgumentsAreNotSentBack(t *testing.T) {
	t.Parallel()
	for _, arguments := range []string{``, `{"reason":"The di`, `not JSON`, `[1]`, `"text"`} {
		t.Run(arguments, func(t *testing.T) {
			t.Parallel()
			scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
				s := scenario.New(t, m, scenario.TwoTodos())
				got := s.Ask(fakellm.Text("One:"), pauseWithoutID(m, arguments), scenario.Edit())
				scenario.RequireComplete(t, m, got, "One:", "tool_calls")
				requests := s.Server.Requests()
				require.Len(t, requests, 3)
				assert.Equal(t, "{}", requests[2].Messages[2].ToolCalls[0].Arguments, "providers refuse broken ones")
			})
		})
	}
}

func TestSecondPauseIsAcceptedWhateverItsReason(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, arguments, shown string }{
		{"brief", `{"reason":"stuck"}`, "stuck"},
		{"none", `{}`, "no reason given"},
		{"broken", `{"reason":`, "no reason given"},
		{"too long", reasonArguments(strings.Repeat("é", 501)), strings.Repeat("é", 500)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
				s := scenario.New(t, m, scenario.TwoTodos())
				got := s.Ask(fakellm.Text("One:"), fakellm.Pause("stuck"),
					fakellm.Call("todo_pause", tt.arguments))
				requirePaused(t, s, got, tt.shown)
				assert.Equal(t, "One:\n\nTask paused: "+tt.shown, got.Text)
				assert.Equal(t, "stop", got.Finish)
				assert.Len(t, s.Server.Requests(), 3)
			})
		})
	}
}

func TestPauseIsAcceptedIfNoAttemptIsLeft(t *testing.T) {
	t.Parallel()
	for name, limits := range map[string]continuation.Limits{
		"in a row": {MaxAttempts: 1}, "per user turn": {MaxWithoutProgress: 1}, "tokens": {TokenBudget: 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
				s := scenario.New(t, m, scenario.TwoTodos(), scenario.Within(limits))
				got := s.Ask(fakellm.Text("One:"), fakellm.Pause("stuck"))
				requirePaused(t, s, got, "stuck")
				assert.Equal(t, "One:\n\nTask paused: stuck", got.Text)
				assert.Empty(t, rejections(s.Events))
			})
		})
	}
}

// pausesBesideCalls are turns that pause and call other tools.
var pausesBesideCalls = []struct {
	name  string
	turn  fakellm.Turn
	calls []string
}{
	{"before another", fakellm.Pause("stuck").AndCall("edit_file", `{"n":1}`), []string{"edit_file"}},
	{"after another", scenario.Edit().AndCall("todo_pause", `{"reason":"stuck"}`), []string{"edit_file"}},
	{
		"between others", fakellm.Call("a", `{}`).AndCall("todo_pause", `{"reason":"stuck"}`).AndCall("b", `{"n":2}`),
		[]string{"a", "b"},
	},
	{
		"interleaved", fakellm.Pause("stuck").AndCall("a", `{"n":1}`).AndCall("b", `{"n":2}`).With(fakellm.Interleaved),
		[]string{"a", "b"},
	},
	{"whole", fakellm.Pause("stuck").AndCall("a", `{"n":1}`).AndCall("b", `{"n":2}`).With(fakellm.WholeCalls), []string{"a", "b"}},
	{"split names", fakellm.Pause("stuck").AndCall("todo_write", `{"n":1}`).With(fakellm.SplitName), []string{"todo_write"}},
}

func TestPauseBesideOtherCallsIsAcceptedAndTheyAreKept(t *testing.T) {
	t.Parallel()
	for _, tt := range pausesBesideCalls {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
				s := scenario.New(t, m, scenario.TwoTodos())
				got := s.Ask(fakellm.Text("One:"), tt.turn)

				requirePaused(t, s, got, "stuck")
				assert.Equal(t, "One:\n\nTask paused: stuck", got.Text)
				assert.Equal(t, "tool_calls", got.Finish)
				var names []string
				for _, call := range got.Calls {
					names = append(names, call.Function.Name)
					assert.NotEmpty(t, call.ID)
					assert.Equal(t, openai.ToolTypeFunction, call.Type)
					assert.True(t, json.Valid([]byte(call.Function.Arguments)), call.Function.Arguments)
				}
				assert.Equal(t, tt.calls, names, "indexes are dense")
			})
		})
	}
}

// printedPauses are texts that print a call of todo_pause at their end.
var printedPauses = []struct{ name, text, before string }{
	{"single quotes", "todo_pause('" + scenario.Blocked + "')", ""},
	{"double quotes", `todo_pause("` + scenario.Blocked + `")`, ""},
	{"curly quotes", "todo_pause(“" + scenario.Blocked + "”)", ""},
	{"a name before the reason", "TODO_PAUSE(reason = '" + scenario.Blocked + "').", ""},
	{"in backticks", "`todo_pause('" + scenario.Blocked + "')`\n", ""},
	{"in a fence", "```\ntodo_pause('" + scenario.Blocked + "')\n```", ""},
	{"arguments as JSON", `todo_pause({"reason":"` + scenario.Blocked + `"})`, ""},
	{"an object", `{"name":"todo_pause","arguments":{"reason":"` + scenario.Blocked + `"}}`, ""},
	{"an object of other keys", `{"type": "function", "name": "todo_pause", "parameters": {"reason": "` + scenario.Blocked + `"}}`, ""},
	{"an object in a string", `{"name":"todo_pause","arguments":"{\"reason\":\"` + scenario.Blocked + `\"}"}`, ""},
	{"after other text", "I can't go on.\ntodo_pause('" + scenario.Blocked + "')", "I can't go on."},
}

func TestPrintedPauseCounts(t *testing.T) {
	t.Parallel()
	for _, tt := range printedPauses {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
				for _, turn := range []fakellm.Turn{
					fakellm.Text(tt.text), fakellm.Pieces(strings.Split(tt.text, "")...),
					fakellm.Text(tt.text).With(fakellm.OneChunk),
				} {
					s := scenario.New(t, m, scenario.TwoTodos())
					got := s.Ask(fakellm.Text("One:"), turn)
					requirePaused(t, s, got, scenario.Blocked)
					assert.Equal(t, "stop", got.Finish)
					assert.NotContains(t, strings.ToLower(got.Text), "todo_pause")
					assert.Equal(t, strings.Fields("One: "+tt.before+" "+scenario.BlockedNotice), strings.Fields(got.Text))
					assert.Len(t, s.Server.Requests(), 2)
				}
			})
		})
	}
}

// notPrinted are texts that look like such a call, but contain none.
var notPrinted = []string{
	"todo_pause('" + scenario.Blocked + "') is what I would call.",
	"todo_pause(" + scenario.Blocked + ")",
	"todo_pause('" + strings.Repeat("very long ", 80) + "')x",
	"todo_pause",
	"todo_",
	"`todo_pause('",
	"my_todo_pause('" + scenario.Blocked + "')",
	`I will not call todo_pause("` + scenario.Blocked + `")`,
	`I would send {"name":"todo_pause","arguments":{"reason":"` + scenario.Blocked + `"}}`,
	`{"name":"edit_file","arguments":{"reason":"` + scenario.Blocked + `"}}`,
}

func TestTextThatIsNoPrintedPauseIsShown(t *testing.T) {
	t.Parallel()
	for _, text := range notPrinted {
		t.Run(text[:min(len(text), 30)], func(t *testing.T) {
			t.Parallel()
			scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
				s := scenario.New(t, m, scenario.TwoTodos(), scenario.Within(continuation.Limits{MaxAttempts: 1}))
				got := s.Ask(fakellm.Text("One:"), fakellm.Pieces(strings.Split(text, "")...))
				scenario.RequireComplete(t, m, got, "One:\n\n"+text, "stop")
				assert.Equal(t, reasons.MaxAttempts, got.Outcome.Reason)
			})
		})
	}
}

func TestPrintedPauseBesideACallIsText(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos())
		text := "todo_pause('" + scenario.Blocked + "')"
		got := s.Ask(fakellm.Text("One:"), scenario.Edit().AndText(text))
		scenario.RequireComplete(t, m, got, "One:\n\n"+text, "tool_calls")
		assert.Nil(t, got.Outcome.Paused)
		assert.False(t, s.State(t).Paused.IsSet())
	})
}

func TestPrintedPauseInTheCallersOwnTurnIsText(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos())
		text := "todo_pause('" + scenario.Blocked + "')"
		got := s.Ask(fakellm.Text(text), scenario.Edit())
		scenario.RequireComplete(t, m, got, text, "tool_calls")
		assert.Nil(t, got.Outcome.Paused)
	})
}

func TestRejectedPrintedPauseStandsInTheNextPrompt(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos())
		got := s.Ask(fakellm.Text("One:"), fakellm.Text("Two. todo_pause('stuck')"), scenario.Edit())
		require.NoError(t, got.Err)
		assert.NotContains(t, got.Text, "todo_pause")
		prompts := s.Prompts()
		require.Len(t, prompts, 2)
		assert.Equal(t, "user", s.Server.Requests()[2].Last().Role, "there is no call to answer")
		assert.Contains(t, prompts[1],
			"Previous attempt: the pause reason was rejected: Reason too brief (min 10 characters for clarity)")
		assert.Len(t, rejections(s.Events), 1)
	})
}

func TestSecondPrintedPauseIsAccepted(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos())
		got := s.Ask(fakellm.Text("One:"), fakellm.Pause("stuck"), fakellm.Text("todo_pause('help me')"))
		requirePaused(t, s, got, "help me")
		assert.Equal(t, "One:\n\nTask paused: help me", got.Text)
	})
}

func TestToollessCallIsPausedByPrinting(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos(), middleware.WithToollessCalls())
		request := scenario.Request()
		request.Tools = nil
		got := s.Call(s.Ctx, request, fakellm.Text("One:"), fakellm.Text("todo_pause('"+scenario.Blocked+"')"))
		requirePaused(t, s, got, scenario.Blocked)
		assert.Equal(t, "One:\n\n"+scenario.BlockedNotice, got.Text)
	})
}

func TestNoticeIsWhatTheProgramWants(t *testing.T) {
	t.Parallel()
	at := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	panicking := func(string, time.Time) string { panic("no notice") }
	tests := []struct {
		name   string
		notice pause.Notice
		want   string
	}{
		{"short", pause.ShortNotice, "One:\n\n" + scenario.BlockedNotice},
		{"full", pause.FullNotice, "One:\n\n" + pause.FullNotice(scenario.Blocked, at)},
		{"none", pause.NoNotice, "One:"},
		{
			"custom", func(reason string, at time.Time) string { return reason + " at " + at.Format(time.Kitchen) },
			"One:\n\n" + scenario.Blocked + " at 12:00AM",
		},
		{"panicking", panicking, "One:\n\n" + scenario.BlockedNotice},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
				s := scenario.New(t, m, scenario.TwoTodos(), middleware.WithNotice(tt.notice),
					testclock.Option[middleware.Option](testclock.New()))
				got := s.Ask(fakellm.Text("One:"), fakellm.Pause(scenario.Blocked))
				requirePaused(t, s, got, scenario.Blocked)
				assert.Equal(t, tt.want, got.Text)
				assert.Equal(t, strings.TrimPrefix(strings.TrimPrefix(tt.want, "One:"), "\n\n"), got.Outcome.Paused.Message)
				assert.Equal(t, at, got.Outcome.Paused.Time)
				if tt.name == "panicking" {
					assert.Equal(t, []string{"notice"}, failures(s.Events))
				}
			})
		})
	}
}

func TestPolicyIsTheProgramsOwn(t *testing.T) {
	t.Parallel()
	picky := func(reason string) error {
		if reason != "please" {
			return errors.New("say please")
		}
		return nil
	}
	t.Run("lenient", func(t *testing.T) {
		t.Parallel()
		scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
			s := scenario.New(t, m, scenario.TwoTodos(), middleware.WithPausePolicy(pause.Lenient))
			requirePaused(t, s, s.Ask(fakellm.Text("One:"), fakellm.Pause("stuck")), "stuck")
		})
	})
	t.Run("custom", func(t *testing.T) {
		t.Parallel()
		scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
			s := scenario.New(t, m, scenario.TwoTodos(), middleware.WithPausePolicy(picky))
			got := s.Ask(fakellm.Text("One:"), fakellm.Pause(scenario.Blocked), fakellm.Pause("please"))
			requirePaused(t, s, got, "please")
			assert.Contains(t, s.Prompts()[1], "Invalid pause reason: say please\n")
		})
	})
	t.Run("panicking", func(t *testing.T) {
		t.Parallel()
		scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
			s := scenario.New(t, m, scenario.TwoTodos(), middleware.WithPausePolicy(func(string) error { panic("no policy") }))
			got := s.Ask(fakellm.Text("One:"), fakellm.Pause(scenario.Blocked))
			requirePaused(t, s, got, "Tool execution error")
			assert.Equal(t, "One:\n\nTask paused: Tool execution error", got.Text)
			assert.Equal(t, []string{"pause policy"}, failures(s.Events))
		})
	})
}

func TestReasonIsShownWithoutControlCharacters(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos())
		got := s.Ask(fakellm.Text("One:"), fakellm.Pause("The \x1b[31mdisk\x1b[0m is\r\n\u202efull\u0000 today"))
		requirePaused(t, s, got, "The disk is full today")
		assert.Equal(t, "One:\n\nTask paused: The disk is full today", got.Text)
	})
}

func TestPausedSessionWaitsForTheNextUserTurn(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos())
		s.Ask(fakellm.Text("One:"), fakellm.Pause(scenario.Blocked))
		got := s.Call(s.Ctx, scenario.WithEdit(scenario.Request(), "call_1"), fakellm.Text("Two:"))
		assert.Equal(t, reasons.Paused, got.Outcome.Reason)
		assert.Nil(t, got.Outcome.Paused, "the pause belongs to an earlier call")
		got = s.Call(s.Ctx, scenario.WithUserMessage(scenario.Request(), "One:", "It is there now."),
			fakellm.Text(scenario.Plan), scenario.Edit())
		assert.Equal(t, 1, got.Outcome.Attempts)
		assert.False(t, s.State(t).Paused.IsSet())
	})
}

func TestPausedSessionGoesOnAfterResume(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos())
		s.Ask(fakellm.Text("One:"), fakellm.Pause(scenario.Blocked))
		require.NoError(t, s.Middleware.Resume(s.Ctx))
		got := s.Call(s.Ctx, scenario.WithEdit(scenario.Request(), "call_1"), fakellm.Text(scenario.Plan), scenario.Edit())
		scenario.RequireComplete(t, m, got, scenario.Plan, "tool_calls")
	})
}

func TestPauseChangesNoTodo(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		todos := scenario.NewList(scenario.InProgress("A"), scenario.Pending("B"))
		s := scenario.New(t, m, todos)
		s.Ask(fakellm.Text("One:"), fakellm.Pause(scenario.Blocked))
		left, err := todos.Todos(t.Context())
		require.NoError(t, err)
		assert.Equal(t, []todo.Todo{scenario.InProgress("A"), scenario.Pending("B")}, left)
	})
}

func TestPauseToolAlwaysKeepsThePrefixTheSame(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos(), middleware.WithPauseTool(middleware.PauseToolAlways))
		got := s.Ask(fakellm.Text("One:"), fakellm.Text("Two:"), scenario.Edit().ID("call_1"))
		scenario.RequireComplete(t, m, got, "One:\n\nTwo:", "tool_calls")
		s.Call(s.Ctx, scenario.WithEdit(scenario.Request(), "call_1"), scenario.Edit())

		requests := s.Server.Requests()
		require.Len(t, requests, 4)
		assert.Equal(t, []string{"edit_file", "todo_pause"}, requests[0].Tools)
		messages := scenario.Elements(t, requests[0], "messages")
		for _, request := range requests[1:] {
			assert.Equal(t, scenario.RawBody(t, requests[0])["tools"], scenario.RawBody(t, request)["tools"])
			assert.Equal(t, messages, scenario.Elements(t, request, "messages")[:len(messages)])
		}
	})
}

func TestPauseToolAlwaysPausesInTheFirstTurn(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos(), middleware.WithPauseTool(middleware.PauseToolAlways))
		got := s.Ask(fakellm.Pause(scenario.Blocked).AndText("One:"))
		requirePaused(t, s, got, scenario.Blocked)
		assert.Equal(t, "One:\n\n"+scenario.BlockedNotice, got.Text)
		assert.Equal(t, "stop", got.Finish)
		assert.Empty(t, got.Calls)
		assert.Len(t, s.Server.Requests(), 1)
	})
}

func TestPauseToolAlwaysAloneShowsTheNoticeAlone(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos(), middleware.WithPauseTool(middleware.PauseToolAlways))
		got := s.Ask(fakellm.Pause(scenario.Blocked))
		requirePaused(t, s, got, scenario.Blocked)
		assert.Equal(t, scenario.BlockedNotice, got.Text)
	})
}

func TestPauseToolAlwaysIsRemovedBesideOtherCalls(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos(), middleware.WithPauseTool(middleware.PauseToolAlways))
		got := s.Ask(fakellm.Pause(scenario.Blocked).AndCall("edit_file", `{"n":1}`))
		requirePaused(t, s, got, scenario.Blocked)
		require.Len(t, got.Calls, 1)
		assert.Equal(t, "edit_file", got.Calls[0].Function.Name)
		assert.Equal(t, `{"n":1}`, got.Calls[0].Function.Arguments)
		assert.Equal(t, "tool_calls", got.Finish)
	})
}

func TestPauseToolAlwaysRejectsInTheFirstTurnToo(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos(), middleware.WithPauseTool(middleware.PauseToolAlways))
		got := s.Ask(fakellm.Pause("stuck"), scenario.Edit())
		scenario.RequireComplete(t, m, got, "", "tool_calls")
		requests := s.Server.Requests()
		require.Len(t, requests, 2)
		assert.Equal(t, "tool", requests[1].Last().Role)
		assert.Equal(t, 1, got.Outcome.Attempts)
	})
}

func TestPauseToolAlwaysIsNotDeclaredOutOfScope(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos(), middleware.WithPauseTool(middleware.PauseToolAlways))
		request := scenario.Request()
		request.ToolChoice = "required"
		s.Call(s.Ctx, request, scenario.Edit())
		s.Call(continuation.Suppress(s.Ctx), scenario.Request(), fakellm.Text(scenario.Plan))
		own := scenario.Request()
		own.Tools = append(own.Tools, scenario.Tool("todo_pause"))
		s.Call(s.Ctx, own, scenario.Edit())
		requests := s.Server.Requests()
		assert.Equal(t, []string{"edit_file"}, requests[0].Tools)
		assert.Equal(t, []string{"edit_file"}, requests[1].Tools)
		assert.Equal(t, []string{"edit_file", "todo_pause"}, requests[2].Tools)
	})
}

// Where nobody can give leave, a pause that only asks for it is rejected once in a user
// turn. A person who is there gives it.
func TestPauseThatOnlyAsksForLeave(t *testing.T) {
	t.Parallel()
	const reason = "Awaiting confirmation to continue"
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos())
		got := s.Ask(fakellm.Text(scenario.Plan), fakellm.Pause(reason), scenario.Edit())
		scenario.RequireComplete(t, m, got, scenario.Plan, "tool_calls")
		assert.Contains(t, s.Server.Requests()[2].Last().Content, "No permission is needed: go on with the task")

		got = s.Call(s.Ctx, scenario.WithEdit(scenario.Request(), "call_1"), fakellm.Text(scenario.Plan), fakellm.Pause(reason))
		requirePaused(t, s, got, reason)

		require.NoError(t, s.Middleware.Resume(s.Ctx), "the list is worth all attempts again")
		got = s.Call(s.Ctx, scenario.WithUserMessage(scenario.Request(), "Paused.", "Go on."), fakellm.Text(scenario.Plan), fakellm.Pause(reason), scenario.Edit())
		scenario.RequireComplete(t, m, got, scenario.Plan, "tool_calls")

		for name, options := range map[string][]middleware.Option{
			"a person is there":        {middleware.WithApprovalMode(continuation.ApprovalDefault)},
			"the program has a policy": {middleware.WithPausePolicy(pause.Strict)},
		} {
			s = scenario.New(t, m, scenario.TwoTodos(), options...)
			got = s.Ask(fakellm.Text(scenario.Plan), fakellm.Pause(reason))
			requirePaused(t, s, got, reason)
			assert.Len(t, s.Server.Requests(), 2, name)
		}
	})
}
