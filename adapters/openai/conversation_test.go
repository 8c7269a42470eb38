package openai_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	carryopenai "github.com/carryon-go/carryon/adapters/openai"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

func ExampleWrap_listInTheConversation() {
	server := carryontest.Start(
		carryontest.Text("Next, I will fix the bug."),
		carryontest.Call("edit_file", `{"path":"parser.go"}`),
	)
	defer server.Close()
	config := openai.DefaultConfig("no key")
	config.BaseURL = server.URL()

	// All there is to set up.
	mw := middleware.New(todo.FromConversation())
	client := carryopenai.Wrap(openai.NewClientWithConfig(config), mw)

	// The agent's own messages, with the call of its own todo tool among them.
	answer, err := client.CreateChatCompletion(context.Background(), openai.ChatCompletionRequest{
		Model: "any",
		Messages: []openai.ChatCompletionMessage{
			{Role: "user", Content: "Fix the parser."},
			{Role: "assistant", ToolCalls: []openai.ToolCall{{ID: "call_1", Type: "function", Function: openai.FunctionCall{
				Name:      "write_todos",
				Arguments: `{"todos":[{"content":"Reproduce the bug","status":"completed"},{"content":"Fix it","status":"pending"}]}`,
			}}}},
			{Role: "tool", ToolCallID: "call_1", Content: "Updated the todo list."},
		},
		Tools: []openai.Tool{tool("write_todos"), tool("edit_file")},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	message := answer.Choices[0].Message
	fmt.Println(message.Content)
	fmt.Println(message.ToolCalls[0].Function.Name)
	// Output:
	// Next, I will fix the bug.
	// edit_file
}

// written returns the request with an exchange added in which the model called a todo tool.
func written(request openai.ChatCompletionRequest, name, arguments, result string) openai.ChatCompletionRequest {
	id := fmt.Sprint("call_", len(request.Messages))
	request.Messages = slices.Concat(request.Messages, []openai.ChatCompletionMessage{
		{Role: openai.ChatMessageRoleAssistant, ToolCalls: []openai.ToolCall{{
			ID: id, Type: openai.ToolTypeFunction, Function: openai.FunctionCall{Name: name, Arguments: arguments},
		}}},
		{Role: openai.ChatMessageRoleTool, ToolCallID: id, Content: result},
	})
	return request
}

// listOf is the arguments of a call that writes todos, one for each "status content".
func listOf(todos ...string) string {
	var items []string
	for _, t := range todos {
		status, content, _ := strings.Cut(t, " ")
		items = append(items, fmt.Sprintf(`{"content":%q,"status":%q}`, content, status))
	}
	return `{"todos":[` + strings.Join(items, ",") + `]}`
}

// executed returns the request with an answer of the model added, and the results of its calls.
func executed(request openai.ChatCompletionRequest, got answer) openai.ChatCompletionRequest {
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
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, todo.FromConversation())
		write := func(todos ...string) carryontest.Turn { return carryontest.Call("todo_write", listOf(todos...)) }
		s.server.Append(
			write("in_progress Write the parser", "pending Test the parser"),
			carryontest.Text("First the parser."), edit(), // stalls, and is asked once more
			write("completed Write the parser", "in_progress Test the parser"),
			carryontest.Text("The parser is written."), edit(), // and again
			write("completed Write the parser", "completed Test the parser"),
			carryontest.Text("All done."),
		)
		request := ask()
		var outcomes []middleware.Outcome
		for {
			got := s.m.call(s.ctx, s.client, request)
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
		assert.Equal(t, continuation.ReasonNoActiveTodos, outcomes[len(outcomes)-1].Reason)
		requests := s.server.Requests()
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
	active, done := listOf("pending Write the parser"), listOf("completed Write the parser")
	for name, test := range map[string]struct {
		request openai.ChatCompletionRequest
		prompts int
	}{
		"no list":               {withHistory(ask(), "call_1"), 0},
		"active":                {written(ask(), "todo_write", active, "saved"), 1},
		"done":                  {written(ask(), "todo_write", done, "saved"), 0},
		"done since":            {written(written(ask(), "todo_write", active, "saved"), "todo_write", done, "saved"), 0},
		"cleared since":         {written(written(ask(), "todo_write", active, "saved"), "todo_write", `{"todos":[]}`, "saved"), 0},
		"failed since":          {written(written(ask(), "todo_write", active, "saved"), "todo_write", done, "Error: disk full"), 1},
		"failed":                {written(ask(), "todo_write", active, `{"isError":true}`), 0},
		"unreadable since":      {written(written(ask(), "todo_write", active, "saved"), "todo_write", done[:20], "saved"), 1},
		"another user message":  {said(written(ask(), "todo_write", active, "saved"), "So far.", "Go on."), 1},
		"checklist":             {written(ask(), "update_todo_list", `{"todos":"[x] Plan\n[ ] Write the parser"}`, "saved"), 1},
		"plan":                  {written(ask(), "update_plan", `{"plan":[{"step":"Write the parser","status":"pending"}]}`, "Plan updated"), 1},
		"of the program's tool": {written(ask(), "list_work", active, "saved"), 1},
		"of no todo tool":       {written(ask(), "write_file", active, "saved"), 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inModes(t, allModes, func(t *testing.T, m mode) {
				s := newScene(t, m, todo.FromConversation(todo.WithToolNames("list_work")))
				s.server.Append(carryontest.Text(plan))
				if test.prompts > 0 {
					s.server.Append(edit())
				}
				got := s.m.call(s.ctx, s.client, test.request)
				require.NoError(t, got.Err)
				assert.Equal(t, test.prompts, got.Outcome.Attempts)
				for _, prompt := range s.prompts() {
					assert.Contains(t, prompt, "'Write the parser'")
				}
			})
		})
	}
}

func TestResultInPartsIsRead(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		request := written(written(ask(), "todo_write", listOf("pending Write the parser"), "saved"),
			"todo_write", listOf("completed Write the parser"), "")
		last := &request.Messages[len(request.Messages)-1]
		last.MultiContent = []openai.ChatMessagePart{
			{Type: openai.ChatMessagePartTypeText, Text: "Error"}, {Type: openai.ChatMessagePartTypeText, Text: ": disk full"},
		}
		s := newScene(t, m, todo.FromConversation())
		s.server.Append(carryontest.Text(plan), edit())
		assert.Equal(t, 1, s.m.call(s.ctx, s.client, request).Outcome.Attempts)
	})
}

