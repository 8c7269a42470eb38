package carryontest_test

import (
	"context"
	"fmt"
	"time"

	openai "github.com/sashabaranov/go-openai"

	"github.com/carryon-go/carryon/carryontest"
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

func ExampleClock() {
	clock := carryontest.NewClock()
	clock.AfterFunc(time.Minute, func() { fmt.Println("minute:", clock.Now().Format(time.TimeOnly)) })
	hour := clock.AfterFunc(time.Hour, func() { fmt.Println("never") })

	clock.Advance(30 * time.Second)
	fmt.Println("waiting:", clock.Waiters())
	clock.Advance(30 * time.Second)
	fmt.Println("stopped:", hour.Stop())
	// Output:
	// waiting: 2
	// minute: 00:01:00
	// stopped: true
}
