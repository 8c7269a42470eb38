package otel_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/scenario"
	"github.com/carryon-go/carryon/middleware"
	carryonotel "github.com/carryon-go/carryon/otel"
	"github.com/carryon-go/carryon/records"
	"github.com/carryon-go/carryon/todo"
)

// documented returns the metrics that the package's comment lists, with their attributes.
func documented(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	joined := strings.ReplaceAll(string(text), "\n//     ", " ")
	metrics := make(map[string][]string)
	for _, item := range regexp.MustCompile(`(?m)^//   - (\S+?)(?: \((.*?)\))?: `).FindAllStringSubmatch(joined, -1) {
		metrics[item[1]] = strings.FieldsFunc(item[2], func(r rune) bool { return r == ',' || r == ' ' })
	}
	return metrics
}

// reported returns the metrics that were measured with their attributes.
func reported(t *testing.T, reader *sdkmetric.ManualReader) map[string][]string {
	t.Helper()
	var data metricdata.ResourceMetrics
	require.NoError(t, reader.Collect(context.WithoutCancel(t.Context()), &data))
	metrics := make(map[string][]string)
	for _, scope := range data.ScopeMetrics {
		for _, m := range scope.Metrics {
			attributes := make(map[string]bool)
			note := func(set attribute.Set) {
				for _, a := range set.ToSlice() {
					attributes[string(a.Key)] = true
				}
			}
			switch points := m.Data.(type) {
			case metricdata.Sum[int64]:
				for _, p := range points.DataPoints {
					note(p.Attributes)
				}
			case metricdata.Histogram[float64]:
				for _, p := range points.DataPoints {
					note(p.Attributes)
				}
			}
			metrics[m.Name] = slices.Sorted(maps.Keys(attributes))
		}
	}
	return metrics
}

// The package's comment names the metrics that there are, with the attributes that
// they have.
func TestMetricsAreDocumented(t *testing.T) {
	t.Parallel()
	reader, tasks := sdkmetric.NewManualReader(), asynctask.NewManager()
	observer := middleware.WithObserver(carryonotel.NewObserver(carryonotel.WithInferenceMetrics(),
		carryonotel.WithMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)))))
	s := scenario.New(t, scenario.TypedStream, open, observer, middleware.WithTasks(tasks), middleware.WithRecords(records.NewMemoryEngine()),
		middleware.WithLimits(continuation.Limits{MinInterval: 300 * time.Millisecond, MaxAttempts: 2}))
	ask := func(session string, turns ...fakellm.Turn) {
		t.Helper()
		require.NoError(t, s.Call(continuation.WithSession(s.Ctx, session), scenario.Request(), turns...).Err)
	}
	ticket, err := tasks.Begin(continuation.WithSession(s.Ctx, "a"), "job-1", "run the tests")
	require.NoError(t, err)
	require.NoError(t, tasks.Finish(s.Ctx, ticket, asynctask.Message("green")))
	ask("a", fakellm.Text("Next."), scenario.Edit())
	ask("b", fakellm.Text("Next."), fakellm.Text("Soon."), fakellm.Text("Very soon."))
	ask("c", fakellm.Text("Next."), fakellm.Call("todo_pause", `{"reason":"stuck"}`),
		fakellm.Call("todo_pause", `{"reason":"The file go.mod is missing from the workspace"}`))
	ask("d", fakellm.Text("Next."), fakellm.Status(http.StatusBadRequest, `{}`))

	// And what continuations were worth, of a list that makes progress and of a dry run.
	list := todo.NewMemory()
	working := s.ClientWith(middleware.New(list, observer, middleware.WithRecords(records.NewMemoryEngine())))
	for i, status := range []todo.Status{todo.Pending, todo.Completed} {
		require.NoError(t, list.Write(s.Ctx, []todo.Todo{{ID: "1", Content: "Write it", Status: status}}))
		s.Server.Append([][]fakellm.Turn{{fakellm.Text("Next."), scenario.Edit()}, {fakellm.Text("Done.")}}[i]...)
		require.NoError(t, s.Mode.Call(s.Ctx, working, scenario.Request()).Err)
	}
	dry := s.ClientWith(middleware.New(open, observer, middleware.WithDryRun()))
	s.Server.Append(fakellm.Text("Next."))
	require.NoError(t, s.Mode.Call(s.Ctx, dry, scenario.Request()).Err)

	// And with a store and a source that fail.
	store := &failingStore{Records: records.NewMemoryEngine()}
	noStore := s.ClientWith(middleware.New(open, observer, middleware.WithRecords(store)))
	noList := s.ClientWith(middleware.New(todo.ProviderFunc(func(context.Context) ([]todo.Todo, error) { return nil, errors.New("no file") }), observer))
	s.Server.Append(fakellm.Text("Next."), fakellm.Text("Next."))
	require.NoError(t, s.Mode.Call(s.Ctx, noStore, scenario.Request()).Err)
	require.NoError(t, s.Mode.Call(s.Ctx, noList, scenario.Request()).Err)

	want, got := documented(t), reported(t, reader)
	assert.Equal(t, slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got)))
	for name, attributes := range got {
		assert.ElementsMatch(t, want[name], attributes, "%s: %s", name, strings.Join(attributes, ", "))
	}
}
