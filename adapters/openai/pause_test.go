package openai_test

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

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/pause"
)

const (
	blocked = "The grammar file grammar.ebnf is missing"
	notice  = "Task paused: " + blocked
)

// reasonArguments returns the arguments of a todo_pause with the reason.
func reasonArguments(reason any) string {
	data, _ := json.Marshal(map[string]any{"reason": reason})
	return string(data)
}

// requirePaused checks that a call ended in a pause with what is shown as its reason.
func (s *scene) requirePaused(t *testing.T, got answer, shown string) {
	t.Helper()
	require.NoError(t, got.Err)
	assert.Equal(t, continuation.ReasonPaused, got.Outcome.Reason)
	require.NotNil(t, got.Outcome.Paused)
	assert.Equal(t, shown, got.Outcome.Paused.Reason)
	paused := recorded[middleware.Paused](s.events)
	require.Len(t, paused, 1)
	assert.Equal(t, *got.Outcome.Paused, paused[0].Result)
	assert.Equal(t, shown, s.state(t).Paused.Reason)
	if s.m.streamed {
		requireWellFormed(t, got)
	}
}

// What is said of reasons that are rejected.
const (
	tooBrief = "Reason too brief (min 10 characters for clarity)"
	tooVague = "Please provide a more specific explanation of the blocking issue"
	tooDone  = "The task is not blocked: update its status in the todo list instead"
)

// judgedReasons are the arguments of calls of todo_pause.
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
	{"encoded twice", fmt.Sprintf("%q", reasonArguments(blocked)), ""},
	{"another property", `{"reason":"` + blocked + `","status":"blocked"}`, ""},
}

func TestReasonsAreJudged(t *testing.T) {
	t.Parallel()
	for _, tt := range judgedReasons {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			inModes(t, allModes, func(t *testing.T, m mode) {
				s := newScene(t, m, twoTodos)
				s.server.Append(carryontest.Text(plan), carryontest.Call("todo_pause", tt.arguments).ID("call_p"))
				if tt.problem == "" {
					got := s.ask()
					reason, err := pause.Parse(tt.arguments, pause.Strict)
					require.NoError(t, err)
					s.requirePaused(t, got, reason)
					assert.Equal(t, plan+"\n\nTask paused: "+reason, got.Text)
					assert.Equal(t, "stop", got.Finish)
					assert.Empty(t, got.Calls)
					return
				}
				got := s.ask(edit())
				requireComplete(t, m, got, plan, "tool_calls")
				requests := s.server.Requests()
				require.Len(t, requests, 3)
				told := requests[2].Last()
				assert.Equal(t, "tool", told.Role)
				assert.Equal(t, "call_p", told.ToolCallID)
				assert.True(t, strings.HasPrefix(told.Content, "Invalid pause reason: "+tt.problem+"\n"), told.Content)
			})
		})
	}
}

func TestRejectedPauseIsAnsweredAsAToolResult(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		got := s.ask(carryontest.Text("One."),
			carryontest.Call("Todo_Pause", `{"reason":"stuck"}`).ID("call_p").AndText("Two."), edit())

		requireComplete(t, m, got, "One.\n\nTwo.", "tool_calls")
		require.Len(t, got.Calls, 1)
		assert.Equal(t, "edit_file", got.Calls[0].Function.Name)
		requests := s.server.Requests()
		require.Len(t, requests, 3)
		messages := requests[2].Messages
		require.Len(t, messages, 4, "no prompt is repeated")
		assert.Equal(t, requests[0].Messages, messages[:2])
		assert.Equal(t, carryontest.Message{
			Role: "assistant", Content: "One.\n\nTwo.",
			ToolCalls: []carryontest.ToolCall{{ID: "call_p", Name: "Todo_Pause", Arguments: `{"reason":"stuck"}`}},
		}, messages[2])
		assert.Equal(t, "tool", messages[3].Role)
		assert.Contains(t, messages[3].Content, "'Write the parser'", "the task again")
		assert.Equal(t, []string{"edit_file", "todo_pause"}, requests[2].Tools)

		assert.Equal(t, []int{1, 2}, attempts(s.events), "the answer is an attempt")
		assert.Equal(t, 2, s.state(t).Continuations)
		rejected := recorded[middleware.PauseRejected](s.events)
		require.Len(t, rejected, 1)
		assert.Equal(t, "stuck", rejected[0].Reason)
		require.ErrorIs(t, rejected[0].Err, pause.ErrInvalidReason)
		assert.Nil(t, got.Outcome.Paused)
	})
}

