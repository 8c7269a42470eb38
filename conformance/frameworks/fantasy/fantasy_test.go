package fantasy_test

import (
	"context"
	"net/http"
	"testing"

	"charm.land/fantasy"
	"charm.land/fantasy/providers/openai"

	"github.com/carryon-go/carryon/internal/testkit/frameworktest"
)

// provider makes a provider of fantasy's, which sends its requests to url with client.
type provider func(url string, client *http.Client) (fantasy.Provider, error)

func chatCompletions(url string, client *http.Client) (fantasy.Provider, error) {
	return openai.New(openai.WithBaseURL(url), openai.WithAPIKey("no key"),
		openai.WithHTTPClient(client)) // the line
}

func responses(url string, client *http.Client) (fantasy.Provider, error) {
	return openai.New(openai.WithBaseURL(url), openai.WithAPIKey("no key"), openai.WithUseResponsesAPI(),
		openai.WithHTTPClient(client)) // the line
}

// fantasyAgent is an agent of fantasy's, the framework of crush.
func fantasyAgent(provider provider, stream bool) frameworktest.Program {
	return func(ctx context.Context, url string, client *http.Client, tools *frameworktest.Tools) error {
		models, err := provider(url, client)
		if err != nil {
			return err
		}
		model, err := models.LanguageModel(ctx, "gpt-4.1")
		if err != nil {
			return err
		}
		agent := fantasy.NewAgent(model, fantasy.WithTools(
			fantasy.NewAgentTool("todo_write", "Write the todo list.", func(_ context.Context, list frameworktest.Todos, _ fantasy.ToolCall) (fantasy.ToolResponse, error) {
				return fantasy.NewTextResponse(tools.WriteTodos(list)), nil
			}),
			fantasy.NewAgentTool("write_file", "Write a file.", func(_ context.Context, file frameworktest.File, _ fantasy.ToolCall) (fantasy.ToolResponse, error) {
				return fantasy.NewTextResponse(tools.WriteFile(file)), nil
			}),
		))
		if stream {
			_, err = agent.Stream(ctx, fantasy.AgentStreamCall{Prompt: frameworktest.Task})
		} else {
			_, err = agent.Generate(ctx, fantasy.AgentCall{Prompt: frameworktest.Task})
		}
		return err
	}
}

func TestFantasy(t *testing.T) {
	t.Parallel()
	for name, provider := range map[string]provider{"Chat Completions": chatCompletions, "Responses": responses} {
		t.Run(name+", unary", func(t *testing.T) { frameworktest.Run(t, fantasyAgent(provider, false)) })
		t.Run(name+", stream", func(t *testing.T) { frameworktest.Run(t, fantasyAgent(provider, true)) })
	}
}
