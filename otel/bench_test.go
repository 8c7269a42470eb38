package otel_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/metric/noop"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdk "go.opentelemetry.io/otel/sdk/trace"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/adapter/join"
	"github.com/carryon-go/carryon/middleware"
	carryonotel "github.com/carryon-go/carryon/otel"
	"github.com/carryon-go/carryon/todo"
)

// texts are the dialect of whole answers that are nothing but text.
type texts struct{}

func (texts) Read(text *string, t adapter.TurnReader) {
	t.Text(*text)
	t.Usage(adapter.Usage{Prompt: 100, Completion: 10})
	t.Finish("stop")
}

func (texts) AppendShown(dst []string, text *string, _ *adapter.Edit) []string {
	return append(dst, *text)
}

func (texts) Clone(text *string) string { return *text }
func (texts) EndTurn(bool)              {}

// BenchmarkCall measures a call with nothing to do, from the request to the
// decision on its answer: without an observer, with one that does nothing, and
// with this one, whose spans are not sampled. The metrics go nowhere, or to
// OpenTelemetry's SDK.
func BenchmarkCall(b *testing.B) {
	unsampled := carryonotel.WithTracerProvider(sdk.NewTracerProvider(sdk.WithSampler(sdk.NeverSample())))
	counting := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader()))
	for _, bench := range []struct {
		name    string
		options []middleware.Option
	}{
		{"bare", nil},
		{"observed", []middleware.Option{middleware.WithObserver(middleware.Observer{})}},
		{"otel", []middleware.Option{middleware.WithObserver(carryonotel.NewObserver(unsampled,
			carryonotel.WithMeterProvider(noop.NewMeterProvider())))}},
		{"otel, counting", []middleware.Option{middleware.WithObserver(carryonotel.NewObserver(unsampled,
			carryonotel.WithMeterProvider(counting)))}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			mw := middleware.New(todo.Static(), bench.options...)
			answer := func(context.Context, *adapter.Continuation) (string, error) { return "All is done.", nil }
			b.ReportAllocs()
			for b.Loop() {
				call, _ := join.Begin(b.Context(), mw, adapter.Request{Tools: 1, Model: "some-model", Provider: "openai"})
				_, err := join.Unary(call, texts{}, answer)
				require.NoError(b, err)
			}
		})
	}
}
