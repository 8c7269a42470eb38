package conformance_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// An agent on the Responses API asks, runs the tools that the model calls, and ends when there are no calls. The model
// writes a list, and then only announces its next step. One line, which sets the HTTP client, makes the agent finish
// its list.
func Example_responses() {
	list := func(parser, tests string) string {
		return `{"todos":[{"id":"1","content":"Write the parser","status":"` + parser + `"},{"id":"2","content":"Test it","status":"` + tests + `"}]}`
	}
	server := carryontest.Start(
		carryontest.Call("todo_write", list("in_progress", "pending")),
		carryontest.Text("Next I will write the parser."), // without carryon, the loop would end here
		carryontest.Call("edit_file", `{"path":"parser.go"}`),
		carryontest.Call("run_tests", `{}`),
		carryontest.Call("todo_write", list("completed", "completed")),
		carryontest.Text("The parser is written and tested."),
	)
	defer server.Close()
	mw := middleware.New(todo.FromConversation())

	client := openai.NewClient(
		option.WithBaseURL(server.URL()), option.WithAPIKey("no key"),
		option.WithHTTPClient(&http.Client{Transport: transport.New(http.DefaultTransport, mw)}), // the line
	)
	if err := runAgent(context.Background(), client, "Write and test a parser."); err != nil {
		fmt.Println(err)
	}
	// Output:
	// todo_write
	// Next I will write the parser.
	// edit_file
	// run_tests
	// todo_write
	// The parser is written and tested.
}

// runAgent is the loop of an agent.
func runAgent(ctx context.Context, client openai.Client, task string) error {
	var tools []responses.ToolUnionParam
	for _, name := range []string{"todo_write", "edit_file", "run_tests"} {
		tools = append(tools, responses.ToolUnionParam{OfFunction: &responses.FunctionToolParam{Name: name, Parameters: noParameters()}})
	}
	input := responses.ResponseInputParam{responses.ResponseInputItemParamOfMessage(task, responses.EasyInputMessageRoleUser)}
	for {
		response, err := client.Responses.New(ctx, responses.ResponseNewParams{
			Model: "any-model", Input: responses.ResponseNewParamsInputUnion{OfInputItemList: input}, Tools: tools,
		})
		if err != nil {
			return err
		}
		if text := response.OutputText(); text != "" {
			fmt.Println(text)
		}
		called := false
		for _, item := range response.Output {
			input = append(input, param.Override[responses.ResponseInputItemUnionParam](json.RawMessage(item.RawJSON())))
		}
		for _, item := range response.Output {
			if call, ok := item.AsAny().(responses.ResponseFunctionToolCall); ok {
				called = true
				fmt.Println(call.Name)
				result := responses.ResponseInputItemFunctionCallOutputParam{CallID: openai.String(call.CallID)}
				result.Output.OfString = openai.String("done")
				input = append(input, responses.ResponseInputItemUnionParam{OfFunctionCallOutput: &result})
			}
		}
		if !called {
			return nil
		}
	}
}