func TestRejectedPauseWithoutTextIsAnsweredAlone(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		got := s.ask(carryontest.Text("One."), carryontest.Pause("stuck"), carryontest.Text("Two."), edit())
		requireComplete(t, m, got, "One.\n\nTwo.", "tool_calls")
		requests := s.server.Requests()
		require.Len(t, requests, 4)
		assert.Equal(t, "One.", requests[2].Messages[2].Content)
		assert.Equal(t, "user", requests[3].Last().Role, "the turn after is prompted again")
	})
}

// rawPause is a call of todo_pause without an id, streamed or not.
func rawPause(m mode, arguments string) carryontest.Turn {
	call := `{"index":0,"type":"function","function":{"name":"todo_pause","arguments":` + fmt.Sprintf("%q", arguments) + `}}`
	const envelope = `{"id":"chatcmpl-2","object":"o","created":1,"model":"m","choices":[{"index":0,`
	if m.streamed {
		return carryontest.Chunks(envelope+`"delta":{"tool_calls":[`+call+`]}}]}`,
			envelope+`"delta":{},"finish_reason":"tool_calls"}]}`)
	}
	return carryontest.Status(200, envelope+
		`"message":{"role":"assistant","content":null,"tool_calls":[`+call+`]},"finish_reason":"tool_calls"}]}`)
}

func TestRejectedPauseWithoutAnIDGetsOne(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		s.ask(carryontest.Text("One."), rawPause(m, `{"reason":"stuck"}`), edit())
		requests := s.server.Requests()
		require.Len(t, requests, 3)
		told := requests[2].Last()
		assert.Regexp(t, `^[a-zA-Z0-9]{9}$`, told.ToolCallID)
		require.Len(t, requests[2].Messages[2].ToolCalls, 1)
		assert.Equal(t, told.ToolCallID, requests[2].Messages[2].ToolCalls[0].ID)
	})
}

