package scenarios_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/scenario"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/pause"
)

func TestEarlierPromptsAreNotRepeated(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos())
		s.Ask(fakellm.Text("One. "), fakellm.Text("Two:\n"), fakellm.Text("Three:"), scenario.Edit())

		requests := s.Server.Requests()
		require.Len(t, requests, 4)
		want := []string{"One.", "One. \n\nTwo:", "One. \n\nTwo:\n\nThree:"}
		for i, request := range requests[1:] {
			require.Len(t, request.Messages, 4, "request %d", i+2)
			assert.Equal(t, requests[0].Messages, request.Messages[:2])
			assert.Equal(t, fakellm.Message{Role: "assistant", Content: want[i]}, request.Messages[2])
			assert.Equal(t, "user", request.Messages[3].Role)
			assert.Equal(t, []string{"edit_file", pause.ToolName}, request.Tools, "declared once")
		}
	})
}

func TestPromptsSayWhichAttemptTheyAreAndWhatCameOfTheLast(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos(), middleware.WithApprovalMode(continuation.ApprovalDefault))
		s.Ask(fakellm.Text("One:"), fakellm.Text("Two:"), scenario.Edit())
		prompts := s.Prompts()
		require.Len(t, prompts, 2)
		for _, prompt := range prompts {
			assert.True(t, strings.HasPrefix(prompt, continuation.PromptPreamble))
			assert.Contains(t, prompt, "'Write the parser'")
		}
		assert.NotContains(t, prompts[0], "attempt #")
		assert.NotContains(t, prompts[0], "Previous attempt")
		assert.Contains(t, prompts[1], "continuation attempt #2")
		assert.Contains(t, prompts[1], "Previous attempt: no tool was called and no todo changed")
	})
}

func TestApprovalModeOfTheSessionChoosesThePrompt(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos())
		require.NoError(t, s.Middleware.Settings().SetApprovalMode(t.Context(), "s", continuation.ApprovalYOLO))
		s.Ask(fakellm.Text("One:"), scenario.Edit())
		assert.Contains(t, s.Prompts()[0], "CONTINUE TASK IMMEDIATELY:")
	})
}

func TestPauseToolIsNotAddedToAFullList(t *testing.T) {
	t.Parallel()
	for count, want := range map[int]int{127: 128, 128: 128, 129: 129} {
		t.Run(strconv.Itoa(count), func(t *testing.T) {
			t.Parallel()
			scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
				s := scenario.New(t, m, scenario.TwoTodos())
				request := scenario.Request()
				request.Tools = nil
				for i := range count {
					request.Tools = append(request.Tools, scenario.Tool(fmt.Sprintf("tool_%d", i)))
				}
				s.Call(s.Ctx, request, fakellm.Text(scenario.Plan), fakellm.Call("tool_1", "{}"))
				requests := s.Server.Requests()
				require.Len(t, requests, 2)
				assert.Len(t, requests[1].Tools, want)
			})
		})
	}
}

func TestTodoPauseOfTheCallersOwnIsTheirs(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"todo_pause", "TODO_PAUSE"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
				s := scenario.New(t, m, scenario.TwoTodos())
				request := scenario.Request()
				request.Tools = append(request.Tools, scenario.Tool(name))
				call := fakellm.Call(name, `{"reason":"The disk is full, nothing can be written"}`)
				got := s.Call(s.Ctx, request, fakellm.Text(scenario.Plan), call)

				scenario.RequireComplete(t, m, got, scenario.Plan, "tool_calls")
				require.Len(t, got.Calls, 1)
				assert.Equal(t, name, got.Calls[0].Function.Name)
				assert.Equal(t, reasons.ToolCalls, got.Outcome.Reason)
				assert.Nil(t, got.Outcome.Paused)
				assert.False(t, s.State(t).Paused.IsSet())
				requests := s.Server.Requests()
				require.Len(t, requests, 2)
				assert.Equal(t, []string{"edit_file", name}, requests[1].Tools, "none is added")
			})
		})
	}
}

// If the program declares its own todo_pause, a printed call is text: the model may be explaining it.
func TestPrintedCallOfTheCallersOwnTodoPauseIsText(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos(), scenario.Within(continuation.Limits{MaxAttempts: 1}))
		request := scenario.Request()
		request.Tools = append(request.Tools, scenario.Tool("todo_pause"))
		const printed = "todo_pause('The disk is full, nothing can be written')"
		got := s.Call(s.Ctx, request, scenario.Texts(scenario.Plan, printed)...)
		scenario.RequireComplete(t, m, got, scenario.Plan+"\n\n"+printed, "stop")
		assert.Nil(t, got.Outcome.Paused)
	})
}

func TestOnlyContinuationsAreMarked(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos())
		s.Ask(fakellm.Text("One:"), fakellm.Text("Two:"), scenario.Edit())
		assert.Equal(t, []scenario.Mark{
			{},
			{TurnID: continuation.TurnID{Session: "s", Call: 1, Turn: 2, Attempt: 1}, Set: true},
			{TurnID: continuation.TurnID{Session: "s", Call: 1, Turn: 3, Attempt: 2}, Set: true},
		}, s.Transport.Marks())
	})
}
