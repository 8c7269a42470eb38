package adk_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model/gemini"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/functiontool"
	"google.golang.org/genai"

	"github.com/carryon-go/carryon/internal/testkit/frameworktest"
)

// result is what a tool of adk-go's returns: it must be an object.
type result struct {
	Text string `json:"text"`
}

// adkAgent is an agent of adk-go's, which its runner runs in a session.
func adkAgent(mode agent.StreamingMode) frameworktest.Program {
	return func(ctx context.Context, url string, client *http.Client, tools *frameworktest.Tools) error {
		model, err := gemini.NewModel(ctx, "gemini-2.5-flash", &genai.ClientConfig{
			APIKey: "no key", Backend: genai.BackendGeminiAPI, HTTPOptions: genai.HTTPOptions{BaseURL: strings.TrimSuffix(url, "/v1")},
			HTTPClient: client, // the line
		})
		if err != nil {
			return err
		}
		writeTodos, err := functiontool.New(functiontool.Config{Name: "todo_write", Description: "Write the todo list."},
			func(_ tool.Context, list frameworktest.Todos) (result, error) {
				return result{tools.WriteTodos(list)}, nil
			})
		if err != nil {
			return err
		}
		writeFile, err := functiontool.New(functiontool.Config{Name: "write_file", Description: "Write a file."},
			func(_ tool.Context, file frameworktest.File) (result, error) {
				return result{tools.WriteFile(file)}, nil
			})
		if err != nil {
			return err
		}
		builder, err := llmagent.New(llmagent.Config{
			Name: "builder", Description: "writes programs", Model: model, Tools: []tool.Tool{writeTodos, writeFile},
		})
		if err != nil {
			return err
		}
		programs, err := runner.New(runner.Config{
			AppName: "programs", Agent: builder, SessionService: session.InMemoryService(), AutoCreateSession: true,
		})
		if err != nil {
			return err
		}
		events := programs.Run(ctx, "user", "session", genai.NewContentFromText(frameworktest.Task, genai.RoleUser), agent.RunConfig{StreamingMode: mode})
		for _, err := range events {
			if err != nil {
				return err
			}
		}
		return nil
	}
}

func TestADK(t *testing.T) {
	t.Parallel()
	t.Run("unary", func(t *testing.T) { frameworktest.Run(t, adkAgent(agent.StreamingModeNone)) })
	t.Run("stream", func(t *testing.T) { frameworktest.Run(t, adkAgent(agent.StreamingModeSSE)) })
}
