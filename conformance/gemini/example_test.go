package gemini_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"google.golang.org/genai"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// A model that stops early, and goes on when asked.
func earlyStopper() *carryontest.Server {
	list := func(parser, tests string) string {
		return `{"todos":[{"description":"Write the parser","status":"` + parser + `"},{"description":"Test the parser","status":"` + tests + `"}]}`
	}
	return carryontest.Start(
		carryontest.Call("write_todos", list("in_progress", "pending")),
		carryontest.Call("write_file", `{"path":"parser.go"}`),
		carryontest.Text("The parser is written. Next come the tests."), // without carryon, the loop ends here
		carryontest.Call("write_file", `{"path":"parser_test.go"}`),
		carryontest.Call("write_todos", list("completed", "completed")),
		carryontest.Text("Parser and tests are done."),
	)
}

// agent is a tool loop on a chat of the SDK.
func agent(ctx context.Context, client *genai.Client, task string) error {
	config := &genai.GenerateContentConfig{Tools: []*genai.Tool{{
		FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "write_todos"}, {Name: "write_file"}},
	}}}
	chat, err := client.Chats.Create(ctx, "gemini-3-pro-preview", config, nil)
	if err != nil {
		return err
	}
	parts := []genai.Part{{Text: task}}
	for len(parts) > 0 {
		var text strings.Builder
		var calls []*genai.FunctionCall
		for chunk, err := range chat.SendMessageStream(ctx, parts...) {
			if err != nil {
				return err
			}
			text.WriteString(textOf(chunk))
			calls = append(calls, chunk.FunctionCalls()...)
		}
		if text.Len() > 0 {
			fmt.Println("model:", text.String())
		}
		parts = nil
		for _, call := range calls {
			run(call)
			parts = append(parts, genai.Part{FunctionResponse: &genai.FunctionResponse{
				ID: call.ID, Name: call.Name, Response: map[string]any{"output": "ok"},
			}})
		}
	}
	return nil
}

// run runs a tool.
func run(call *genai.FunctionCall) {
	if call.Name == "write_file" {
		fmt.Println("tool: wrote", call.Args["path"])
		return
	}
	todos, _ := call.Args["todos"].([]any)
	for _, item := range todos {
		fields, _ := item.(map[string]any)
		fmt.Printf("todo: %v (%v)\n", fields["description"], fields["status"])
	}
}

// A tool loop on Google's SDK stops early. One line, which sets the SDK's HTTP client, makes it finish its list.
func Example() {
	ctx := context.Background()
	for _, base := range []http.RoundTripper{
		http.DefaultTransport,
		transport.New(http.DefaultTransport, middleware.New(todo.FromConversation(),
			middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off}))), // so that the example does not wait
	} {
		server := earlyStopper()
		client, err := genai.NewClient(ctx, &genai.ClientConfig{
			APIKey: "none", Backend: genai.BackendGeminiAPI,
			HTTPOptions: genai.HTTPOptions{BaseURL: strings.TrimSuffix(server.URL(), "/v1")},
			HTTPClient:  &http.Client{Transport: base}, // the line
		})
		if err == nil {
			err = agent(ctx, client, "Write and test the parser.")
		}
		if err != nil {
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
