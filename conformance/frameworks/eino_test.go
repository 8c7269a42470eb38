package frameworks_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/cloudwego/eino-ext/components/model/openai"
	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"

	"github.com/carryon-go/carryon/internal/testkit/frameworktest"
)

// eino is an agent of eino's, on Chat Completions.
func eino(stream bool) frameworktest.Program {
	return func(ctx context.Context, url string, client *http.Client, tools *frameworktest.Tools) error {
		model, err := openai.NewChatModel(ctx, &openai.ChatModelConfig{
			BaseURL: url, APIKey: "no key", Model: "gpt-4.1",
			HTTPClient: client, // the line
		})
		if err != nil {
			return err
		}
		writeTodos, err := utils.InferTool("todo_write", "Write the todo list.", func(_ context.Context, list frameworktest.Todos) (string, error) {
			return tools.WriteTodos(list), nil
		})
		if err != nil {
			return err
		}
		writeFile, err := utils.InferTool("write_file", "Write a file.", func(_ context.Context, file frameworktest.File) (string, error) {
			return tools.WriteFile(file), nil
		})
		if err != nil {
			return err
		}
		agent, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
			Name: "builder", Description: "writes programs", Model: model,
			ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{writeTodos, writeFile}}},
		})
		if err != nil {
			return err
		}
		events := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent, EnableStreaming: stream}).Query(ctx, frameworktest.Task)
		for event, ok := events.Next(); ok; event, ok = events.Next() {
			if event.Err != nil {
				return event.Err
			}
			if event.Output != nil && event.Output.MessageOutput != nil {
				if _, err := event.Output.MessageOutput.GetMessage(); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

func TestEino(t *testing.T) {
	t.Parallel()
	t.Run("unary", func(t *testing.T) { frameworktest.Run(t, eino(false)) })
	t.Run("stream", func(t *testing.T) { frameworktest.Run(t, eino(true)) })
}
