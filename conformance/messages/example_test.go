package messages_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// A model that stops early, and goes on when asked.
func earlyStopper() *carryontest.Server {
	list := func(parser, tests string) string {
		return `{"todos":[{"content":"Write the parser","status":"` + parser + `"},{"content":"Test the parser","status":"` + tests + `"}]}`
	}
	return carryontest.Start(
		carryontest.Call("TodoWrite", list("in_progress", "pending")),
		carryontest.Call("write_file", `{"path":"parser.go"}`),
		carryontest.Text("The parser is written. Next come the tests."), // without carryon, the loop ends here
		carryontest.Call("write_file", `{"path":"parser_test.go"}`),
		carryontest.Call("TodoWrite", list("completed", "completed")),
		carryontest.Text("Parser and tests are done."),
	)
}

// agent is a tool loop as the SDK's documentation has it.
func agent(ctx context.Context, client sdk.Client, task string) error {
	tool := func(name string) sdk.ToolUnionParam {
		return sdk.ToolUnionParam{OfTool: &sdk.ToolParam{Name: name, InputSchema: sdk.ToolInputSchemaParam{}}}
	}
	params := sdk.MessageNewParams{
		Model: "claude-sonnet-4-5", MaxTokens: 1024,
		Messages: []sdk.MessageParam{sdk.NewUserMessage(sdk.NewTextBlock(task))},
		Tools:    []sdk.ToolUnionParam{tool("TodoWrite"), tool("write_file")},
	}
	for {
		stream := client.Messages.NewStreaming(ctx, params)
		var message sdk.Message
		for stream.Next() {
			if err := message.Accumulate(stream.Current()); err != nil {
				return err
			}
		}
		if err := stream.Err(); err != nil {
			return err
		}
		params.Messages = append(params.Messages, message.ToParam())
		var results []sdk.ContentBlockParamUnion
		for _, block := range message.Content {
			switch block.Type {
			case "text":
				fmt.Println("model:", strings.TrimSpace(block.Text))
			case "tool_use":
				results = append(results, sdk.NewToolResultBlock(block.ID, run(block), false))
			}
		}
		if len(results) == 0 {
			return nil
		}
		params.Messages = append(params.Messages, sdk.NewUserMessage(results...))
	}
}

// run runs a tool.
func run(call sdk.ContentBlockUnion) string {
	var input struct {
		Path  string
		Todos []todo.Todo
	}
	if err := json.Unmarshal(call.Input, &input); err != nil {
		return err.Error()
	}
	if call.Name == "write_file" {
		fmt.Println("tool: wrote", input.Path)
	}
	for _, t := range input.Todos {
		fmt.Printf("todo: %s (%s)\n", t.Content, t.Status)
	}
	return "ok"
}

// A tool loop on the official SDK stops early. One line, which sets the SDK's HTTP client, makes it finish its list.
func Example() {
	for _, base := range []http.RoundTripper{
		http.DefaultTransport,
		transport.New(http.DefaultTransport, middleware.New(todo.FromConversation(),
			middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off}))), // so that the example does not wait
	} {
		server := earlyStopper()
		client := sdk.NewClient(
			option.WithBaseURL(strings.TrimSuffix(server.URL(), "/v1")), option.WithAPIKey("none"),
			option.WithHTTPClient(&http.Client{Transport: base}), // the line
		)
		if err := agent(context.Background(), client, "Write and test the parser."); err != nil {
			fmt.Println(err)
		}
		server.Close()
		fmt.Println()
	}
	// Output:
	// todo: Write the parser (in_progress)
	// todo: Test the parser (pending)
	// tool: wrote parser.go
	// model: The parser is written. Next come the tests.
	//
	// todo: Write the parser (in_progress)
	// todo: Test the parser (pending)
	// tool: wrote parser.go
	// model: The parser is written. Next come the tests.
	// tool: wrote parser_test.go
	// todo: Write the parser (completed)
	// todo: Test the parser (completed)
	// model: Parser and tests are done.
}
