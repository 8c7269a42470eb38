package openai_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/scenario"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

func TestResultInPartsIsRead(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.AllModes(), func(t *testing.T, m scenario.Mode) {
		active := scenario.TodoArguments("pending Write the parser")
		request := scenario.WithTodos(scenario.WithTodos(scenario.Request(), "todo_write", active, "saved"),
			"todo_write", scenario.TodoArguments("completed Write the parser"), "")
		last := &request.Messages[len(request.Messages)-1]
		last.MultiContent = []openai.ChatMessagePart{
			{Type: openai.ChatMessagePartTypeText, Text: "Error"}, {Type: openai.ChatMessagePartTypeText, Text: ": disk full"},
		}
		s := scenario.New(t, m, todo.FromConversation())
		s.Server.Append(fakellm.Text(scenario.Plan), scenario.Edit())
		assert.Equal(t, 1, s.Mode.Call(s.Ctx, s.Client, request).Outcome.Attempts)
	})
}

// Some providers give parallel calls one id, or none: their results are told apart by order.
func TestResultsOfOneIDAreTakenInOrder(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.AllModes(), func(t *testing.T, m scenario.Mode) {
		for _, id := range []string{"", "call_1"} {
			call := func(name, arguments string) openai.ToolCall {
				return openai.ToolCall{ID: id, Type: openai.ToolTypeFunction, Function: openai.FunctionCall{Name: name, Arguments: arguments}}
			}
			result := func(text string) openai.ChatCompletionMessage {
				return openai.ChatCompletionMessage{Role: openai.ChatMessageRoleTool, ToolCallID: id, Content: text}
			}
			request := scenario.Offering(scenario.Request(), "todo_write")
			request.Messages = append(request.Messages,
				openai.ChatCompletionMessage{Role: openai.ChatMessageRoleAssistant, ToolCalls: []openai.ToolCall{
					call("edit_file", "{}"), call("todo_write", scenario.TodoArguments("pending Write the parser")),
				}},
				result("Error: no such file"), result("saved"),
			)
			s := scenario.New(t, m, todo.FromConversation())
			s.Server.Append(fakellm.Text(scenario.Plan), scenario.Edit())
			assert.Equal(t, 1, s.Mode.Call(s.Ctx, s.Client, request).Outcome.Attempts, "id %q", id)
		}
	})
}

// BenchmarkListInTheHistory measures how long a decision reads todos from a conversation of 500 messages.
func BenchmarkListInTheHistory(b *testing.B) {
	for name, at := range map[string]int{"newest": 249, "middle": 125, "oldest": 0, "none": -1} {
		b.Run(name, func(b *testing.B) {
			provider := todo.FromConversation()
			measure := todo.ProviderFunc(func(ctx context.Context) ([]todo.Todo, error) {
				// Without the deadline of a decision, which is shorter than the benchmark.
				ctx = todo.WithConversation(b.Context(), todo.ConversationFrom(ctx))
				b.ReportAllocs()
				for b.Loop() {
					if list, err := provider.Todos(ctx); err != nil || (len(list) > 0) != (at >= 0) {
						b.Fatal(list, err)
					}
				}
				return nil, nil
			})
			server := fakellm.NewServer(b, fakellm.Text(scenario.Plan))
			_, err := scenario.TypedUnary.HTTPClient(server, middleware.New(measure)).Complete(b.Context(), longRequest(at))
			if err != nil {
				b.Fatal(err)
			}
		})
	}
}

// longRequest has 500 messages, two for each call. The call at the index writes ten todos.
func longRequest(at int) openai.ChatCompletionRequest {
	var todos []string
	for i := range 10 {
		todos = append(todos, fmt.Sprintf("pending step number %d of the plan", i))
	}
	request := scenario.Request()
	request.Messages = nil
	for i := range 250 {
		if i == at {
			request = scenario.WithTodos(request, "todo_write", scenario.TodoArguments(todos...), "saved")
		} else {
			request = scenario.WithTodos(request, "edit_file", `{"path":"parser.go"}`, strings.Repeat("saved ", 50))
		}
	}
	return request
}
