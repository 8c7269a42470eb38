package todo_test

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sashabaranov/go-openai"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/todo"
)

func ExampleMemory() {
	todos := todo.NewMemory()

	// Usually set once per request, where the user is known.
	alice := continuation.WithSession(context.Background(), "alice")
	bob := continuation.WithSession(context.Background(), "bob")

	err := todos.Write(alice, []todo.Todo{
		{Content: "Reproduce the bug", Status: todo.Completed},
		{Content: "Fix it"},
	})
	fmt.Println(err)
	for _, t := range todos.Read(alice) {
		fmt.Println(t.ID, t.Status, t.Content)
	}
	fmt.Println(len(todos.Read(bob)))
	// Output:
	// <nil>
	// 1 completed Reproduce the bug
	// 2 pending Fix it
	// 0
}

func ExampleMemory_Handle() {
	todos := todo.NewMemory(todo.WithOneConversation())
	ctx := context.Background()

	calls := []todo.Call{ // as a model sends them
		{Name: "todo_write", Arguments: `{"todos":[{"id":1,"content":"Fix the bug","status":"doing"}]}`},
		{Name: "todo_write", Arguments: `{"todos":[{"id":1,"status":"done"}]}`},
		{Name: "todo_read", Arguments: `{}`},
		{Name: "search", Arguments: `{"query":"bug"}`},
	}
	for _, call := range calls {
		if out, ok := todos.Handle(ctx, call.Name, call.Arguments); ok {
			fmt.Println(out)
			continue
		}
		fmt.Println("one of the program's own tools:", call.Name)
	}
	// Output:
	// Todo list saved: 1 todo, 1 left to do.
	// [{"id":"1","content":"Fix the bug","status":"in_progress"}]
	// Error: item 1: content is missing or blank; send what has to be done as a string that is not blank. The todo list was not changed.
	// [{"id":"1","content":"Fix the bug","status":"in_progress"}]
	// one of the program's own tools: search
}

// The two tools in an SDK's own type, here go-openai's, next to the program's own
// tools. Memory.Handle answers their calls.
func ExampleWriteTool() {
	tools := []openai.Tool{{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{Name: "edit_file"}}}
	for _, tool := range []todo.Definition{todo.WriteTool(), todo.ReadTool()} {
		tools = append(tools, openai.Tool{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{
			Name: tool.Name, Description: tool.Description, Parameters: tool.Parameters,
		}})
	}
	for _, tool := range tools {
		fmt.Println(tool.Function.Name)
	}

	todos := todo.NewMemory(todo.WithOneConversation())
	call := openai.FunctionCall{Name: "todo_write", Arguments: `{"todos":["Reproduce the bug","Fix it"]}`}
	if result, ok := todos.Handle(context.Background(), call.Name, call.Arguments); ok {
		fmt.Println(result)
	}
	// Output:
	// edit_file
	// todo_write
	// todo_read
	// Todo list saved: 2 todos, 2 left to do.
	// [{"id":"1","content":"Reproduce the bug","status":"pending"},{"id":"2","content":"Fix it","status":"pending"}]
}

func ExampleMemory_Subscribe() {
	todos := todo.NewMemory()
	cancel := todos.Subscribe(func(session string, list []todo.Todo) {
		fmt.Printf("%q has %d todos\n", session, len(list))
	})
	ctx := continuation.WithSession(context.Background(), "alice")
	_ = todos.Write(ctx, []todo.Todo{{Content: "Fix the bug"}})
	_ = todos.Forget(ctx)
	cancel()
	_ = todos.Write(ctx, []todo.Todo{{Content: "Not seen"}})
	// Output:
	// "alice" has 1 todos
	// "alice" has 0 todos
}

func ExampleNewMemory() {
	todos := todo.NewMemory(
		todo.WithMaxSessions(1000),
		todo.OnPanic(func(session string, recovered any) { fmt.Println(session, recovered) }),
	)
	ctx := continuation.WithSession(context.Background(), "alice")
	fmt.Println(todos.Write(ctx, []todo.Todo{{Content: "one"}, {Content: " "}}))
	// Output:
	// todo: item 2: content is missing or blank; send what has to be done as a string that is not blank
}

// A program with one conversation needs no sessions, and says so.
func ExampleWithOneConversation() {
	ctx := context.Background()
	list := []todo.Todo{{Content: "Fix the bug"}}
	fmt.Println(todo.NewMemory(todo.WithOneConversation()).Write(ctx, list))
	fmt.Println(errors.Is(todo.NewMemory().Write(ctx, list), todo.ErrNoSession))
	// Output:
	// <nil>
	// true
}

