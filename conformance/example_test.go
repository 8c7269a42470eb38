package conformance_test

import (
	"context"
	"fmt"
	"net/http"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// With OpenAI's official SDK, one line changes: the option WithHTTPClient sets a client with carryon's transport.
func Example() {
	server := carryontest.Start(
		carryontest.Text("I'll write the parser next."),
		carryontest.Call("edit_file", `{"path":"parser.go"}`),
	)
	defer server.Close()
	mw := middleware.New(todo.Static(todo.Todo{Content: "Write the parser", Status: todo.InProgress}))

	client := openai.NewClient(
		option.WithBaseURL(server.URL()), option.WithAPIKey("no key"),
		option.WithHTTPClient(&http.Client{Transport: transport.New(http.DefaultTransport, mw)}),
	)

	ctx, outcomes := middleware.Capture(context.Background())
	completion, err := client.Chat.Completions.New(ctx, openai.ChatCompletionNewParams{
		Model:    "any-model",
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Write a parser.")},
		Tools: []openai.ChatCompletionToolUnionParam{
			openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{Name: "edit_file"}),
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	message := completion.Choices[0].Message
	fmt.Println(message.Content)
	fmt.Println(message.ToolCalls[0].Function.Name)
	fmt.Println(outcomes.Last())
	// Output:
	// I'll write the parser next.
	// edit_file
	// 2 turns, 1 continuation: The continuation called a tool, so it is the program's turn
}