func TestBrokenArgumentsAreNotSentBack(t *testing.T) {
	t.Parallel()
	for _, arguments := range []string{``, `{"reason":"The di`, `not JSON`, `[1]`, `"text"`} {
		t.Run(arguments, func(t *testing.T) {
			t.Parallel()
			inModes(t, allModes, func(t *testing.T, m mode) {
				s := newScene(t, m, twoTodos)
				got := s.ask(carryontest.Text("One."), rawPause(m, arguments), edit())
				requireComplete(t, m, got, "One.", "tool_calls")
				requests := s.server.Requests()
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
			inModes(t, allModes, func(t *testing.T, m mode) {
				s := newScene(t, m, twoTodos)
				got := s.ask(carryontest.Text("One."), carryontest.Pause("stuck"),
					carryontest.Call("todo_pause", tt.arguments))
				s.requirePaused(t, got, tt.shown)
				assert.Equal(t, "One.\n\nTask paused: "+tt.shown, got.Text)
				assert.Equal(t, "stop", got.Finish)
				assert.Len(t, s.server.Requests(), 3)
			})
		})
	}
}

func TestPauseIsAcceptedIfNoAttemptIsLeft(t *testing.T) {
	t.Parallel()
	for name, limits := range map[string]continuation.Limits{
		"in a row": {MaxAttempts: 1}, "per user turn": {MaxPerUserTurn: 1}, "tokens": {TokenBudget: 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inModes(t, allModes, func(t *testing.T, m mode) {
				s := newScene(t, m, twoTodos, within(limits))
				got := s.ask(carryontest.Text("One."), carryontest.Pause("stuck"))
				s.requirePaused(t, got, "stuck")
				assert.Equal(t, "One.\n\nTask paused: stuck", got.Text)
				assert.Empty(t, recorded[middleware.PauseRejected](s.events))
			})
		})
	}
}

// pausesBesideCalls are turns that pause, and call other tools.
var pausesBesideCalls = []struct {
	name  string
	turn  carryontest.Turn
	calls []string
}{
	{"before another", carryontest.Pause("stuck").AndCall("edit_file", `{"n":1}`), []string{"edit_file"}},
	{"after another", edit().AndCall("todo_pause", `{"reason":"stuck"}`), []string{"edit_file"}},
	{
		"between others", carryontest.Call("a", `{}`).AndCall("todo_pause", `{"reason":"stuck"}`).AndCall("b", `{"n":2}`),
		[]string{"a", "b"},
	},
	{
		"interleaved", carryontest.Pause("stuck").AndCall("a", `{"n":1}`).AndCall("b", `{"n":2}`).Interleaved(),
		[]string{"a", "b"},
	},
	{"whole", carryontest.Pause("stuck").AndCall("a", `{"n":1}`).AndCall("b", `{"n":2}`).WholeCalls(), []string{"a", "b"}},
	{"split names", carryontest.Pause("stuck").AndCall("todo_write", `{"n":1}`).SplitName(), []string{"todo_write"}},
}

func TestPauseBesideOtherCallsIsAcceptedAndTheyAreKept(t *testing.T) {
	t.Parallel()
	for _, tt := range pausesBesideCalls {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			inModes(t, allModes, func(t *testing.T, m mode) {
				s := newScene(t, m, twoTodos)
				got := s.ask(carryontest.Text("One."), tt.turn)

				s.requirePaused(t, got, "stuck")
				assert.Equal(t, "One.\n\nTask paused: stuck", got.Text)
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
	{"single quotes", "todo_pause('" + blocked + "')", ""},
	{"double quotes", `todo_pause("` + blocked + `")`, ""},
	{"curly quotes", "todo_pause(“" + blocked + "”)", ""},
	{"a name before the reason", "TODO_PAUSE(reason = '" + blocked + "').", ""},
	{"in backticks", "`todo_pause('" + blocked + "')`\n", ""},
	{"in a fence", "```\ntodo_pause('" + blocked + "')\n```", ""},
	{"after other text", "I can't go on.\ntodo_pause('" + blocked + "')", "I can't go on."},
}

func TestPrintedPauseCounts(t *testing.T) {
	t.Parallel()
	for _, tt := range printedPauses {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			inModes(t, allModes, func(t *testing.T, m mode) {
				for _, turn := range []carryontest.Turn{
					carryontest.Text(tt.text), carryontest.Pieces(strings.Split(tt.text, "")...), carryontest.Text(tt.text).OneChunk(),
				} {
					s := newScene(t, m, twoTodos)
					got := s.ask(carryontest.Text("One."), turn)
					s.requirePaused(t, got, blocked)
					assert.Equal(t, "stop", got.Finish)
					assert.NotContains(t, strings.ToLower(got.Text), "todo_pause")
					assert.Equal(t, strings.Fields("One. "+tt.before+" "+notice), strings.Fields(got.Text))
					assert.Len(t, s.server.Requests(), 2)
				}
			})
		})
	}
}

// notPrinted are texts that hold no such call, though they look like it.
var notPrinted = []string{
	"todo_pause('" + blocked + "') is what I would call.",
	"todo_pause(" + blocked + ")",
	"todo_pause('" + strings.Repeat("very long ", 80) + "')x",
	"todo_pause",
	"todo_",
	"`todo_pause('",
	"my_todo_pause('" + blocked + "')",
}

func TestTextThatIsNoPrintedPauseIsShown(t *testing.T) {
	t.Parallel()
	for _, text := range notPrinted {
		t.Run(text[:min(len(text), 30)], func(t *testing.T) {
			t.Parallel()
			inModes(t, allModes, func(t *testing.T, m mode) {
				s := newScene(t, m, twoTodos, within(continuation.Limits{MaxAttempts: 1}))
				got := s.ask(carryontest.Text("One."), carryontest.Pieces(strings.Split(text, "")...))
				requireComplete(t, m, got, "One.\n\n"+text, "stop")
				assert.Equal(t, continuation.ReasonMaxAttempts, got.Outcome.Reason)
			})
		})
	}
}

func TestPrintedPauseBesideACallIsText(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		text := "todo_pause('" + blocked + "')"
		got := s.ask(carryontest.Text("One."), edit().AndText(text))
		requireComplete(t, m, got, "One.\n\n"+text, "tool_calls")
		assert.Nil(t, got.Outcome.Paused)
		assert.False(t, s.state(t).Paused.IsSet())
	})
}

func TestPrintedPauseInTheCallersOwnTurnIsText(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		text := "todo_pause('" + blocked + "')"
		got := s.ask(carryontest.Text(text), edit())
		requireComplete(t, m, got, text, "tool_calls")
		assert.Nil(t, got.Outcome.Paused)
	})
}

func TestRejectedPrintedPauseIsToldInTheNextPrompt(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		got := s.ask(carryontest.Text("One."), carryontest.Text("Two. todo_pause('stuck')"), edit())
		require.NoError(t, got.Err)
		assert.NotContains(t, got.Text, "todo_pause")
		prompts := s.prompts()
		require.Len(t, prompts, 2)
		assert.Equal(t, "user", s.server.Requests()[2].Last().Role, "there is no call to answer")
		assert.Contains(t, prompts[1],
			"Previous attempt: the pause reason was rejected: Reason too brief (min 10 characters for clarity)")
		assert.Len(t, recorded[middleware.PauseRejected](s.events), 1)
	})
}

