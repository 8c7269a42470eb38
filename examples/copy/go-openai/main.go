// An agent on go-openai that works until its todo list is done. Copy this file, set OPENAI_API_KEY, and run it:
//
//	go mod init agent && go mod tidy && go run . "Write a small web page about tea: index.html, style.css, app.js."
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/sashabaranov/go-openai"

	carryopenai "github.com/carryon-go/carryon/adapters/openai"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

func main() {
	ctx, outcomes := middleware.Capture(context.Background())
	todos := todo.NewMemory(todo.WithOneConversation())
	config := openai.DefaultConfig(os.Getenv("OPENAI_API_KEY"))
	config.BaseURL = cmp.Or(os.Getenv("OPENAI_BASE_URL"), config.BaseURL)
	client := carryopenai.Wrap(openai.NewClientWithConfig(config), middleware.New(todos)) // the line for carryon

	request := openai.ChatCompletionRequest{
		Model:    cmp.Or(os.Getenv("OPENAI_MODEL"), "gpt-4.1"),
		Messages: []openai.ChatCompletionMessage{{Role: "user", Content: strings.Join(os.Args[1:], " ")}},
	}
	for _, d := range []todo.Definition{todo.WriteTool(), writeFile()} {
		request.Tools = append(request.Tools, openai.Tool{Type: "function", Function: &openai.FunctionDefinition{
			Name: d.Name, Description: d.Description, Parameters: d.Parameters,
		}})
	}
	for {
		answer, err := client.CreateChatCompletion(ctx, request)
		if err != nil {
			log.Fatal(err)
		}
		message := answer.Choices[0].Message
		request.Messages = append(request.Messages, message)
		fmt.Println(message.Content)
		fmt.Println("carryon:", outcomes.Last())
		if len(message.ToolCalls) == 0 {
			return
		}
		for _, call := range message.ToolCalls {
			result, ok := todos.Handle(ctx, call.Function.Name, call.Function.Arguments)
			if !ok {
				result = write(call.Function.Arguments)
			}
			request.Messages = append(request.Messages, openai.ChatCompletionMessage{Role: "tool", ToolCallID: call.ID, Content: result})
		}
	}
}

func writeFile() todo.Definition {
	return todo.Definition{Name: "write_file", Description: "Write a text file into the current folder.", Parameters: json.RawMessage(
		`{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]}`)}
}

func write(arguments string) string {
	var file struct{ Path, Content string }
	if err := json.Unmarshal([]byte(arguments), &file); err != nil {
		return err.Error()
	}
	if !filepath.IsLocal(file.Path) {
		return "The path is outside of the current folder."
	}
	if err := os.WriteFile(file.Path, []byte(file.Content), 0o600); err != nil {
		return err.Error()
	}
	return "ok"
}
