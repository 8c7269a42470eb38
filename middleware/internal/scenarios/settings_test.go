package scenarios_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/scenario"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// typeCommand types a valid command as the user of the session.
func typeCommand(t *testing.T, s *scenario.Scenario, line string) {
	t.Helper()
	_, err := s.Middleware.Settings().CommandFor(t.Context(), "s", line)
	assert.NoError(t, err, line) // it may run in another goroutine
}

func TestCommandStopsWhatWouldBeContinuedNext(t *testing.T) {
	t.Parallel()
	const line = "/set todo-continuation off"
	for name, command := range map[string]func(*middleware.Settings) (string, error){
		"for the session": func(s *middleware.Settings) (string, error) { return s.CommandFor(t.Context(), "s", line) },
		"for all":         func(s *middleware.Settings) (string, error) { return s.Command(line) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
				s := scenario.New(t, m, scenario.TwoTodos())
				var answered string
				var err error
				switchOff := func() { answered, err = command(s.Middleware.Settings()) }
				got := s.Ask(fakellm.Text("One:"), doFirst(switchOff, fakellm.Text("Two:")))
				require.NoError(t, err)
				assert.Equal(t, "todo-continuation is now false.", answered)
				scenario.RequireComplete(t, m, got, "One:\n\nTwo:", "stop")
				assert.Equal(t, reasons.Disabled, got.Outcome.Reason)
				assert.Equal(t, []int{1}, attempts(s.Events))

				typeCommand(t, s, "/set todo-continuation on")
				got = s.Call(s.Ctx, scenario.WithUserMessage(scenario.Request(), "Two:", "Go on."),
					fakellm.Text(scenario.Plan), scenario.Edit())
				scenario.RequireComplete(t, m, got, scenario.Plan, "tool_calls")
			})
		})
	}
}

// The consumer reads the first words of the continuation, then its user types.
func TestCommandTypedWhileAContinuationStreams(t *testing.T) {
	t.Parallel()
	s := scenario.New(t, scenario.TypedStream, scenario.TwoTodos())
	typed := make(chan struct{})
	s.Server.Append(fakellm.Text("One:"), fakellm.Text("Two and three.").GateAfter(2, typed))
	stream, err := scenario.Open(s.Ctx, s.Client, scenario.Request())
	require.NoError(t, err)
	defer stream.Close()

	var text strings.Builder
	for !strings.Contains(text.String(), "Two") {
		c, err := stream.Recv()
		require.NoError(t, err)
		text.WriteString(c.Choices[0].Delta.Content)
	}
	assert.NotContains(t, text.String(), "three", "the rest has not come yet")
	typeCommand(t, s, "/set todo-continuation off")
	close(typed)
	rest, err := scenario.ReadAll(stream)
	require.NoError(t, err)

	var a scenario.Answer
	for _, c := range rest {
		a.Add(c)
	}
	assert.Equal(t, "One:\n\nTwo and three.", text.String()+a.Text, "the continuation is not cut off")
	assert.Equal(t, "stop", a.Finish)
	assert.Equal(t, reasons.Disabled, stream.Outcome().Reason)
	assert.Len(t, s.Server.Requests(), 2)
}

func TestCommandTypedDuringTheWait(t *testing.T) {
	t.Parallel()
	scenario.InBubbles(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.NewInBubble(t, m, scenario.TwoTodos())
		s.Ask(fakellm.Text(scenario.Plan), scenario.Edit())
		time.AfterFunc(time.Second/2, func() { typeCommand(t, s, "/set todo-continuation off") })
		got := s.Ask(fakellm.Text(scenario.Plan))
		scenario.RequireComplete(t, m, got, scenario.Plan, "stop")
		assert.Equal(t, reasons.Disabled, got.Outcome.Reason)
		assert.Len(t, s.Server.Requests(), 3)
	})
}

func TestCommandSwitchesContinuationOnDuringATurn(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos())
		typeCommand(t, s, "/set todo-continuation off")
		switchOn := func() { typeCommand(t, s, "/set todo-continuation on") }
		got := s.Ask(doFirst(switchOn, fakellm.Text(scenario.Plan)), scenario.Edit())
		scenario.RequireComplete(t, m, got, scenario.Plan, "tool_calls")
	})
}

func TestCommandChangesTheNextPrompt(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos(), middleware.WithApprovalMode(continuation.ApprovalDefault))
		to := func(mode string) func() { return func() { typeCommand(t, s, "/set approval-mode "+mode) } }
		got := s.Ask(
			fakellm.Text("One:"), doFirst(to("yolo"), fakellm.Text("Two:")), doFirst(to("default"), fakellm.Text("Three:")),
			fakellm.Text("Four:"),
		)
		scenario.RequireComplete(t, m, got, "One:\n\nTwo:\n\nThree:\n\nFour:", "stop")
		prompts := s.Prompts()
		require.Len(t, prompts, 3)
		for i, want := range []string{
			"You have an active task that needs completion:", "CONTINUE TASK IMMEDIATELY:", "You have an active task that needs completion:",
		} {
			assert.Contains(t, prompts[i], want, "prompt %d", i+1)
		}
	})
}

