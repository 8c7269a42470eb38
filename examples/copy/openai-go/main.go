// An agent on openai-go that works until its todo list is done. Copy this file, set OPENAI_API_KEY, and run it:
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

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

func main() {
	ctx, outcomes := middleware.Capture(context.Background())
	todos := todo.NewMemory(todo.WithOneConversation())
	rt := transport.New(nil, middleware.New(todos))                                // the line for carryon
	client := openai.NewClient(option.WithHTTPClient(&http.Client{Transport: rt})) // reads OPENAI_API_KEY and OPENAI_BASE_URL

	request := openai.ChatCompletionNewParams{
		Model:    cmp.Or(os.Getenv("OPENAI_MODEL"), "gpt-4.1"),
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(strings.Join(os.Args[1:], " "))},
	}
	for _, d := range []todo.Definition{todo.WriteTool(), writeFile()} {
		function := openai.FunctionDefinitionParam{Name: d.Name, Description: openai.String(d.Description)}
		if err := json.Unmarshal(d.Parameters, &function.Parameters); err != nil {
			log.Fatal(err)
		}
		request.Tools = append(request.Tools, openai.ChatCompletionFunctionTool(function))
	}
	for {
		answer, err := client.Chat.Completions.New(ctx, request)
		if err != nil {
			log.Fatal(err)
		}
		message := answer.Choices[0].Message
		request.Messages = append(request.Messages, message.ToParam())
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
			request.Messages = append(request.Messages, openai.ToolMessage(result, call.ID))
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
