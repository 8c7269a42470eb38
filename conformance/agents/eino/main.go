// Command eino is a deep agent of eino, with the framework's todo list and loop, and a tool that writes files.
//
//	go run . stream "Build a small web page about tea."
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/cloudwego/eino-ext/components/model/openai"
	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/prebuilt/deep"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: eino stream|unary TASK")
	}
	if err := run(context.Background(), os.Args[1] == "stream", os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

// file is the argument of write_file.
type file struct {
	Path    string `json:"file_path"`
	Content string `json:"content"`
}

// run has an agent work on a task, and prints the model's text.
func run(ctx context.Context, stream bool, task string) error {
	model, err := openai.NewChatModel(ctx, &openai.ChatModelConfig{
		BaseURL: os.Getenv("OPENAI_BASE_URL"), APIKey: os.Getenv("OPENAI_API_KEY"), Model: os.Getenv("OPENAI_MODEL"),
	})
	if err != nil {
		return err
	}
	write, err := utils.InferTool("write_file", "Write a file.", func(_ context.Context, f file) (string, error) {
		return "ok", os.WriteFile(f.Path, []byte(f.Content), 0o600)
	})
	if err != nil {
		return err
	}
	agent, err := deep.New(ctx, &deep.Config{
		Name: "builder", Description: "builds pages", ChatModel: model, MaxIteration: 30,
		ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{write}}},
	})
	if err != nil {
		return err
	}
	events := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent, EnableStreaming: stream}).Query(ctx, task)
	for event, ok := events.Next(); ok; event, ok = events.Next() {
		if err := show(event); err != nil {
			return err
		}
	}
	return nil
}

// show prints the model's text.
func show(event *adk.AgentEvent) error {
	switch {
	case event.Err != nil:
		return event.Err
	case event.Output == nil || event.Output.MessageOutput == nil || event.Output.MessageOutput.Role != schema.Assistant:
		return nil
	}
	output := event.Output.MessageOutput
	if !output.IsStreaming {
		fmt.Println(output.Message.Content)
		return nil
	}
	defer fmt.Println()
	for {
		switch chunk, err := output.MessageStream.Recv(); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		default:
			fmt.Print(chunk.Content)
		}
	}
}
