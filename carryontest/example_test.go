package carryontest_test

import (
	"context"
	"fmt"
	"net/http"

	openai "github.com/sashabaranov/go-openai"

	carryopenai "github.com/carryon-go/carryon/adapters/openai"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

func ExampleServer() {
	server := carryontest.Start(
		carryontest.Call("edit_file", `{"path":"build.go"}`),
		carryontest.Text("The build is fixed."),
	)
	defer server.Close()
	config := openai.DefaultConfig("no key")
	config.BaseURL = server.URL()
	client := openai.NewClientWithConfig(config)

	messages := []openai.ChatCompletionMessage{{Role: "user", Content: "Fix the build."}}
	for range 2 {
		request := openai.ChatCompletionRequest{Model: "any", Messages: messages}
		answer, err := client.CreateChatCompletion(context.Background(), request)
		if err != nil {
			fmt.Println(err)
			return
		}
		message := answer.Choices[0].Message
		fmt.Printf("%s: %q\n", answer.Choices[0].FinishReason, message.Content)
		messages = append(messages, message)
	}
	fmt.Println(server.Requests()[1].Last().ToolCalls[0].Arguments)
	// Output:
	// tool_calls: ""
	// stop: "The build is fixed."
	// {"path":"build.go"}
}

// Outside tests, the program must close the server. Each request takes the next turn
// of the script, whichever client sends it.
func ExampleStart() {
	server := carryontest.Start(
		carryontest.Text("Good morning.").Usage(9, 3),
		carryontest.Status(http.StatusTooManyRequests, `{"error":{"message":"Slow down."}}`),
	)
	defer server.Close()
	config := openai.DefaultConfig("no key")
	config.BaseURL = server.URL()
	client := openai.NewClientWithConfig(config)

	for range 3 {
		answer, err := client.CreateChatCompletion(context.Background(), openai.ChatCompletionRequest{
			Model:    "any",
			Messages: []openai.ChatCompletionMessage{{Role: "user", Content: "Hello."}},
		})
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(answer.Choices[0].Message.Content, answer.Usage.TotalTokens, "tokens")
	}
	// Output:
	// Good morning. 12 tokens
	// error, status code: 429, status: 429 Too Many Requests, message: Slow down.
	// error, status code: 500, status: 500 Internal Server Error, message: carryontest: no turn left for request 3
}

// In memory there is no socket and no port, and the URL need not exist.
func ExampleServer_Transport() {
	server := carryontest.Start(carryontest.Text("Good morning."))
	defer server.Close()
	config := openai.DefaultConfig("no key")
	config.BaseURL = carryontest.BaseURL
	config.HTTPClient = &http.Client{Transport: server.Transport()}

	answer, err := openai.NewClientWithConfig(config).CreateChatCompletion(context.Background(), openai.ChatCompletionRequest{
		Model:    "any",
		Messages: []openai.ChatCompletionMessage{{Role: "user", Content: "Hello."}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer.Choices[0].Message.Content)
	// Output: Good morning.
}

// A test of an agent can compare all that happened at once.
func ExampleNewRecorder() {
	server := carryontest.Start(
		carryontest.Text("Next I will fix the build."),
		carryontest.Call("edit_file", `{"path":"build.go"}`),
	)
	defer server.Close()
	config := openai.DefaultConfig("no key")
	config.BaseURL = server.URL()

	recorder := carryontest.NewRecorder()
	todos := todo.Static(todo.Todo{ID: "1", Content: "Fix the build", Status: todo.InProgress})
	mw := middleware.New(todos, middleware.WithObserver(recorder.Observer()))
	client := carryopenai.NewClientWithConfig(config, mw)

	_, err := client.CreateChatCompletion(context.Background(), openai.ChatCompletionRequest{
		Model:    "any",
		Messages: []openai.ChatCompletionMessage{{Role: "user", Content: "Fix the build."}},
		Tools:    []openai.Tool{{Type: "function", Function: &openai.FunctionDefinition{Name: "edit_file"}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, line := range recorder.Lines() {
		fmt.Println(line)
	}
	// Output:
	// turn 1 ended: stop
	// turn 1 decided: All continuation conditions satisfied
	// turn 2 started: attempt 1, todo 1
	// turn 2 ended: tool_calls, 1 tool call
	// turn 2 decided: Tool calls were made during stream - no continuation needed
}

func ExampleFunc() {
	server := carryontest.Start(carryontest.Func(func(r carryontest.Request) carryontest.Turn {
		if r.HasTool("todo_pause") {
			return carryontest.Pause("no permission to write")
		}
		return carryontest.Text("You said: " + r.Last().Content)
	}))
	defer server.Close()
	config := openai.DefaultConfig("no key")
	config.BaseURL = server.URL()

	answer, err := openai.NewClientWithConfig(config).CreateChatCompletion(context.Background(), openai.ChatCompletionRequest{
		Model:    "any",
		Messages: []openai.ChatCompletionMessage{{Role: "user", Content: "Go on."}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer.Choices[0].Message.Content)
	// Output: You said: Go on.
}
