// An agent's next call, with go-openai.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/sashabaranov/go-openai"
)

func main() {
	config := openai.DefaultConfig(os.Getenv("OPENAI_API_KEY"))
	config.BaseURL = os.Getenv("OPENAI_BASE_URL")
	client := openai.NewClientWithConfig(config)

	answer, err := client.CreateChatCompletion(context.Background(), openai.ChatCompletionRequest{
		Model: "gpt-4.1",
		Messages: []openai.ChatCompletionMessage{
			{Role: "user", Content: "Build a small web page about tea."},
			{Role: "assistant", ToolCalls: []openai.ToolCall{{ID: "call_1", Type: "function", Function: openai.FunctionCall{
				Name: "todo_write", Arguments: `{"todos":[{"id":"1","content":"Write style.css","status":"in_progress"}]}`,
			}}}},
			{Role: "tool", ToolCallID: "call_1", Content: "ok"},
		},
		Tools: []openai.Tool{
			{Type: "function", Function: &openai.FunctionDefinition{Name: "write_file"}},
			{Type: "function", Function: &openai.FunctionDefinition{Name: "todo_write"}},
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	message := answer.Choices[0].Message
	fmt.Println(message.Content)
	for _, call := range message.ToolCalls {
		fmt.Println(call.Function.Name, call.Function.Arguments)
	}
}
