// An agent on openai-go that works until its todo list is done. Copy this file into an empty folder, get the module as
// the README describes under Install, set OPENAI_API_KEY, and run it:
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

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

func main() {
	todos := todo.NewMemory(todo.WithOneConversation())
	rt := transport.New(nil, middleware.New(todos))                                // the line for carryon
	client := openai.NewClient(option.WithHTTPClient(&http.Client{Transport: rt})) // reads OPENAI_API_KEY and OPENAI_BASE_URL
	ctx, outcomes := middleware.Capture(context.Background())

	task := openai.UserMessage("Write a small web page about tea: index.html, style.css, app.js.")
	request := openai.ChatCompletionNewParams{Model: "gpt-4.1", Messages: []openai.ChatCompletionMessageParamUnion{task}}
	file := json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]}`)
	for _, d := range []todo.Definition{todo.WriteTool(), {Name: "write_file", Parameters: file}} {
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
		fmt.Printf("%s\ncarryon: %s\n", message.Content, outcomes.Last())
		if len(message.ToolCalls) == 0 {
			return
		}
		for _, call := range message.ToolCalls {
			result, ok := todos.Handle(ctx, call.Function.Name, call.Function.Arguments)
			if !ok {
				result = writeFile(call.Function.Arguments)
			}
			request.Messages = append(request.Messages, openai.ToolMessage(result, call.ID))
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
