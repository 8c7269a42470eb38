package frameworks_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"
	"github.com/firebase/genkit/go/plugins/compat_oai/openai"
	"github.com/openai/openai-go/option" // of version 1

	"github.com/carryon-go/carryon/internal/testkit/frameworktest"
)

// genkitFlow is a program of genkit's with its plug-in for compatible servers. The plug-in for Anthropic has no option for
// an HTTP client, so only the command can help there.
func genkitFlow(stream bool) frameworktest.Program {
	return func(ctx context.Context, url string, client *http.Client, tools *frameworktest.Tools) error {
		g := genkit.Init(ctx, genkit.WithPlugins(&openai.OpenAI{APIKey: "no key", Opts: []option.RequestOption{
			option.WithBaseURL(url),
			option.WithHTTPClient(client), // the line
		}}))
		writeTodos := genkit.DefineTool(g, "todo_write", "Write the todo list.", func(_ *ai.ToolContext, list frameworktest.Todos) (string, error) {
			return tools.WriteTodos(list), nil
		})
		writeFile := genkit.DefineTool(g, "write_file", "Write a file.", func(_ *ai.ToolContext, file frameworktest.File) (string, error) {
			return tools.WriteFile(file), nil
		})
		options := []ai.GenerateOption{
			ai.WithModelName("openai/gpt-4.1"), ai.WithPrompt(frameworktest.Task), ai.WithTools(writeTodos, writeFile),
			ai.WithMaxTurns(10), // the default of 5 is less than the work takes
		}
		if stream {
			options = append(options, ai.WithStreaming(func(context.Context, *ai.ModelResponseChunk) error { return nil }))
		}
		_, err := genkit.Generate(ctx, g, options...)
		return err
	}
}

func TestGenkit(t *testing.T) {
	t.Parallel()
	t.Run("unary", func(t *testing.T) { frameworktest.Run(t, genkitFlow(false)) })
	t.Run("stream", func(t *testing.T) { frameworktest.Run(t, genkitFlow(true)) })
}
