// Command quickstart is an agent on go-openai that works until its todo list is done. Copy this file into an empty folder,
// get the module as the README describes under Install, set OPENAI_API_KEY, and OPENAI_BASE_URL for an endpoint of your
// own, and run it:
//
//	go mod tidy && go run .
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/sashabaranov/go-openai"

	carryopenai "github.com/carryon-go/carryon/adapters/openai"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

func main() {
	key := os.Getenv("OPENAI_API_KEY")
	if key == "" {
		log.Fatal("Set OPENAI_API_KEY. Without a key, \"make demo\" in a clone shows what carryon does.")
	}
	config := openai.DefaultConfig(key)
	config.BaseURL = cmp.Or(os.Getenv("OPENAI_BASE_URL"), config.BaseURL)
	todos := todo.NewMemory(todo.WithOneConversation())
	client := carryopenai.Wrap(openai.NewClientWithConfig(config), middleware.New(todos)) // the line for carryon
	ctx, outcomes := middleware.Capture(context.Background())

	request := openai.ChatCompletionRequest{
		Model:    cmp.Or(os.Getenv("OPENAI_MODEL"), "gpt-4.1"),
		Messages: []openai.ChatCompletionMessage{{Role: "user", Content: "Write a small web page about tea: index.html, style.css, app.js."}},
	}
	file := json.RawMessage(`{"type":"object","required":["path","content"],
		"properties":{"path":{"type":"string"},"content":{"type":"string"}}}`)
	for _, d := range []todo.Definition{todo.WriteTool(), {Name: "write_file", Parameters: file}} {
		function := openai.FunctionDefinition{Name: d.Name, Description: d.Description, Parameters: d.Parameters}
		request.Tools = append(request.Tools, openai.Tool{Type: "function", Function: &function})
	}
	for {
		answer, err := client.CreateChatCompletion(ctx, request)
		if err != nil {
			log.Fatal(err)
		}
		message := answer.Choices[0].Message
		request.Messages = append(request.Messages, message)
		fmt.Printf("%s\ncarryon: %s\n", message.Content, outcomes.Last())
		if len(message.ToolCalls) == 0 {
			return
		}
		for _, call := range message.ToolCalls {
			result, ok := todos.Handle(ctx, call.Function.Name, call.Function.Arguments)
			if !ok {
				result = writeFile(call.Function.Arguments)
			}
			request.Messages = append(request.Messages, openai.ChatCompletionMessage{Role: "tool", ToolCallID: call.ID, Content: result})
		}
	}
}

// writeFile writes a file into the current folder or one below it, and returns what the model is told.
func writeFile(arguments string) string {
	var file struct{ Path, Content string }
	err := json.Unmarshal([]byte(arguments), &file)
	if err != nil || !filepath.IsLocal(file.Path) {
		return `error: send {"path":"...","content":"..."} with a path inside the current folder`
	}
	if err = os.MkdirAll(filepath.Dir(file.Path), 0o750); err == nil {
		err = os.WriteFile(file.Path, []byte(file.Content), 0o600)
	}
	if err != nil {
		return "error: " + err.Error()
	}
	return "ok"
}
