package scenarios_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/origins"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/scenario"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// executed returns the request with an answer of the model and the results of its calls added.
func executed(request openai.ChatCompletionRequest, got scenario.Answer) openai.ChatCompletionRequest {
	message := openai.ChatCompletionMessage{Role: openai.ChatMessageRoleAssistant, Content: got.Text}
	for _, call := range got.Calls {
		call.Index = nil
		message.ToolCalls = append(message.ToolCalls, call)
	}
	request.Messages = append(slices.Clone(request.Messages), message)
	for _, call := range got.Calls {
		request.Messages = append(request.Messages, openai.ChatCompletionMessage{
			Role: openai.ChatMessageRoleTool, ToolCallID: call.ID, Content: "done",
		})
	}
	return request
}

func TestListInTheHistoryIsWorkedOff(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, todo.FromConversation())
		write := func(todos ...string) fakellm.Turn {
			return fakellm.Call("todo_write", scenario.TodoArguments(todos...))
		}
		s.Server.Append(
			write("in_progress Write the parser", "pending Test the parser"),
			fakellm.Text("First the parser."), scenario.Edit(), // stalls, and is asked once more
			write("completed Write the parser", "in_progress Test the parser"),
			fakellm.Text("The parser is written."), scenario.Edit(), // and again
			write("completed Write the parser", "completed Test the parser"),
			fakellm.Text("All done."),
		)
		request := scenario.Offering(scenario.Request(), "todo_write")
		var outcomes []middleware.Outcome
		for {
			got := s.Mode.Call(s.Ctx, s.Client, request)
			require.NoError(t, got.Err)
			outcomes = append(outcomes, got.Outcome)
			request = executed(request, got)
			if len(got.Calls) == 0 {
				break
			}
		}

		var attempts []int
		for _, outcome := range outcomes {
			attempts = append(attempts, outcome.Attempts)
		}
		assert.Equal(t, []int{0, 1, 0, 1, 0, 0}, attempts)
		assert.Equal(t, reasons.NoActiveTodos, outcomes[len(outcomes)-1].Reason)
		requests := s.Server.Requests()
		require.Len(t, requests, 8)
		assert.Contains(t, requests[2].Last().Content, "'Write the parser'")
		assert.Contains(t, requests[5].Last().Content, "'Test the parser'")
		for _, message := range requests[7].Messages {
			assert.NotContains(t, message.Content, "Automatic message")
		}
	})
}

func TestListInTheHistoryDecides(t *testing.T) {
	t.Parallel()
	request, write := scenario.Request, scenario.WithTodos
	active, done := scenario.TodoArguments("pending Write the parser"), scenario.TodoArguments("completed Write the parser")
	for name, test := range map[string]struct {
		request openai.ChatCompletionRequest
		prompts int
	}{
		"no list":               {scenario.WithEdit(request(), "call_1"), 0},
		"active":                {write(request(), "todo_write", active, "saved"), 1},
		"done":                  {write(request(), "todo_write", done, "saved"), 0},
		"done since":            {write(write(request(), "todo_write", active, "saved"), "todo_write", done, "saved"), 0},
		"cleared since":         {write(write(request(), "todo_write", active, "saved"), "todo_write", `{"todos":[]}`, "saved"), 0},
		"failed since":          {write(write(request(), "todo_write", active, "saved"), "todo_write", done, "Error: disk full"), 1},
		"failed":                {write(request(), "todo_write", active, `{"isError":true}`), 0},
		"unreadable since":      {write(write(request(), "todo_write", active, "saved"), "todo_write", done[:20], "saved"), 1},
		"another user message":  {scenario.WithUserMessage(write(request(), "todo_write", active, "saved"), "So far.", "Go on."), 1},
		"checklist":             {write(request(), "update_todo_list", `{"todos":"[x] Plan\n[ ] Write the parser"}`, "saved"), 1},
		"plan":                  {write(request(), "update_plan", `{"plan":[{"step":"Write the parser","status":"pending"}]}`, "Plan updated"), 1},
		"of the program's tool": {write(request(), "list_work", active, "saved"), 1},
		"of no todo tool":       {write(request(), "write_file", active, "saved"), 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
				s := scenario.New(t, m, todo.FromConversation(todo.WithToolNames("list_work")),
					middleware.WithApprovalMode(continuation.ApprovalDefault)) // in the other, a model without a list is asked
				s.Server.Append(fakellm.Text(scenario.Plan))
				if test.prompts > 0 {
					s.Server.Append(scenario.Edit())
				}
				got := s.Mode.Call(s.Ctx, s.Client, test.request)
				require.NoError(t, got.Err)
				assert.Equal(t, test.prompts, got.Outcome.Attempts)
				for _, prompt := range s.Prompts() {
					assert.Contains(t, prompt, "'Write the parser'")
				}
			})
		})
	}
}

