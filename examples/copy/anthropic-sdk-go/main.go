// An agent on anthropic-sdk-go that works until its todo list is done. Copy this file into an empty folder, get the module
// as the README describes under Install, set ANTHROPIC_API_KEY, and run it:
//
//	go mod tidy && go run .
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"path/filepath"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

func main() {
	todos := todo.NewMemory(todo.WithOneConversation())
	rt := transport.New(nil, middleware.New(todos))                                   // the line for carryon
	client := anthropic.NewClient(option.WithHTTPClient(&http.Client{Transport: rt})) // reads ANTHROPIC_API_KEY and ANTHROPIC_BASE_URL
	ctx, outcomes := middleware.Capture(context.Background())

	request := anthropic.MessageNewParams{Model: "claude-sonnet-4-5", MaxTokens: 8192}
	file := json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]}`)
	for _, d := range []todo.Definition{todo.WriteTool(), {Name: "write_file", Parameters: file}} {
		tool := anthropic.ToolParam{Name: d.Name, Description: anthropic.String(d.Description)}
		if err := json.Unmarshal(d.Parameters, &tool.InputSchema); err != nil {
			log.Fatal(err)
		}
		request.Tools = append(request.Tools, anthropic.ToolUnionParam{OfTool: &tool})
	}
	content := []anthropic.ContentBlockParamUnion{anthropic.NewTextBlock("Write a small web page about tea: index.html, style.css, app.js.")}
	for len(content) > 0 {
		request.Messages = append(request.Messages, anthropic.NewUserMessage(content...))
		answer, err := client.Messages.New(ctx, request)
		if err != nil {
			log.Fatal(err)
		}
		request.Messages, content = append(request.Messages, answer.ToParam()), nil
		for _, block := range answer.Content {
			fmt.Print(block.Text)
			if block.Type != "tool_use" {
				continue
			}
			result, ok := todos.Handle(ctx, block.Name, string(block.Input))
			if !ok {
				result = writeFile(string(block.Input))
			}
			content = append(content, anthropic.NewToolResultBlock(block.ID, result, false))
		}
		fmt.Println("\ncarryon:", outcomes.Last())
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
