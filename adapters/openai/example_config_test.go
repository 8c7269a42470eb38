package openai_test

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/sashabaranov/go-openai"

	carryopenai "github.com/carryon-go/carryon/adapters/openai"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// A program that makes its client with go-openai's NewClientWithConfig changes
// in this one line: what it gets is an *openai.Client still.
func ExampleNewClientWithConfig() {
	server := carryontest.Start( // in place of a provider
		carryontest.Text("Next I will fix the build."),
		carryontest.Call("edit_file", `{"path":"build.go"}`).WholeCalls(),
	)
	defer server.Close()
	config := openai.DefaultConfig("no key")
	config.BaseURL = server.URL()

	todos := todo.Static(todo.Todo{ID: "1", Content: "Fix the build", Status: todo.InProgress})
	client := carryopenai.NewClientWithConfig(config, middleware.New(todos))

	ctx, outcomes := middleware.Capture(context.Background())
	stream, err := client.CreateChatCompletionStream(ctx, openai.ChatCompletionRequest{
		Model:    "any",
		Messages: []openai.ChatCompletionMessage{{Role: "user", Content: "Fix the build."}},
		Tools:    []openai.Tool{{Type: "function", Function: &openai.FunctionDefinition{Name: "edit_file"}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer stream.Close()
	for {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, choice := range chunk.Choices {
			fmt.Print(choice.Delta.Content)
			for _, call := range choice.Delta.ToolCalls {
				fmt.Print(" ", call.Function.Name, " ", call.Function.Arguments)
			}
		}
	}
	fmt.Println()
	fmt.Println(outcomes.Last())
	// Output:
	// Next I will fix the build. edit_file {"path":"build.go"}
	// 2 turns, 1 continuation: The continuation called a tool, so it is the program's turn
}
