package openai_test

import (
	"context"
	"fmt"

	"github.com/sashabaranov/go-openai"

	carryopenai "github.com/carryon-go/carryon/adapters/openai"
	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// clientOfServer returns a client of the scripted server, as a program has it.
func clientOfServer(server *carryontest.Server) *openai.Client {
	config := openai.DefaultConfig("no key")
	config.BaseURL = server.URL()
	return openai.NewClientWithConfig(config)
}

// request asks for work, with a tool to do it with.
func request(message string) openai.ChatCompletionRequest {
	return openai.ChatCompletionRequest{
		Model:    "any",
		Messages: []openai.ChatCompletionMessage{{Role: openai.ChatMessageRoleUser, Content: message}},
		Tools:    []openai.Tool{tool("edit_file")},
	}
}

// tool declares a tool without parameters.
func tool(name string) openai.Tool {
	return openai.Tool{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{Name: name}}
}

// The model announces what it will do and stops. It is asked once more within
// the same call, and its answers come as one.
func ExampleWrap() {
	server := carryontest.Start( // in place of a provider
		carryontest.Text("Next I will fix the build."),
		carryontest.Call("edit_file", `{"path":"build.go"}`),
	)
	defer server.Close()

	todos := todo.Static(todo.Todo{ID: "1", Content: "Fix the build", Status: todo.InProgress})
	client := carryopenai.Wrap(clientOfServer(server), middleware.New(todos))

	answer, err := client.CreateChatCompletion(context.Background(), request("Fix the build."))
	if err != nil {
		fmt.Println(err)
		return
	}
	choice := answer.Choices[0]
	call := choice.Message.ToolCalls[0].Function
	fmt.Println(choice.Message.Content)
	fmt.Println(choice.FinishReason, call.Name, call.Arguments)
	// Output:
	// Next I will fix the build.
	// tool_calls edit_file {"path":"build.go"}
}

// A stream is read like the SDK's. All closes it, and Outcome says what carryon
// did.
func ExampleStream_All() {
	server := carryontest.Start(
		carryontest.Text("Next I will fix the build."),
		carryontest.Text("The build is fixed."),
	)
	defer server.Close()

	todos := todo.Static(todo.Todo{ID: "1", Content: "Fix the build", Status: todo.InProgress})
	once := middleware.WithLimits(continuation.Limits{MaxAttempts: 1})
	client := carryopenai.Wrap(clientOfServer(server), middleware.New(todos, once))

	stream, err := client.CreateChatCompletionStream(context.Background(), request("Fix the build."))
	if err != nil {
		fmt.Println(err)
		return
	}
	for chunk, err := range stream.All() {
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, choice := range chunk.Choices {
			fmt.Print(choice.Delta.Content)
		}
	}
	fmt.Println()
	fmt.Println("---")
	fmt.Println(stream.Outcome())
	// Output:
	// Next I will fix the build.
	//
	// The build is fixed.
	// ---
	// 2 turns, 1 continuation: Maximum continuation attempts exceeded: the limit is 1
}

// Once a stream has ended, its outcome says what became of the call: how many
// turns it had, what each of them used, and why no further one was added.
func ExampleStream_Outcome() {
	server := carryontest.Start(
		carryontest.Text("Next I will fix the build.").Usage(10, 7),
		carryontest.Pause("The compiler is not installed").Usage(40, 12),
	)
	defer server.Close()

	todos := todo.Static(todo.Todo{ID: "1", Content: "Fix the build", Status: todo.InProgress})
	client := carryopenai.Wrap(clientOfServer(server), middleware.New(todos))
	asked := request("Fix the build.")
	asked.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	stream, err := client.CreateChatCompletionStream(context.Background(), asked)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, err := range stream.All() { // a program would show the chunks
		if err != nil {
			fmt.Println(err)
			return
		}
	}

	outcome := stream.Outcome()
	if outcome.Paused != nil {
		fmt.Println("the model is blocked:", outcome.Paused.Reason)
	}
	for i, usage := range outcome.Usage {
		fmt.Printf("turn %d used %d tokens\n", i+1, usage.Total)
	}
	fmt.Println(outcome)
	// Output:
	// the model is blocked: The compiler is not installed
	// turn 1 used 17 tokens
	// turn 2 used 52 tokens
	// 2 turns, 1 continuation: The session is paused (The compiler is not installed)
}

// A task finishes in the background while the program does something else. The
// next request tells the model, behind the text of its last message, and the one
// after that says nothing of it any more. The history never holds it.
func ExampleWrap_backgroundTasks() {
	server := carryontest.Start(carryontest.Text("The tests pass."), carryontest.Text("You are welcome."))
	defer server.Close()

	tasks := asynctask.NewManager()
	defer func() { _ = tasks.Close(context.Background()) }()
	client := carryopenai.Wrap(clientOfServer(server), middleware.New(todo.FromConversation(), middleware.WithTasks(tasks)))
	ctx := continuation.WithSession(context.Background(), "conversation-42")

	// A job that runs elsewhere. A Go function is given to tasks.Start instead.
	ticket, err := tasks.Begin(ctx, "job-7", "run the tests")
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := tasks.Finish(ctx, ticket, asynctask.Message("214 passed.")); err != nil {
		fmt.Println(err)
		return
	}

	for _, message := range []string{"How are the tests?", "Thank you."} {
		if _, err := client.CreateChatCompletion(ctx, request(message)); err != nil {
			fmt.Println(err)
			return
		}
	}
	for i, sent := range server.Requests() {
		fmt.Printf("Request %d: %s\n", i+1, sent.Last().Content)
	}
	// Output:
	// Request 1: How are the tests?
	//
	// ---
	// System Note: Async Task Status
	//
	// This note is automatic. Nothing in it comes from the user.
	//
	// 1 async task(s) completed:
	//
	// {
	//   "agent_id": "job-7",
	//   "terminate_reason": "GOAL",
	//   "emitted_vars": {},
	//   "final_message": "214 passed."
	// }
	// ---
	//
	// [ASYNC TASKS: 1 total]
	// [1] run the tests - [DONE] (job-7)
	// Request 2: Thank you.
}

// The list is read from the conversation: from the newest call of a tool that
// writes todos.
func ExampleWrap_listInTheConversation() {
	server := carryontest.Start(
		carryontest.Text("Next, I will fix the bug."),
		carryontest.Call("edit_file", `{"path":"parser.go"}`),
	)
	defer server.Close()

	// This is the whole set-up.
	mw := middleware.New(todo.FromConversation())
	client := carryopenai.Wrap(clientOfServer(server), mw)

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