// Spellings of a status that people and other tools use.
func ExampleParseStatus() {
	for _, text := range []string{"In Progress", "DONE", "not_started", "later"} {
		status, known := todo.ParseStatus(text)
		fmt.Println(status, known, status.Active())
	}
	// Output:
	// in_progress true true
	// completed true false
	// pending true true
	// later false false
}

func ExampleProviderFunc() {
	// Any store will do. This one has a list for one user.
	store := map[string][]todo.Todo{
		"alice": {{ID: "t-17", Content: "Fix the bug", Status: todo.InProgress}},
	}
	var provider todo.Provider = todo.ProviderFunc(func(ctx context.Context) ([]todo.Todo, error) {
		return store[continuation.Session(ctx)], ctx.Err()
	})

	list, err := provider.Todos(continuation.WithSession(context.Background(), "alice"))
	fmt.Println(list, err)
	// Output:
	// [{t-17 Fix the bug in_progress   }] <nil>
}

func ExampleStatic() {
	provider := todo.Static(
		todo.Todo{ID: "1", Content: "Reproduce the bug", Status: todo.Completed},
		todo.Todo{ID: "2", Content: "Fix it", Status: todo.Pending},
	)
	list, _ := provider.Todos(context.Background())
	for _, t := range list {
		fmt.Println(t.Content, t.Status.Active())
	}
	// Output:
	// Reproduce the bug false
	// Fix it true
}

func ExampleParseList() {
	list, err := todo.ParseList(`{"todos":"[{\"task\":\"Fix the bug\",\"status\":\"In Progress\"}]"}`)
	fmt.Printf("%+v %v\n", list, err)

	_, err = todo.ParseList(`[{"content":"Fix the bug","status":2}]`)
	var refused *todo.ArgumentsError
	fmt.Println(errors.As(err, &refused), err)
	// Output:
	// [{ID:1 Content:Fix the bug Status:in_progress Priority: Owner: BlockedBy:}] <nil>
	// true todo: item 1: status is a number; send one of pending, in_progress, completed, cancelled
}

func ExampleConversationFrom() {
	// A provider of your own that finds the last plan in the messages.
	provider := todo.ProviderFunc(func(ctx context.Context) ([]todo.Todo, error) {
		for call := range todo.ConversationFrom(ctx) {
			if call.Name == "make_plan" && call.Answered {
				return todo.ParseList(call.Arguments)
			}
		}
		return nil, nil
	})

	ctx := todo.WithConversation(context.Background(), func(yield func(todo.Call) bool) {
		yield(todo.Call{Name: "make_plan", Arguments: `{"steps":["Fix the bug"]}`, Answered: true})
	})
	fmt.Println(provider.Todos(ctx))
	// Output:
	// [{1 Fix the bug pending   }] <nil>
}

func ExampleFromConversation() {
	todos := todo.FromConversation() // all that middleware.New needs

	// An adapter does this with the tool calls of the request, newest first.
	ctx := todo.WithConversation(context.Background(), slices.Values([]todo.Call{
		{Name: "edit_file", Arguments: `{"path":"parser.go"}`, Result: "saved", Answered: true},
		{Name: "todo_write", Arguments: `{"todos":[]}`, Result: "Error: disk full", Answered: true},
		{
			Name:      "todo_write",
			Arguments: `{"todos":[{"content":"Reproduce the bug","status":"completed"},{"content":"Fix it","status":"in_progress"}]}`,
			Result:    "Todo list saved.", Answered: true,
		},
	}))
	list, err := todos.Todos(ctx)
	for _, t := range list {
		fmt.Println(t.ID, t.Status, t.Content)
	}
	fmt.Println(err)
	// Output:
	// 1 completed Reproduce the bug
	// 2 in_progress Fix it
	// <nil>
}

func ExampleWithToolNames() {
	todos := todo.FromConversation(todo.WithToolNames("note_work"))
	ctx := todo.WithConversation(context.Background(), slices.Values([]todo.Call{
		{Name: "note_work", Arguments: `{"items":["Fix the bug"]}`},
	}))
	fmt.Println(todos.Todos(ctx))
	// Output:
	// [{1 Fix the bug pending   }] <nil>
}