// Some providers give parallel calls one id, or none: then the order tells whose a result is.
func TestResultsOfOneIDAreTakenInOrder(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		for _, id := range []string{"", "call_1"} {
			call := func(name, arguments string) openai.ToolCall {
				return openai.ToolCall{ID: id, Type: openai.ToolTypeFunction, Function: openai.FunctionCall{Name: name, Arguments: arguments}}
			}
			result := func(text string) openai.ChatCompletionMessage {
				return openai.ChatCompletionMessage{Role: openai.ChatMessageRoleTool, ToolCallID: id, Content: text}
			}
			request := ask()
			request.Messages = append(request.Messages,
				openai.ChatCompletionMessage{Role: openai.ChatMessageRoleAssistant, ToolCalls: []openai.ToolCall{
					call("edit_file", "{}"), call("todo_write", listOf("pending Write the parser")),
				}},
				result("Error: no such file"), result("saved"),
			)
			s := newScene(t, m, todo.FromConversation())
			s.server.Append(carryontest.Text(plan), edit())
			assert.Equal(t, 1, s.m.call(s.ctx, s.client, request).Outcome.Attempts, "id %q", id)
		}
	})
}

func TestListsOfSessionsDoNotMix(t *testing.T) {
	t.Parallel()
	const sessions, calls = 8, 4
	inModes(t, allModes, func(t *testing.T, m mode) {
		server := carryontest.NewServer(t)
		for range sessions * calls * 2 {
			server.Append(carryontest.Func(func(r carryontest.Request) carryontest.Turn {
				if !r.HasTool("todo_pause") {
					return carryontest.Text(plan)
				}
				_, after, _ := strings.Cut(r.Last().Content, "'")
				task, _, _ := strings.Cut(after, "'")
				return carryontest.Call("edit_file", fmt.Sprintf("{%q:%q}", "task", task))
			}))
		}
		client := m.clientOn(server, middleware.New(todo.FromConversation(), unhurried))
		var all sync.WaitGroup
		for i := range sessions {
			all.Go(func() {
				ctx := continuation.WithSession(t.Context(), fmt.Sprint("session ", i))
				request := ask()
				for range calls {
					task := fmt.Sprintf("Task %d of %d", len(request.Messages), i)
					request = written(request, "todo_write", listOf("pending "+task), "saved")
					got := m.call(ctx, client, request)
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

// BenchmarkListInTheHistory is what the todos of a conversation of 500 messages cost a decision.
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
			server := carryontest.NewServer(b, carryontest.Text(plan))
			_, err := typedUnary.clientOn(server, middleware.New(measure)).answer(b.Context(), longRequest(at))
			if err != nil {
				b.Fatal(err)
			}
		})
	}
}

// longRequest has 500 messages, two for each call, and a list of ten todos written at one of them.
func longRequest(at int) openai.ChatCompletionRequest {
	var todos []string
	for i := range 10 {
		todos = append(todos, fmt.Sprintf("pending step number %d of the plan", i))
	}
	request := ask()
	request.Messages = nil
	for i := range 250 {
		if i == at {
			request = written(request, "todo_write", listOf(todos...), "saved")
		} else {
			request = written(request, "edit_file", `{"path":"parser.go"}`, strings.Repeat("saved ", 50))
		}
	}
	return request
}
