// An agent's next call, with langchaingo.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/openai"
)

func main() {
	model, err := newModel()
	if err != nil {
		log.Fatal(err)
	}
	answer, err := model.GenerateContent(context.Background(), []llms.MessageContent{
		llms.TextParts(llms.ChatMessageTypeHuman, "Build a small web page about tea."),
		{Role: llms.ChatMessageTypeAI, Parts: []llms.ContentPart{llms.ToolCall{ID: "call_1", Type: "function", FunctionCall: &llms.FunctionCall{
			Name: "todo_write", Arguments: `{"todos":[{"id":"1","content":"Write style.css","status":"in_progress"}]}`,
		}}}},
		{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{llms.ToolCallResponse{ToolCallID: "call_1", Name: "todo_write", Content: "ok"}}},
	}, llms.WithTools([]llms.Tool{
		{Type: "function", Function: &llms.FunctionDefinition{Name: "write_file"}},
		{Type: "function", Function: &llms.FunctionDefinition{Name: "todo_write"}},
	}))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.Choices[0].Content)
	for _, call := range answer.Choices[0].ToolCalls {
		fmt.Println(call.FunctionCall.Name, call.FunctionCall.Arguments)
	}
}

func newModel() (llms.Model, error) {
	llm, err := openai.New() // reads OPENAI_API_KEY and OPENAI_BASE_URL
	return llm, err
}
