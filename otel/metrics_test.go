package otel_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/scenario"
	"github.com/carryon-go/carryon/middleware"
	carryonotel "github.com/carryon-go/carryon/otel"
	"github.com/carryon-go/carryon/records"
	"github.com/carryon-go/carryon/todo"
)

// measured returns the metrics by name and attributes: sums, and for histograms
// the number of measurements.
func measured(t *testing.T, reader *sdkmetric.ManualReader) map[string]int64 {
	t.Helper()
	var data metricdata.ResourceMetrics
	require.NoError(t, reader.Collect(context.WithoutCancel(t.Context()), &data))
	values := make(map[string]int64)
	for _, scope := range data.ScopeMetrics {
		for _, m := range scope.Metrics {
			switch points := m.Data.(type) {
			case metricdata.Sum[int64]:
				for _, p := range points.DataPoints {
					values[m.Name+labels(p.Attributes)] = p.Value
				}
			case metricdata.Histogram[float64]:
				for _, p := range points.DataPoints {
					values[m.Name+labels(p.Attributes)] = int64(p.Count) //nolint:gosec // a few
				}
			}
		}
	}
	return values
}

// assertMeasured asserts that the metrics are there, with these values.
func assertMeasured(t *testing.T, got, want map[string]int64) {
	t.Helper()
	for name, value := range want {
		measured, found := got[name]
		assert.True(t, found, "%s is not among %v", name, got)
		assert.Equal(t, value, measured, name)
	}
}

func labels(set attribute.Set) string {
	var text strings.Builder
	for _, a := range set.ToSlice() {
		text.WriteString(" " + string(a.Key) + "=" + a.Value.Emit())
	}
	return text.String()
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.AllModes(), func(t *testing.T, m scenario.Mode) {
		reader := sdkmetric.NewManualReader()
		observer := carryonotel.NewObserver(
			carryonotel.WithMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))),
			carryonotel.WithInferenceMetrics())
		s := scenario.New(t, m, open, middleware.WithObserver(observer))
		require.NoError(t, s.Ask(fakellm.Text("Next.").Usage(10, 2), scenario.Edit().Usage(20, 3)).Err)
		require.NoError(t, s.Call(continuation.Suppress(s.Ctx), scenario.Request(), fakellm.Text("A title")).Err)
		require.NoError(t, s.Ask(fakellm.Text("Next."), fakellm.Status(http.StatusBadRequest, `{}`)).Err)

		got := measured(t, reader)
		assertMeasured(t, got, map[string]int64{
			"carryon.calls carryon.continued=true carryon.reason=tool_calls":                                                          1,
			"carryon.calls carryon.continued=false carryon.reason=suppressed":                                                         1,
			"carryon.calls carryon.continued=true carryon.reason=failed":                                                              1,
			"carryon.continuations carryon.result=tool_call":                                                                          1,
			"carryon.continuations carryon.result=failed":                                                                             1,
			"carryon.decisions carryon.reason=satisfied":                                                                              2,
			"carryon.decisions carryon.reason=suppressed":                                                                             1,
			"carryon.failures carryon.operation=continuation":                                                                         1,
			"carryon.continuation.tokens gen_ai.token.type=input":                                                                     20,
			"carryon.continuation.tokens gen_ai.token.type=output":                                                                    3,
			"carryon.continuations.unwanted carryon.result=no_progress":                                                               1,
			"carryon.tokens carryon.turn.kind=continuation gen_ai.request.model=test-model gen_ai.token.type=input":                   20,
			"carryon.tokens carryon.turn.kind=continuation gen_ai.request.model=test-model gen_ai.token.type=output":                  3,
			"carryon.todos.duration":                                                                                                  2,
			"gen_ai.client.operation.duration gen_ai.operation.name=chat gen_ai.provider.name=openai gen_ai.request.model=test-model": 3,
		})
		for _, budget := range []string{"max_attempts", "max_without_progress", "token_budget"} { // so that its first count is an increase
			assert.Contains(t, got, "carryon.exhausted carryon.reason="+budget)
		}
		assert.Zero(t, got[fmt.Sprintf("carryon.calls.open gen_ai.request.stream=%t", m.Streamed())])
		assert.Contains(t, got, fmt.Sprintf("carryon.calls.open gen_ai.request.stream=%t", m.Streamed()))
		for _, name := range []string{"carryon.join.duration", firstChunkOf3} {
			_, found := got[name]
			assert.Equal(t, m.Streamed(), found, "%s is of streams", name)
		}
	})
}

const firstChunkOf3 = "gen_ai.client.operation.time_to_first_chunk gen_ai.operation.name=chat gen_ai.provider.name=openai gen_ai.request.model=test-model"