// In a long run no turn ends in text, so no decision reads the list. When the agent then
// shortens its history, the list is still known, and that it was written in this user turn.
func TestListThatNoDecisionHasReadIsRemembered(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, todo.FromConversation(), scenario.AtMost(1), middleware.WithApprovalMode(continuation.ApprovalDefault))
		first := scenario.Request()
		first.Messages[1].Content = "Write the parser, then test it with everything that the old one could read."
		first.Tools = append(first.Tools, scenario.Tool("todo_write"))
		arguments := scenario.TodoArguments("pending Write the parser")
		require.NoError(t, s.Call(s.Ctx, first, fakellm.Call("todo_write", arguments)).Err)
		second := scenario.WithTodos(first, "todo_write", arguments, "saved")
		second.Tools = first.Tools
		require.NoError(t, s.Call(s.Ctx, second, scenario.Edit()).Err)

		shortened := first
		shortened.Messages = append(slices.Clone(first.Messages), openai.ChatCompletionMessage{
			Role: openai.ChatMessageRoleAssistant, Content: "So far the parser was begun.",
		})
		got := s.Call(s.Ctx, shortened, fakellm.Text(scenario.Plan), scenario.Edit())
		require.NoError(t, got.Err)
		assert.True(t, got.Outcome.Continued(), got.Outcome)
		assert.Equal(t, origins.EarlierRequest, got.Outcome.List.Origin.Place)
	})
}

// An agent summarizes its history, and the call that wrote the list is lost.
func TestListOfAHistoryThatWasSummarizedIsRemembered(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, todo.FromConversation(), scenario.Within(continuation.Limits{MaxAttempts: 1}))
		whole := scenario.WithTodos(scenario.Request(), "todo_write", scenario.TodoArguments("pending Write the parser"), "saved")
		first := s.Call(s.Ctx, whole, fakellm.Text(scenario.Plan), scenario.Edit())
		require.NoError(t, first.Err)
		require.True(t, first.Outcome.Continued(), first.Outcome)

		summarized := scenario.Request()
		summarized.Tools = whole.Tools
		summarized.Messages[1].Content = "This is what was done so far: nothing. Continue."
		second := s.Call(s.Ctx, summarized, fakellm.Text("Now the parser."), scenario.Edit())
		require.NoError(t, second.Err)
		assert.True(t, second.Outcome.Continued(), second.Outcome)
		assert.Equal(t, todo.Origin{Place: origins.EarlierRequest, Tool: "todo_write", Written: origins.Earlier}, second.Outcome.List.Origin)

		stranger := s.Call(continuation.WithSession(t.Context(), ""), summarized, fakellm.Text("Now the parser."))
		assert.Equal(t, reasons.NoList, stranger.Outcome.Reason)
	})
}

// A program asks for a title or a summary with the same messages but other tools: the model could do nothing about the
// list.
func TestCallBesideTheConversationIsLeftAlone(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, tool string
		want       continuation.Reason
	}{
		{"no todo tool", "summarize", reasons.NoListTool},
		{"a tool that only shows the list", "todo_read", reasons.NoListTool},
		{"another todo tool", "TaskUpdate", reasons.Satisfied},
		{"a todo tool in a namespace", "mcp__tasks__todo_write", reasons.Satisfied},
		{"a tool that calls others", "tool_call", reasons.Satisfied},
		{"a tool that finds others", "ToolSearch", reasons.Satisfied},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
				s := scenario.New(t, m, todo.FromConversation())
				request := scenario.WithTodos(scenario.Request(), "todo_write", scenario.TodoArguments("pending Write the parser"), "saved")
				request.Tools = []openai.Tool{scenario.Tool(tt.tool)}
				turns := []fakellm.Turn{fakellm.Text(scenario.Plan)}
				if tt.want == reasons.Satisfied {
					turns = append(turns, scenario.Edit())
				}
				got := s.Call(s.Ctx, request, turns...)
				require.NoError(t, got.Err)
				assert.Len(t, s.Server.Requests(), len(turns))
				if tt.want != reasons.Satisfied {
					assert.Equal(t, tt.want, got.Outcome.Reason)
					assert.Empty(t, exhaustions(s.Events))
				}
			})
		})
	}
}

func TestListsOfSessionsDoNotMix(t *testing.T) {
	t.Parallel()
	const sessions, calls = 8, 4
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		server := fakellm.NewServer(t)
		for range sessions * calls * 2 {
			server.Append(fakellm.Func(func(r fakellm.Request) fakellm.Turn {
				if !r.HasTool("todo_pause") {
					return fakellm.Text(scenario.Plan)
				}
				_, after, _ := strings.Cut(r.Last().Content, "'")
				task, _, _ := strings.Cut(after, "'")
				return fakellm.Call("edit_file", fmt.Sprintf("{%q:%q}", "task", task))
			}))
		}
		client := m.HTTPClient(server, middleware.New(todo.FromConversation(), scenario.NoInterval()))
		var all sync.WaitGroup
		for i := range sessions {
			all.Go(func() {
				ctx := continuation.WithSession(t.Context(), fmt.Sprint("session ", i))
				request := scenario.Request()
				for range calls {
					task := fmt.Sprintf("Task %d of %d", len(request.Messages), i)
					request = scenario.WithTodos(request, "todo_write", scenario.TodoArguments("pending "+task), "saved")
					got := m.Call(ctx, client, request)
					if assert.NoError(t, got.Err) && assert.Len(t, got.Calls, 1) {
						assert.Equal(t, fmt.Sprintf("{%q:%q}", "task", task), got.Calls[0].Function.Arguments)
					}
					request = executed(request, got)
				}
			})
		}
		all.Wait()
	})
}