func TestSecondPrintedPauseIsAccepted(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		got := s.ask(carryontest.Text("One."), carryontest.Pause("stuck"), carryontest.Text("todo_pause('help me')"))
		s.requirePaused(t, got, "help me")
		assert.Equal(t, "One.\n\nTask paused: help me", got.Text)
	})
}

func TestToollessCallIsPausedByPrinting(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos, middleware.WithToollessCalls())
		request := ask()
		request.Tools = nil
		got := s.call(s.ctx, request, carryontest.Text("One."), carryontest.Text("todo_pause('"+blocked+"')"))
		s.requirePaused(t, got, blocked)
		assert.Equal(t, "One.\n\n"+notice, got.Text)
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
		{"short", pause.ShortNotice, "One.\n\n" + notice},
		{"full", pause.FullNotice, "One.\n\n" + pause.FullNotice(blocked, at)},
		{"none", pause.NoNotice, "One."},
		{
			"custom", func(reason string, at time.Time) string { return reason + " at " + at.Format(time.Kitchen) },
			"One.\n\n" + blocked + " at 12:00AM",
		},
		{"panicking", panicking, "One.\n\n" + notice},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			inModes(t, allModes, func(t *testing.T, m mode) {
				s := newScene(t, m, twoTodos, middleware.WithNotice(tt.notice), middleware.WithClock(carryontest.NewClock()))
				got := s.ask(carryontest.Text("One."), carryontest.Pause(blocked))
				s.requirePaused(t, got, blocked)
				assert.Equal(t, tt.want, got.Text)
				assert.Equal(t, strings.TrimPrefix(strings.TrimPrefix(tt.want, "One."), "\n\n"), got.Outcome.Paused.Message)
				assert.Equal(t, at, got.Outcome.Paused.Time)
				if tt.name == "panicking" {
					assert.Equal(t, []string{"notice"}, failures(s.events))
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
		inModes(t, allModes, func(t *testing.T, m mode) {
			s := newScene(t, m, twoTodos, middleware.WithPausePolicy(pause.Lenient))
			s.requirePaused(t, s.ask(carryontest.Text("One."), carryontest.Pause("stuck")), "stuck")
		})
	})
	t.Run("custom", func(t *testing.T) {
		t.Parallel()
		inModes(t, allModes, func(t *testing.T, m mode) {
			s := newScene(t, m, twoTodos, middleware.WithPausePolicy(picky))
			got := s.ask(carryontest.Text("One."), carryontest.Pause(blocked), carryontest.Pause("please"))
			s.requirePaused(t, got, "please")
			assert.Contains(t, s.prompts()[1], "Invalid pause reason: say please\n")
		})
	})
	t.Run("panicking", func(t *testing.T) {
		t.Parallel()
		inModes(t, allModes, func(t *testing.T, m mode) {
			s := newScene(t, m, twoTodos, middleware.WithPausePolicy(func(string) error { panic("no policy") }))
			got := s.ask(carryontest.Text("One."), carryontest.Pause(blocked))
			s.requirePaused(t, got, "Tool execution error")
			assert.Equal(t, "One.\n\nTask paused: Tool execution error", got.Text)
			assert.Equal(t, []string{"pause policy"}, failures(s.events))
		})
	})
}

func TestReasonIsShownWithoutControlCharacters(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		got := s.ask(carryontest.Text("One."), carryontest.Pause("The \x1b[31mdisk\x1b[0m is\r\n\u202efull\u0000 today"))
		s.requirePaused(t, got, "The disk is full today")
		assert.Equal(t, "One.\n\nTask paused: The disk is full today", got.Text)
	})
}

func TestPausedSessionWaitsForTheNextUserTurn(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		s.ask(carryontest.Text("One."), carryontest.Pause(blocked))
		got := s.call(s.ctx, withHistory(ask(), "call_1"), carryontest.Text("Two."))
		assert.Equal(t, continuation.ReasonPaused, got.Outcome.Reason)
		assert.Nil(t, got.Outcome.Paused, "of an earlier call")
		got = s.call(s.ctx, said(ask(), "One.", "It is there now."), carryontest.Text(plan), edit())
		assert.Equal(t, 1, got.Outcome.Attempts)
		assert.False(t, s.state(t).Paused.IsSet())
	})
}

