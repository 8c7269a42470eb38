package messages_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/toolrunner"

	"github.com/carryon-go/carryon/internal/testkit/frameworktest"
)

// The SDK has a loop of its own for agents, the tool runner.
func TestToolRunner(t *testing.T) {
	t.Parallel()
	t.Run("unary", func(t *testing.T) {
		frameworktest.Run(t, func(ctx context.Context, url string, client *http.Client, tools *frameworktest.Tools) error {
			service := betaMessages(url, client)
			_, err := service.NewToolRunner(betaTools(tools), runnerParams()).RunToCompletion(ctx)
			return err
		})
	})
	t.Run("stream", func(t *testing.T) {
		frameworktest.Run(t, func(ctx context.Context, url string, client *http.Client, tools *frameworktest.Tools) error {
			service := betaMessages(url, client)
			for events, err := range service.NewToolRunnerStreaming(betaTools(tools), runnerParams()).AllStreaming(ctx) {
				if err != nil {
					return err
				}
				for _, err := range events {
					if err != nil {
						return err
					}
				}
			}
			return nil
		})
	})
}

func betaMessages(url string, client *http.Client) sdk.BetaMessageService {
	return sdk.NewClient(
		option.WithBaseURL(strings.TrimSuffix(url, "/v1")), option.WithAPIKey("none"),
		option.WithHTTPClient(client), // the line
	).Beta.Messages
}

func runnerParams() sdk.BetaToolRunnerParams {
	return sdk.BetaToolRunnerParams{BetaMessageNewParams: sdk.BetaMessageNewParams{
		Model: model, MaxTokens: 1024,
		Messages: []sdk.BetaMessageParam{sdk.NewBetaUserMessage(sdk.NewBetaTextBlock(frameworktest.Task))},
	}}
}

func betaTools(tools *frameworktest.Tools) []sdk.BetaTool {
	text := func(s string) (sdk.BetaToolResultBlockParamContentUnion, error) {
		return sdk.BetaToolResultBlockParamContentUnion{OfText: &sdk.BetaTextBlockParam{Text: s}}, nil
	}
	return []sdk.BetaTool{
		toolrunner.NewBetaTool("todo_write", "Write the todo list.", sdk.BetaToolInputSchemaParam{},
			func(_ context.Context, list frameworktest.Todos) (sdk.BetaToolResultBlockParamContentUnion, error) {
				return text(tools.WriteTodos(list))
			}),
		toolrunner.NewBetaTool("write_file", "Write a file.", sdk.BetaToolInputSchemaParam{},
			func(_ context.Context, file frameworktest.File) (sdk.BetaToolResultBlockParamContentUnion, error) {
				return text(tools.WriteFile(file))
			}),
	}
}
