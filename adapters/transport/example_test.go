package transport_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/sashabaranov/go-openai"
	"github.com/tmc/langchaingo/llms"
	langchain "github.com/tmc/langchaingo/llms/openai"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// provider is a model that announces what it will do before it does it.
func provider() *carryontest.Server {
	return carryontest.Start(
		carryontest.Text("Next I fix it."),
		carryontest.Call("edit_file", `{"path":"build.go"}`).WholeCalls(),
	)
}

// build is the list that the examples work on.
var build = todo.Static(todo.Todo{ID: "1", Content: "Fix the build", Status: todo.InProgress})

func ExampleNew() {
	server := provider()
	defer server.Close()

	mw := middleware.New(build)
	client := &http.Client{Transport: transport.New(http.DefaultTransport, mw)}
	defer client.CloseIdleConnections()

	request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, server.URL()+"/chat/completions", strings.NewReader(`{
		"model": "any",
		"stream": true,
		"messages": [{"role": "user", "content": "Fix the build."}],
		"tools": [{"type": "function", "function": {"name": "edit_file", "parameters": {"type": "object"}}}]
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	response, err := client.Do(request)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer response.Body.Close()
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		// Every chunk has the id of the first turn.
		if _, choices, ok := strings.Cut(lines.Text(), `"id":"chatcmpl-1"`); ok {
			_, choices, _ = strings.Cut(choices, `"choices":`)
			fmt.Println(choices)
		} else if lines.Text() != "" {
			fmt.Println(lines.Text())
		}
	}
	// Output:
	// [{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}
	// [{"index":0,"delta":{"content":"Next "},"finish_reason":null}]}
	// [{"index":0,"delta":{"content":"I "},"finish_reason":null}]}
	// [{"index":0,"delta":{"content":"fix "},"finish_reason":null}]}
	// [{"index":0,"delta":{"content":"it."},"finish_reason":null}]}
	// [{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_2_1","type":"function","function":{"name":"edit_file","arguments":"{\"path\":\"build.go\"}"}}]},"finish_reason":null}]}
	// [{"index":0,"delta":{},"finish_reason":"tool_calls"}]}
	// data: [DONE]
}

// With go-openai, the HTTP client is part of the configuration. NewClientWithConfig of package adapters/openai does the
// same.
func ExampleNew_goOpenAI() {
	server := provider()
	defer server.Close()

	mw := middleware.New(build)
	config := openai.DefaultConfig("no key")
	config.BaseURL = server.URL()
	config.HTTPClient = &http.Client{Transport: transport.New(http.DefaultTransport, mw)}
	client := openai.NewClientWithConfig(config)

	answer, err := client.CreateChatCompletion(context.Background(), openai.ChatCompletionRequest{
		Model:    "any",
		Messages: []openai.ChatCompletionMessage{{Role: "user", Content: "Fix the build."}},
		Tools:    []openai.Tool{{Type: "function", Function: &openai.FunctionDefinition{Name: "edit_file"}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	message := answer.Choices[0].Message
	fmt.Println(message.Content)
	fmt.Println(message.ToolCalls[0].Function.Name, message.ToolCalls[0].Function.Arguments)
	// Output:
	// Next I fix it.
	// edit_file {"path":"build.go"}
}

// With langchaingo's package for OpenAI, the HTTP client is an option.
func ExampleNew_langchaingo() {
	server := provider()
	defer server.Close()

	mw := middleware.New(build)
	model, err := langchain.New(
		langchain.WithToken("no key"), langchain.WithModel("any"), langchain.WithBaseURL(server.URL()),
		langchain.WithHTTPClient(&http.Client{Transport: transport.New(http.DefaultTransport, mw)}),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := model.GenerateContent(context.Background(),
		[]llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "Fix the build.")},
		llms.WithTools([]llms.Tool{{Type: "function", Function: &llms.FunctionDefinition{Name: "edit_file"}}}),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	choice := answer.Choices[0]
	fmt.Println(choice.Content)
	fmt.Println(choice.ToolCalls[0].FunctionCall.Name, choice.ToolCalls[0].FunctionCall.Arguments)
	// Output:
	// Next I fix it.
	// edit_file {"path":"build.go"}
}
