// An agent on anthropic-sdk-go that works until its todo list is done. Copy this file, set ANTHROPIC_API_KEY, and run it:
//
//	go mod init agent && go mod tidy && go run . "Write a small web page about tea: index.html, style.css, app.js."
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

func main() {
	ctx, outcomes := middleware.Capture(context.Background())
	todos := todo.NewMemory(todo.WithOneConversation())
	rt := transport.New(nil, middleware.New(todos))                                   // the line for carryon
	client := anthropic.NewClient(option.WithHTTPClient(&http.Client{Transport: rt})) // reads ANTHROPIC_API_KEY and ANTHROPIC_BASE_URL

	request := anthropic.MessageNewParams{
		Model: cmp.Or(os.Getenv("ANTHROPIC_MODEL"), "claude-sonnet-4-5"), MaxTokens: 8192,
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(strings.Join(os.Args[1:], " ")))},
	}
	for _, d := range []todo.Definition{todo.WriteTool(), writeFile()} {
		tool := &anthropic.ToolParam{Name: d.Name, Description: anthropic.String(d.Description)}
		if err := json.Unmarshal(d.Parameters, &tool.InputSchema); err != nil {
			log.Fatal(err)
		}
		request.Tools = append(request.Tools, anthropic.ToolUnionParam{OfTool: tool})
	}
	for {
		answer, err := client.Messages.New(ctx, request)
		if err != nil {
			log.Fatal(err)
		}
		request.Messages = append(request.Messages, answer.ToParam())
		var results []anthropic.ContentBlockParamUnion
		for _, block := range answer.Content {
			switch block := block.AsAny().(type) {
			case anthropic.TextBlock:
				fmt.Println(block.Text)
			case anthropic.ToolUseBlock:
				result, ok := todos.Handle(ctx, block.Name, string(block.Input))
				if !ok {
					result = write(string(block.Input))
				}
				results = append(results, anthropic.NewToolResultBlock(block.ID, result, false))
			}
		}
		fmt.Println("carryon:", outcomes.Last())
		if len(results) == 0 {
			return
		}
		request.Messages = append(request.Messages, anthropic.NewUserMessage(results...))
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
