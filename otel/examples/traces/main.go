// Command traces shows the traces of three calls as trees:
//
//	cd otel && go run ./examples/traces
//
// The model is scripted. In the first call it stops in the middle of its work and
// is asked to carry on; in the second it pauses; in the third, the provider refuses
// the continuation. Each turn has its own span, with the span of its HTTP request
// below it.
//
// To see the traces in Jaeger, Grafana Tempo or another backend, replace the
// exporter in newTracing with OpenTelemetry's own, and run the program with
// OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318:
//
//	exporter, err := otlptracehttp.New(ctx)
//	provider := sdk.NewTracerProvider(sdk.WithBatcher(exporter))
package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/sashabaranov/go-openai"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	carryopenai "github.com/carryon-go/carryon/adapters/openai"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	carryonotel "github.com/carryon-go/carryon/otel"
	"github.com/carryon-go/carryon/otel/internal/spantree"
	"github.com/carryon-go/carryon/todo"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// scene is a call, and what the model does in it.
type scene struct {
	name  string
	turns []carryontest.Turn
}

func scenes() []scene {
	stall := carryontest.Text("Next, I will write the parser.")
	return []scene{
		{"carried on", []carryontest.Turn{stall, carryontest.Call("edit_file", `{"path":"parser.go"}`)}},
		{"paused", []carryontest.Turn{stall, carryontest.Pause("The grammar file grammar.ebnf is missing")}},
		{"refused", []carryontest.Turn{stall, carryontest.Status(http.StatusBadRequest, `{"error":{"message":"The conversation is too long"}}`)}},
	}
}

// run makes the calls and writes their trees.
func run(ctx context.Context, w io.Writer) error {
	for _, scene := range scenes() {
		t := newTracing()
		if err := t.ask(ctx, scene); err != nil {
			return err
		}
		if err := spantree.Write(w, t.exporter.GetSpans().Snapshots(), isShown); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
	}
	return nil
}

// tracing collects the spans of a program, here in memory.
type tracing struct {
	exporter *tracetest.InMemoryExporter
	provider *sdk.TracerProvider
}

func newTracing() *tracing {
	exporter := tracetest.NewInMemoryExporter()
	return &tracing{exporter, sdk.NewTracerProvider(sdk.WithSyncer(exporter))}
}

// ask makes a call of an instrumented program, inside a span of its own.
func (t *tracing) ask(ctx context.Context, s scene) error {
	ctx, span := t.provider.Tracer("program").Start(continuation.WithSession(ctx, s.name), s.name)
	defer span.End()
	server := carryontest.Start(s.turns...)
	defer server.Close()
	mw := middleware.New(
		todo.Static(todo.Todo{ID: "1", Content: "Write the parser", Status: todo.Pending}),
		middleware.WithObserver(carryonotel.NewObserver(carryonotel.WithTracerProvider(t.provider))),
	)
	config := openai.DefaultConfig("no key")
	config.BaseURL = carryontest.BaseURL
	config.HTTPClient = &http.Client{Transport: otelhttp.NewTransport(server.Transport(), // below carryon
		otelhttp.WithTracerProvider(t.provider), otelhttp.WithPropagators(propagation.TraceContext{}))}
	_, err := carryopenai.Wrap(openai.NewClientWithConfig(config), mw).CreateChatCompletion(ctx, openai.ChatCompletionRequest{
		Model: "gpt-4.1", Messages: []openai.ChatCompletionMessage{{Role: openai.ChatMessageRoleUser, Content: "Write it."}},
		Tools: []openai.Tool{{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{Name: "edit_file"}}},
	})
	return err
}

// isShown selects the attributes to print. All of them would make the lines too long.
func isShown(key attribute.Key) bool {
	switch key {
	case "carryon.reason", "carryon.continuations", "carryon.turn.kind", "carryon.todo.id", "error.type", "gen_ai.response.finish_reasons",
		"gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens", "http.response.status_code":
		return true
	}
	return false
}