func TestPausedSessionGoesOnAfterResume(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		s.ask(carryontest.Text("One."), carryontest.Pause(blocked))
		require.NoError(t, s.mw.Resume(s.ctx))
		got := s.call(s.ctx, withHistory(ask(), "call_1"), carryontest.Text(plan), edit())
		requireComplete(t, m, got, plan, "tool_calls")
	})
}

func TestPauseChangesNoTodo(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		todos := newList(inProgress("A"), pending("B"))
		s := newScene(t, m, todos)
		s.ask(carryontest.Text("One."), carryontest.Pause(blocked))
		left, err := todos.Todos(t.Context())
		require.NoError(t, err)
		assert.Equal(t, newList(inProgress("A"), pending("B")).todos, left)
	})
}

func TestPauseToolAlwaysKeepsThePrefixTheSame(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos, middleware.WithPauseTool(middleware.Always))
		got := s.ask(carryontest.Text("One."), carryontest.Text("Two."), edit().ID("call_1"))
		requireComplete(t, m, got, "One.\n\nTwo.", "tool_calls")
		s.call(s.ctx, withHistory(ask(), "call_1"), edit())

		requests := s.server.Requests()
		require.Len(t, requests, 4)
		assert.Equal(t, []string{"edit_file", "todo_pause"}, requests[0].Tools)
		messages := elements(t, requests[0], "messages")
		for _, request := range requests[1:] {
			assert.Equal(t, rawBody(t, requests[0])["tools"], rawBody(t, request)["tools"])
			assert.Equal(t, messages, elements(t, request, "messages")[:len(messages)])
		}
	})
}

func TestPauseToolAlwaysPausesInTheFirstTurn(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos, middleware.WithPauseTool(middleware.Always))
		got := s.ask(carryontest.Pause(blocked).AndText("One."))
		s.requirePaused(t, got, blocked)
		assert.Equal(t, "One.\n\n"+notice, got.Text)
		assert.Equal(t, "stop", got.Finish)
		assert.Empty(t, got.Calls)
		assert.Len(t, s.server.Requests(), 1)
	})
}

func TestPauseToolAlwaysAloneShowsTheNoticeAlone(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos, middleware.WithPauseTool(middleware.Always))
		got := s.ask(carryontest.Pause(blocked))
		s.requirePaused(t, got, blocked)
		assert.Equal(t, notice, got.Text)
	})
}

func TestPauseToolAlwaysIsStrippedBesideOtherCalls(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos, middleware.WithPauseTool(middleware.Always))
		got := s.ask(carryontest.Pause(blocked).AndCall("edit_file", `{"n":1}`))
		s.requirePaused(t, got, blocked)
		require.Len(t, got.Calls, 1)
		assert.Equal(t, "edit_file", got.Calls[0].Function.Name)
		assert.Equal(t, `{"n":1}`, got.Calls[0].Function.Arguments)
		assert.Equal(t, "tool_calls", got.Finish)
	})
}

func TestPauseToolAlwaysRejectsInTheFirstTurnToo(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos, middleware.WithPauseTool(middleware.Always))
		got := s.ask(carryontest.Pause("stuck"), edit())
		requireComplete(t, m, got, "", "tool_calls")
		requests := s.server.Requests()
		require.Len(t, requests, 2)
		assert.Equal(t, "tool", requests[1].Last().Role)
		assert.Equal(t, 1, got.Outcome.Attempts)
	})
}

func TestPauseToolAlwaysIsNotDeclaredOutOfScope(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos, middleware.WithPauseTool(middleware.Always))
		request := ask()
		request.ToolChoice = "required"
		s.call(s.ctx, request, edit())
		s.call(continuation.Suppress(s.ctx), ask(), carryontest.Text(plan))
		own := ask()
		own.Tools = append(own.Tools, tool("todo_pause"))
		s.call(s.ctx, own, edit())
		requests := s.server.Requests()
		assert.Equal(t, []string{"edit_file"}, requests[0].Tools)
		assert.Equal(t, []string{"edit_file"}, requests[1].Tools)
		assert.Equal(t, []string{"edit_file", "todo_pause"}, requests[2].Tools)
	})
}

func TestPauseToolAlwaysAllowsItselfAmongAllowedTools(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos, middleware.WithPauseTool(middleware.Always))
		request := ask()
		request.ToolChoice = allowed("auto")
		s.call(s.ctx, request, carryontest.Text(plan), edit())
		requests := s.server.Requests()
		require.Len(t, requests, 2)
		assert.Contains(t, string(rawBody(t, requests[0])["tool_choice"]), "todo_pause")
		assert.Equal(t, rawBody(t, requests[0])["tool_choice"], rawBody(t, requests[1])["tool_choice"])
	})
}
