// Package otel_test compares what package otel reports with the conventions of a newer OpenTelemetry than it needs.
package otel_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/semconv/v1.41.0/genaiconv"

	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/scenario"
	"github.com/carryon-go/carryon/middleware"
	carryonotel "github.com/carryon-go/carryon/otel"
)

// The names are those of OpenTelemetry's own package for the version.
func TestNamesAreThoseOfTheConventions(t *testing.T) {
	t.Parallel()
	spans, reader := tracetest.NewSpanRecorder(), sdkmetric.NewManualReader()
	observer := carryonotel.NewObserver(carryonotel.WithInferenceMetrics(), carryonotel.WithContent(),
		carryonotel.WithTracerProvider(sdk.NewTracerProvider(sdk.WithSpanProcessor(spans))),
		carryonotel.WithMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))))
	s := scenario.New(t, scenario.TypedStream, scenario.TwoTodos(), middleware.WithObserver(observer))
	require.NoError(t, s.Ask(fakellm.Text("One:").Usage(7, 2), fakellm.Status(http.StatusBadRequest, `{}`)).Err)

	reported := map[attribute.Key]bool{}
	note := func(list []attribute.KeyValue) {
		for _, a := range list {
			if !strings.HasPrefix(string(a.Key), "carryon.") {
				reported[a.Key] = true
			}
		}
	}
	for _, span := range spans.Ended() {
		note(span.Attributes())
		for _, event := range span.Events() {
			note(event.Attributes)
		}
	}
	var data metricdata.ResourceMetrics
	require.NoError(t, reader.Collect(t.Context(), &data))
	metrics := map[string]bool{}
	for _, m := range data.ScopeMetrics[0].Metrics {
		if !strings.HasPrefix(m.Name, "carryon.") {
			metrics[m.Name] = true
		}
		if sum, ok := m.Data.(metricdata.Sum[int64]); ok {
			for _, p := range sum.DataPoints {
				note(p.Attributes.ToSlice())
			}
		}
	}
	assert.Equal(t, map[string]bool{
		genaiconv.ClientOperationDuration{}.Name(): true, genaiconv.ClientOperationTimeToFirstChunk{}.Name(): true,
	}, metrics)
	known := map[attribute.Key]bool{}
	for _, key := range []attribute.Key{
		semconv.GenAIOperationNameKey, semconv.GenAIProviderNameKey, semconv.GenAIRequestModelKey, semconv.GenAIRequestStreamKey,
		semconv.GenAIConversationIDKey, semconv.GenAIResponseFinishReasonsKey, semconv.GenAIResponseIDKey, semconv.GenAIResponseModelKey, semconv.GenAIResponseTimeToFirstChunkKey,
		semconv.GenAIUsageInputTokensKey, semconv.GenAIUsageOutputTokensKey, semconv.GenAITokenTypeKey,
		semconv.ErrorTypeKey, semconv.ExceptionMessageKey,
	} {
		known[key] = true
	}
	assert.Equal(t, known, reported)
}
