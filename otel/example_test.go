package otel_test

import (
	"context"
	"fmt"
	"net/http"
	"os"

	"github.com/sashabaranov/go-openai"
	"go.opentelemetry.io/otel/attribute"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	carryopenai "github.com/carryon-go/carryon/adapters/openai"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/middleware"
	carryonotel "github.com/carryon-go/carryon/otel"
	"github.com/carryon-go/carryon/otel/internal/spantree"
	"github.com/carryon-go/carryon/todo"
)

// The spans of a call that was continued once, printed as a tree. A program gives
// its tracer provider an exporter instead, such as OpenTelemetry's for OTLP.
func ExampleNewObserver() {
	exporter := tracetest.NewInMemoryExporter()
	provider := sdk.NewTracerProvider(sdk.WithSyncer(exporter))
	mw := middleware.New(
		todo.Static(todo.Todo{ID: "1", Content: "Write the parser", Status: todo.Pending}),
		middleware.WithObserver(carryonotel.NewObserver(carryonotel.WithTracerProvider(provider))),
	)
	server := carryontest.Start(
		carryontest.Text("Next, I will write the parser."),
		carryontest.Call("edit_file", `{"path":"parser.go"}`),
	)
	defer server.Close()
	config := openai.DefaultConfig("no key")
	config.BaseURL, config.HTTPClient = carryontest.BaseURL, &http.Client{Transport: server.Transport()}
	client := carryopenai.Wrap(openai.NewClientWithConfig(config), mw)

	_, err := client.CreateChatCompletion(context.Background(), openai.ChatCompletionRequest{
		Model: "gpt-4.1",
		Tools: []openai.Tool{{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{Name: "edit_file"}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	shown := map[attribute.Key]bool{
		"carryon.reason": true, "carryon.continuations": true, "carryon.turn.kind": true, "gen_ai.usage.output_tokens": true,
	}
	err = spantree.Write(os.Stdout, exporter.GetSpans().Snapshots(), func(key attribute.Key) bool { return shown[key] })
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// carryon.call carryon.continuations=1 carryon.reason=tool_calls
	//   * carryon.decision carryon.reason=satisfied
	//   * carryon.continuation
	//   * carryon.decision carryon.reason=tool_calls
	//   chat gpt-4.1 (client) carryon.turn.kind=own gen_ai.usage.output_tokens=5
	//   chat gpt-4.1 (client) carryon.turn.kind=continuation gen_ai.usage.output_tokens=5
	//     -> chat gpt-4.1
}
