package scenarios_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/scenario"
	"github.com/carryon-go/carryon/internal/testkit/statetest"
	"github.com/carryon-go/carryon/middleware"
)

func TestStalledTurnIsContinued(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		server := fakellm.NewServer(t,
			fakellm.Text("Next I will write the parser.").Usage(10, 7),
			fakellm.Call("edit_file", `{"path":"parser.go"}`).Usage(20, 5),
		)
		request := scenario.Request()
		before := scenario.Request()
		got := m.Call(t.Context(), m.HTTPClient(server, middleware.New(scenario.TwoTodos())), request)

		require.NoError(t, got.Err)
		assert.Equal(t, "Next I will write the parser.", got.Text)
		assert.Equal(t, "tool_calls", got.Finish)
		assert.Equal(t, "chatcmpl-1", got.ID)
		require.Len(t, got.Calls, 1)
		assert.Equal(t, "edit_file", got.Calls[0].Function.Name)
		assert.Equal(t, `{"path":"parser.go"}`, got.Calls[0].Function.Arguments)
		require.NotNil(t, got.Usage)
		assert.Equal(t, 10, got.Usage.PromptTokens, "the prompt tokens of the first turn")
		assert.Equal(t, 12, got.Usage.CompletionTokens)
		if m.Streamed() {
			scenario.RequireWellFormed(t, got)
		}
		assert.Equal(t, before, request, "the caller's request is not changed")

		requests := server.Requests()
		require.Len(t, requests, 2)
		assert.Len(t, requests[0].Messages, 2)
		assert.Equal(t, []string{"edit_file"}, requests[0].Tools)
		require.Len(t, requests[1].Messages, 4)
		assert.Equal(t, requests[0].Messages, requests[1].Messages[:2])
		assert.Equal(t, "assistant", requests[1].Messages[2].Role)
		assert.Equal(t, "Next I will write the parser.", requests[1].Messages[2].Content)
		assert.Equal(t, "user", requests[1].Messages[3].Role)
		assert.Contains(t, requests[1].Messages[3].Content, "'Write the parser'")
		assert.Equal(t, []string{"edit_file", "todo_pause"}, requests[1].Tools)

		assert.Equal(t, 2, got.Outcome.Turns)
		assert.Equal(t, 1, got.Outcome.Attempts)
		assert.Equal(t, reasons.ToolCalls, got.Outcome.Reason)
		assert.Equal(t, "2 turns, 1 continuation: The continuation called a tool, so it is the program's turn",
			got.Outcome.String())
	})
}

func TestTextOfTurnsIsJoined(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		server := fakellm.NewServer(t,
			fakellm.Text("One:"), fakellm.Text("Two:"), fakellm.Text("Three:"), fakellm.Text("Four:"))
		mw := middleware.New(scenario.TwoTodos(), scenario.NoInterval())
		got := m.Call(t.Context(), m.HTTPClient(server, mw), scenario.Request())

		require.NoError(t, got.Err)
		assert.Equal(t, "One:\n\nTwo:\n\nThree:\n\nFour:", got.Text)
		assert.Equal(t, "stop", got.Finish)
		assert.Equal(t, reasons.MaxAttempts, got.Outcome.Reason)
		assert.Equal(t, 3, got.Outcome.Attempts)
		if m.Streamed() {
			scenario.RequireWellFormed(t, got)
		}
	})
}

func TestPauseEndsTheCall(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		server := fakellm.NewServer(t,
			fakellm.Text("Next I will write the parser."),
			fakellm.Pause("The grammar file grammar.ebnf is missing"))
		mw := middleware.New(scenario.TwoTodos())
		ctx := continuation.WithSession(t.Context(), "s")
		got := m.Call(ctx, m.HTTPClient(server, mw), scenario.Request())

		require.NoError(t, got.Err)
		assert.Equal(t, "Next I will write the parser.\n\nTask paused: The grammar file grammar.ebnf is missing", got.Text)
		assert.Equal(t, "stop", got.Finish)
		assert.Empty(t, got.Calls)
		assert.Equal(t, reasons.Paused, got.Outcome.Reason)
		if m.Streamed() {
			scenario.RequireWellFormed(t, got)
		}
		state, err := statetest.State(ctx, mw)
		require.NoError(t, err)
		assert.Equal(t, "The grammar file grammar.ebnf is missing", state.Paused.Reason)
	})
}