func TestCommandThatIsRefusedOrForAnotherSessionChangesNothing(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos())
		var refused []error
		mistype := func() {
			settings := s.Middleware.Settings()
			for _, line := range []string{"/set todo-continuation nope", "/set todo-continuation off now", "/set continuation off"} {
				_, err := settings.CommandFor(t.Context(), "s", line)
				refused = append(refused, err)
			}
			require.NoError(t, settings.SetTodoContinuation(t.Context(), "another", false))
		}
		got := s.Ask(fakellm.Text("One:"), doFirst(mistype, fakellm.Text("Two:")), scenario.Edit())
		require.Len(t, refused, 3)
		for i, want := range []string{"invalid value of a setting", "invalid value of a setting", "unknown setting"} {
			require.ErrorContains(t, refused[i], want)
		}
		scenario.RequireComplete(t, m, got, "One:\n\nTwo:", "tool_calls")
	})
}

func TestCommandNamesTheSessionAsTheKeyFunctionDoes(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		key := middleware.WithSessionKey(func(ctx context.Context) string { return "user/" + continuation.Session(ctx) })
		s := scenario.New(t, m, scenario.TwoTodos(), key)
		typeCommand(t, s, "/set todo-continuation off")
		got := s.Ask(fakellm.Text("One:"), scenario.Edit())
		scenario.RequireComplete(t, m, got, "One:", "tool_calls")

		_, err := s.Middleware.Settings().CommandFor(t.Context(), "user/s", "/set todo-continuation off")
		require.NoError(t, err)
		got = s.Call(s.Ctx, scenario.WithUserMessage(scenario.Request(), "One:", "Go on."), fakellm.Text("Two:"))
		scenario.RequireComplete(t, m, got, "Two:", "stop")
		assert.Equal(t, reasons.Disabled, got.Outcome.Reason)
	})
}

// The tool loop of an agent with a list in memory. Its model writes careless arguments and stops before the end.
func TestListInMemoryWithItsTools(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		todos := todo.NewMemory()
		s := scenario.New(t, m, todos)
		request := scenario.Request()
		for _, d := range []todo.Definition{todo.WriteTool(), todo.ReadTool()} {
			request.Tools = append(request.Tools, openai.Tool{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{
				Name: d.Name, Description: d.Description, Parameters: d.Parameters,
			}})
		}
		s.Server.Append(
			fakellm.Call("todo_write", `{"todos":"[{\"id\":1,\"content\":\"Write it\",\"status\":\"doing\"},{\"task\":\"Test it\"}]"}`),
			fakellm.Call("todo_write", `{"todos":[{"content":" "}]}`),
			fakellm.Text("It is written."), // and stops
			fakellm.Call("todo_write", `{"todos":[{"id":1,"content":"Write it","status":"done"},{"id":2,"content":"Test it","status":"DONE"}]}`),
			fakellm.Text("All done."),
		)
		var results []string
		got := s.Mode.Call(s.Ctx, s.Client, request)
		for got.Err == nil && len(got.Calls) > 0 && len(results) < 9 {
			call := got.Calls[0]
			result, ok := todos.Handle(s.Ctx, call.Function.Name, call.Function.Arguments)
			require.True(t, ok, call.Function.Name)
			results = append(results, result)
			request.Messages = append(request.Messages,
				openai.ChatCompletionMessage{Role: openai.ChatMessageRoleAssistant, Content: got.Text, ToolCalls: got.Calls},
				openai.ChatCompletionMessage{Role: openai.ChatMessageRoleTool, ToolCallID: call.ID, Content: result})
			got = s.Mode.Call(s.Ctx, s.Client, request)
		}
		scenario.RequireComplete(t, m, got, "All done.", "stop")
		assert.Equal(t, reasons.NoActiveTodos, got.Outcome.Reason)

		assert.Equal(t, []string{
			"Todo list saved: 2 todos, 2 left to do.\n" +
				`[{"id":"1","content":"Write it","status":"in_progress"},{"id":"2","content":"Test it","status":"pending"}]`,
			"Error: item 1: content is missing or blank; send what has to be done as a string that is not blank. The todo list was not changed.",
			"Todo list saved: 2 todos, 0 left to do.\n" +
				`[{"id":"1","content":"Write it","status":"completed"},{"id":"2","content":"Test it","status":"completed"}]`,
		}, results)
		requests := s.Server.Requests()
		require.Len(t, requests, 5)
		assert.Equal(t, []string{"edit_file", "todo_write", "todo_read"}, requests[0].Tools)
		assert.Contains(t, string(requests[0].Body), `"in_progress"`, "the schema is sent with the tool")
		assert.Contains(t, requests[3].Last().Content, "'Write it'", "the prompt names the list's own todo")
		assert.Equal(t, []int{1}, attempts(s.Events))
		assert.Empty(t, todos.Read(t.Context()), "the list is the session's")
	})
}
