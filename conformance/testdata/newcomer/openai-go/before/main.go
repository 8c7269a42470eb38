// An agent's next call, with the official openai-go.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/openai/openai-go/v3"
)

func main() {
	client := openai.NewClient() // reads OPENAI_API_KEY and OPENAI_BASE_URL

	answer, err := client.Chat.Completions.New(context.Background(), openai.ChatCompletionNewParams{
		Model: "gpt-4.1",
		Messages: []openai.ChatCompletionMessageParamUnion{
			openai.UserMessage("Build a small web page about tea."),
			{OfAssistant: &openai.ChatCompletionAssistantMessageParam{
				ToolCalls: []openai.ChatCompletionMessageToolCallUnionParam{{
					OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{
						ID: "call_1", Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{
							Name: "todo_write", Arguments: `{"todos":[{"id":"1","content":"Write style.css","status":"in_progress"}]}`,
						},
					},
				}},
			}},
			openai.ToolMessage("ok", "call_1"),
		},
		Tools: []openai.ChatCompletionToolUnionParam{
			openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{Name: "write_file"}),
			openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{Name: "todo_write"}),
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