// What closing questions cost stands beside what all continuations cost.
func TestMetricsOfQuestions(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.AllModes(), func(t *testing.T, m scenario.Mode) {
		reader := sdkmetric.NewManualReader()
		observer := carryonotel.NewObserver(carryonotel.WithMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))))
		s := scenario.New(t, m, todo.FromConversation(), middleware.WithClosingQuestion(), middleware.WithObserver(observer))
		ask := func(session string, answer fakellm.Turn) {
			t.Helper()
			got := s.Call(continuation.WithSession(s.Ctx, session), scenario.WithEdit(scenario.Request(), "call_1"), fakellm.Text("Done.").Usage(9, 9), answer)
			require.NoError(t, got.Err)
		}
		ask("a", fakellm.Text("Nothing is open.").UsageJSON(`{"prompt_tokens":100,"completion_tokens":4,"total_tokens":104,"prompt_tokens_details":{"cached_tokens":90}}`))
		ask("b", scenario.Edit().Usage(20, 3))
		ask("c", fakellm.Status(http.StatusBadRequest, `{}`))

		assertMeasured(t, measured(t, reader), map[string]int64{
			"carryon.questions carryon.result=nothing_open":        1,
			"carryon.questions carryon.result=tool_call":           1,
			"carryon.questions carryon.result=failed":              1,
			"carryon.questions carryon.result=text":                0,
			"carryon.questions carryon.result=paused":              0,
			"carryon.questions carryon.result=interrupted":         0,
			"carryon.question.tokens gen_ai.token.type=input":      30,
			"carryon.question.tokens gen_ai.token.type=cached":     90,
			"carryon.question.tokens gen_ai.token.type=output":     7,
			"carryon.continuations carryon.result=nothing_open":    1,
			"carryon.continuation.tokens gen_ai.token.type=cached": 90,
		})
	})
}

// failingStore is a store of the program's own, that fails from the second time on.
type failingStore struct {
	records.Records

	asked atomic.Int64
}

func (s *failingStore) Update(ctx context.Context, key string, f records.UpdateFunc) error {
	if s.asked.Add(1) > 1 {
		return errors.New("no connection")
	}
	return s.Records.Update(ctx, key, f)
}

func TestTimesOfTheStoreAndTheSource(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.AllModes(), func(t *testing.T, m scenario.Mode) {
		reader := sdkmetric.NewManualReader()
		observer := middleware.WithObserver(carryonotel.NewObserver(carryonotel.WithMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)))))
		s := scenario.New(t, m, open)
		failing := s.Mode.Client(scenario.Config(s.Transport.URL, s.Transport), middleware.New(open, observer,
			middleware.WithRecords(&failingStore{Records: records.NewMemoryEngine()})))
		none := s.Mode.Client(scenario.Config(s.Transport.URL, s.Transport), middleware.New(
			todo.ProviderFunc(func(context.Context) ([]todo.Todo, error) { return nil, errors.New("no file") }), observer))
		s.Server.Append(fakellm.Text("Next."), fakellm.Text("Next."))
		require.NoError(t, m.Call(s.Ctx, failing, scenario.Request()).Err)
		require.NoError(t, m.Call(s.Ctx, none, scenario.Request()).Err)

		got := measured(t, reader)
		assert.Equal(t, int64(1), got["carryon.store.duration"], "%v", got)
		assert.Equal(t, int64(1), got["carryon.store.duration error.type=_OTHER"], "%v", got)
		assert.Equal(t, int64(1), got["carryon.todos.duration error.type=_OTHER"], "%v", got)
		assert.Equal(t, int64(1), got["carryon.failures carryon.operation=store"], "%v", got)
		assert.Equal(t, int64(1), got["carryon.failures carryon.operation=todos"], "%v", got)
	})
}

func TestPausesAndWaitsAreCounted(t *testing.T) {
	t.Parallel()
	reader := sdkmetric.NewManualReader()
	observer := carryonotel.NewObserver(carryonotel.WithMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))))
	s := scenario.New(t, scenario.TypedStream, open, middleware.WithObserver(observer),
		middleware.WithLimits(continuation.Limits{MinInterval: 300 * time.Millisecond}))
	require.NoError(t, s.Ask(fakellm.Text("Next."), fakellm.Call("todo_pause", `{"reason":"stuck"}`),
		fakellm.Call("todo_pause", `{"reason":"The file go.mod is missing from the workspace"}`)).Err)
	got := measured(t, reader)
	assert.Equal(t, int64(1), got["carryon.pauses"])
	assert.Equal(t, int64(1), got["carryon.pauses.rejected"])
	assert.LessOrEqual(t, int64(1), got["carryon.wait.duration"], "%v", got)
}

func TestWrongOptionsAreRefused(t *testing.T) {
	t.Parallel()
	for name, option := range map[string]carryonotel.Option{
		"nil tracer provider":  carryonotel.WithTracerProvider(nil),
		"nil meter provider":   carryonotel.WithMeterProvider(nil),
		"unknown session mode": carryonotel.WithSession(9),
	} {
		assert.PanicsWithValue(t, "carryon/otel: "+name, func() { carryonotel.NewObserver(option) })
	}
	assert.NotPanics(t, func() { carryonotel.NewObserver(nil) }, "a nil option is skipped")
}
