package openai_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// types has the user of the session type a command that is right.
func (s *scene) types(t *testing.T, line string) {
	t.Helper()
	_, err := s.mw.Settings().CommandFor("s", line)
	assert.NoError(t, err, line) // may run beside the test
}

func TestCommandStopsWhatWouldBeContinuedNext(t *testing.T) {
	t.Parallel()
	const line = "/set todo-continuation off"
	for name, command := range map[string]func(*continuation.Settings) (string, error){
		"for the session": func(s *continuation.Settings) (string, error) { return s.CommandFor("s", line) },
		"for all":         func(s *continuation.Settings) (string, error) { return s.Command(line) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inModes(t, allModes, func(t *testing.T, m mode) {
				s := newScene(t, m, twoTodos)
				var answered string
				var err error
				switchOff := func() { answered, err = command(s.mw.Settings()) }
				got := s.ask(carryontest.Text("One."), then(switchOff, carryontest.Text("Two.")))
				require.NoError(t, err)
				assert.Equal(t, "todo-continuation is now false.", answered)
				requireComplete(t, m, got, "One.\n\nTwo.", "stop")
				assert.Equal(t, continuation.ReasonDisabled, got.Outcome.Reason)
				assert.Equal(t, []int{1}, attempts(s.events))

				s.types(t, "/set todo-continuation on")
				got = s.call(s.ctx, said(ask(), "Two.", "Go on."), carryontest.Text(plan), edit())
				requireComplete(t, m, got, plan, "tool_calls")
			})
		})
	}
}

// The consumer reads the first words of the continuation, and then its user types.
func TestCommandTypedWhileAContinuationStreams(t *testing.T) {
	t.Parallel()
	inModes(t, streamModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		typed := make(chan struct{})
		s.server.Append(carryontest.Text("One."), carryontest.Text("Two and three.").GateAfter(2, typed))
		stream, err := open(s.ctx, s.client, ask())
		require.NoError(t, err)
		defer stream.Close()

		var text strings.Builder
		for !strings.Contains(text.String(), "Two") {
			c, err := stream.Recv()
			require.NoError(t, err)
			text.WriteString(c.Choices[0].Delta.Content)
		}
		assert.NotContains(t, text.String(), "three", "the rest has not come yet")
		s.types(t, "/set todo-continuation off")
		close(typed)
		rest, err := readAll(stream)
		require.NoError(t, err)

		var a answer
		for _, c := range rest {
			a.add(c)
		}
		assert.Equal(t, "One.\n\nTwo and three.", text.String()+a.Text, "what is under way is not cut off")
		assert.Equal(t, "stop", a.Finish)
		assert.Equal(t, continuation.ReasonDisabled, stream.Outcome().Reason)
		assert.Len(t, s.server.Requests(), 2)
	})
}

func TestCommandTypedDuringTheWait(t *testing.T) {
	t.Parallel()
	inBubbles(t, allModes, func(t *testing.T, m mode) {
		s := newBubbleScene(t, m, twoTodos)
		s.ask(carryontest.Text(plan), edit())
		time.AfterFunc(time.Second/2, func() { s.types(t, "/set todo-continuation off") })
		got := s.ask(carryontest.Text(plan))
		requireComplete(t, m, got, plan, "stop")
		assert.Equal(t, continuation.ReasonDisabled, got.Outcome.Reason)
		assert.Len(t, s.server.Requests(), 3)
	})
}

func TestCommandSwitchesContinuationOnDuringATurn(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		s.types(t, "/set todo-continuation off")
		switchOn := func() { s.types(t, "/set todo-continuation on") }
		got := s.ask(then(switchOn, carryontest.Text(plan)), edit())
		requireComplete(t, m, got, plan, "tool_calls")
	})
}

func TestCommandChangesTheNextPrompt(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		to := func(mode string) func() { return func() { s.types(t, "/set approval-mode "+mode) } }
		got := s.ask(
			carryontest.Text("One."), then(to("yolo"), carryontest.Text("Two.")), then(to("default"), carryontest.Text("Three.")),
			carryontest.Text("Four."),
		)
		requireComplete(t, m, got, "One.\n\nTwo.\n\nThree.\n\nFour.", "stop")
		prompts := s.prompts()
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
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		var refused []error
		mistype := func() {
			settings := s.mw.Settings()
			for _, line := range []string{"/set todo-continuation nope", "/set todo-continuation off now", "/set continuation off"} {
				_, err := settings.CommandFor("s", line)
				refused = append(refused, err)
			}
			settings.SetTodoContinuation("another", false)
		}
		got := s.ask(carryontest.Text("One."), then(mistype, carryontest.Text("Two.")), edit())
		require.Len(t, refused, 3)
		for i, want := range []error{continuation.ErrSettingValue, continuation.ErrSettingValue, continuation.ErrUnknownSetting} {
			require.ErrorIs(t, refused[i], want)
		}
		requireComplete(t, m, got, "One.\n\nTwo.", "tool_calls")
	})
}

