package otel_test

import (
	"context"
	"errors"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/scenario"
	"github.com/carryon-go/carryon/middleware"
	carryonotel "github.com/carryon-go/carryon/otel"
	"github.com/carryon-go/carryon/otel/internal/spantree"
	"github.com/carryon-go/carryon/todo"
)

var update = flag.Bool("update", false, "write the golden trees anew")

// traced is a scenario whose spans are kept.
type traced struct {
	*scenario.Scenario

	exporter *tracetest.InMemoryExporter
	provider *sdk.TracerProvider
}

func newTraced(t *testing.T, m scenario.Mode, todos todo.Provider, observe []carryonotel.Option, opts ...middleware.Option) *traced {
	t.Helper()
	exporter := tracetest.NewInMemoryExporter()
	provider := sdk.NewTracerProvider(sdk.WithSyncer(exporter))
	observer := carryonotel.NewObserver(append([]carryonotel.Option{carryonotel.WithTracerProvider(provider)}, observe...)...)
	s := scenario.New(t, m, todos, append([]middleware.Option{middleware.WithObserver(observer)}, opts...)...)
	s.Transport.Base = otelhttp.NewTransport(http.DefaultTransport,
		otelhttp.WithTracerProvider(provider), otelhttp.WithPropagators(propagation.TraceContext{}))
	return &traced{s, exporter, provider}
}

// ask makes a call inside a span of the program's.
func (s *traced) ask(ctx context.Context, turns ...fakellm.Turn) scenario.Answer {
	ctx, span := s.provider.Tracer("program").Start(ctx, "ask")
	defer span.End()
	return s.Call(ctx, scenario.Request(), turns...)
}

// tree returns the spans, without what differs from run to run.
func (s *traced) tree(t *testing.T) string {
	t.Helper()
	var tree strings.Builder
	require.NoError(t, spantree.Write(&tree, s.exporter.GetSpans().Snapshots(), func(key attribute.Key) bool {
		name := string(key)
		return name != "gen_ai.response.time_to_first_chunk" && name != "carryon.wait" && name != "carryon.conditions" &&
			(strings.HasPrefix(name, "carryon.") || strings.HasPrefix(name, "gen_ai.") || name == "error.type")
	}))
	return tree.String()
}

var open = todo.Static(todo.Todo{ID: "1", Content: "Write it", Status: todo.Pending})

func TestTrees(t *testing.T) {
	t.Parallel()
	done := todo.Static(todo.Todo{ID: "1", Content: "Write it", Status: todo.Completed})
	pause := fakellm.Call("todo_pause", `{"reason":"The file go.mod is missing from the workspace"}`)
	for name, run := range map[string]func(t *testing.T, m scenario.Mode) *traced{
		"nothing to do": func(t *testing.T, m scenario.Mode) *traced {
			s := newTraced(t, m, done, nil)
			require.NoError(t, s.ask(s.Ctx, fakellm.Text("All is done.")).Err)
			return s
		},
		"left alone": func(t *testing.T, m scenario.Mode) *traced {
			s := newTraced(t, m, open, nil)
			require.NoError(t, s.ask(continuation.Suppress(s.Ctx), fakellm.Text("A title")).Err)
			return s
		},
		"one continuation": func(t *testing.T, m scenario.Mode) *traced {
			s := newTraced(t, m, open, nil)
			require.NoError(t, s.ask(s.Ctx, fakellm.Text("Next.").Usage(10, 2), scenario.Edit().Usage(20, 3)).Err)
			return s
		},
		"pause": func(t *testing.T, m scenario.Mode) *traced {
			s := newTraced(t, m, open, []carryonotel.Option{carryonotel.WithSession(carryonotel.SessionHashed), carryonotel.WithContent()})
			require.NoError(t, s.ask(s.Ctx, fakellm.Text("Next."), pause).Err)
			return s
		},
		"failure": func(t *testing.T, m scenario.Mode) *traced {
			s := newTraced(t, m, open, []carryonotel.Option{carryonotel.WithSession(carryonotel.SessionOmitted)})
			answer := s.ask(s.Ctx, fakellm.Text("Next."), fakellm.Status(http.StatusBadRequest, `{"error":{"message":"no"}}`))
			require.NoError(t, answer.Err)
			return s
		},
		"second try": func(t *testing.T, m scenario.Mode) *traced {
			s := newTraced(t, m, open, nil)
			require.NoError(t, s.ask(s.Ctx, fakellm.Text("Next."), scenario.Failure(http.StatusServiceUnavailable), scenario.Edit()).Err)
			return s
		},
		"cancellation": func(t *testing.T, m scenario.Mode) *traced {
			s := newTraced(t, m, open, nil)
			ctx, cancel := context.WithCancelCause(s.Ctx)
			answer := s.ask(ctx, fakellm.Text("Next."), fakellm.Func(func(fakellm.Request) fakellm.Turn {
				cancel(errors.New("the user has left"))
				return fakellm.Text("Too late.").Hang()
			}))
			require.ErrorIs(t, answer.Err, context.Canceled)
			return s
		},
		"background": func(t *testing.T, m scenario.Mode) *traced {
			tasks := asynctask.NewManager()
			s := newTraced(t, m, open, nil, middleware.WithTasks(tasks))
			ticket, err := tasks.Begin(s.Ctx, "job-1", "run the tests")
			require.NoError(t, err)
			require.NoError(t, tasks.Finish(s.Ctx, ticket, asynctask.Message("green")))
			require.NoError(t, s.ask(s.Ctx, scenario.Edit()).Err)
			return s
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scenario.InModes(t, scenario.AllModes(), func(t *testing.T, m scenario.Mode) {
				golden(t, strings.ReplaceAll(name, " ", "-")+"."+strings.ReplaceAll(strings.ToLower(m.String()), " ", "-")+".txt",
					run(t, m).tree(t))
			})
		})
	}
}

// golden compares a text with a file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o700))
		require.NoError(t, os.WriteFile(file, []byte(got), 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(want), got, "if the change is meant, run the test with -update")
}

// Each turn's request has the traceparent of its own HTTP span.
func TestTurnsHaveTraceparentsOfTheirOwn(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.AllModes(), func(t *testing.T, m scenario.Mode) {
		s := newTraced(t, m, open, nil)
		require.NoError(t, s.ask(s.Ctx, fakellm.Text("Next."), scenario.Edit()).Err)
		var sent, spans []string
		for _, request := range s.Server.Requests() {
			sent = append(sent, request.Header.Get("Traceparent"))
		}
		for _, span := range s.exporter.GetSpans().Snapshots() {
			if strings.HasPrefix(span.Name(), "HTTP") {
				context := span.SpanContext()
				spans = append(spans, "00-"+context.TraceID().String()+"-"+context.SpanID().String()+"-01")
			}
		}
		assert.Len(t, sent, 2)
		assert.ElementsMatch(t, spans, sent)
	})
}