func TestCommandNamesTheSessionAsTheKeyFunctionDoes(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		key := middleware.WithSessionKey(func(ctx context.Context) string { return "user/" + continuation.Session(ctx) })
		s := newScene(t, m, twoTodos, key)
		s.types(t, "/set todo-continuation off")
		got := s.ask(carryontest.Text("One."), edit())
		requireComplete(t, m, got, "One.", "tool_calls")

		_, err := s.mw.Settings().CommandFor("user/s", "/set todo-continuation off")
		require.NoError(t, err)
		got = s.call(s.ctx, said(ask(), "One.", "Go on."), carryontest.Text("Two."))
		requireComplete(t, m, got, "Two.", "stop")
		assert.Equal(t, continuation.ReasonDisabled, got.Outcome.Reason)
	})
}

// An agent's tool loop with a list in memory, whose model is careless about arguments and stops on the way.
func TestListInMemoryWithItsTools(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		todos := todo.NewMemory()
		s := newScene(t, m, todos)
		request := ask()
		for _, d := range []todo.Definition{todo.WriteTool(), todo.ReadTool()} {
			request.Tools = append(request.Tools, openai.Tool{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{
				Name: d.Name, Description: d.Description, Parameters: d.Parameters,
			}})
		}
		s.server.Append(
			carryontest.Call("todo_write", `{"todos":"[{\"id\":1,\"content\":\"Write it\",\"status\":\"doing\"},{\"task\":\"Test it\"}]"}`),
			carryontest.Call("todo_write", `{"todos":[{"content":" "}]}`),
			carryontest.Text("It is written."), // and stops
			carryontest.Call("todo_write", `{"todos":[{"id":1,"content":"Write it","status":"done"},{"id":2,"content":"Test it","status":"DONE"}]}`),
			carryontest.Text("All done."),
		)
		var results []string
		got := s.m.call(s.ctx, s.client, request)
		for got.Err == nil && len(got.Calls) > 0 && len(results) < 9 {
			call := got.Calls[0]
			result, ok := todos.Handle(s.ctx, call.Function.Name, call.Function.Arguments)
			require.True(t, ok, call.Function.Name)
			results = append(results, result)
			request.Messages = append(request.Messages,
				openai.ChatCompletionMessage{Role: openai.ChatMessageRoleAssistant, Content: got.Text, ToolCalls: got.Calls},
				openai.ChatCompletionMessage{Role: openai.ChatMessageRoleTool, ToolCallID: call.ID, Content: result})
			got = s.m.call(s.ctx, s.client, request)
		}
		requireComplete(t, m, got, "All done.", "stop")
		assert.Equal(t, continuation.ReasonNoActiveTodos, got.Outcome.Reason)

		assert.Equal(t, []string{
			"Todo list saved: 2 todos, 2 left to do.\n" +
				`[{"id":"1","content":"Write it","status":"in_progress"},{"id":"2","content":"Test it","status":"pending"}]`,
			"Error: item 1: content is blank; send what has to be done as a string that is not blank. The todo list was not changed.",
			"Todo list saved: 2 todos, 0 left to do.\n" +
				`[{"id":"1","content":"Write it","status":"completed"},{"id":"2","content":"Test it","status":"completed"}]`,
		}, results)
		requests := s.server.Requests()
		require.Len(t, requests, 5)
		assert.Equal(t, []string{"edit_file", "todo_write", "todo_read"}, requests[0].Tools)
		assert.Contains(t, string(requests[0].Body), `"in_progress"`, "the schema goes with the tool")
		assert.Contains(t, requests[3].Last().Content, "'Write it'", "the prompt names the list's own todo")
		assert.Equal(t, []int{1}, attempts(s.events))
		assert.Empty(t, todos.Read(t.Context()), "the list is the session's")
	})
}
