package proxy

import (
	"context"
	"strconv"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/telemetry"
	"github.com/carryon-go/carryon/middleware"
)

// observer returns an Observer that counts what carryon does.
func (m *metrics) observer() middleware.Observer {
	return middleware.Observer{
		CallStarted: m.callStarted, CallEnded: m.callEnded, TurnStarted: m.turnStarted, TurnEnded: m.turnEnded,
		Decision: func(_ context.Context, e middleware.Decision) {
			m.decisions.WithLabelValues(e.Evaluation.Reason.Code()).Inc()
		},
		ContinuationEnded: func(_ context.Context, e middleware.ContinuationEnded) {
			m.continuations.WithLabelValues(string(e.Result)).Inc()
		},
		PauseRejected: func(context.Context, middleware.PauseRejected) { m.rejected.Inc() },
		Paused:        func(context.Context, middleware.Paused) { m.pauses.Inc() },
		Exhausted: func(_ context.Context, e middleware.Exhausted) {
			m.exhausted.WithLabelValues(e.Reason.Code()).Inc()
		},
		Failed: func(_ context.Context, e middleware.Failed) { m.failures.WithLabelValues(string(e.Op)).Inc() },
		TodosRead: func(ctx context.Context, e middleware.TodosRead) {
			m.todos.WithLabelValues(kindOf(ctx, e.Err)).Observe(e.Took.Seconds())
		},
		StoreAnswered: func(ctx context.Context, e middleware.StoreAnswered) {
			m.store.WithLabelValues(kindOf(ctx, e.Err)).Observe(e.Took.Seconds())
		},
	}
}

// kindOf returns the label of an error, "" for none.
func kindOf(ctx context.Context, err error) string {
	if err == nil {
		return ""
	}
	return telemetry.ErrorKind(ctx, err)
}

// countedCall is a call that counts as open. The call's ctx carries it.
type countedCall struct {
	model  string
	stream string // the label
}

type countedCallKey struct{}

func (m *metrics) callStarted(ctx context.Context, e middleware.CallStarted) context.Context {
	c := &countedCall{model: e.Model, stream: strconv.FormatBool(e.Streamed)}
	m.open.WithLabelValues(c.stream).Inc()
	return context.WithValue(ctx, countedCallKey{}, c)
}

func (m *metrics) callEnded(ctx context.Context, e middleware.CallEnded) {
	m.calls.WithLabelValues(e.Outcome.Reason.Code(), strconv.FormatBool(e.Outcome.Continued())).Inc()
	if e.Outcome.Worth != (middleware.Worth{}) {
		m.worth.add(e.Outcome.Worth)
	}
	if c, ok := ctx.Value(countedCallKey{}).(*countedCall); ok {
		m.open.WithLabelValues(c.stream).Dec()
	}
}

func (m *metrics) turnStarted(ctx context.Context, e middleware.TurnStarted) context.Context {
	if e.Wait > 0 {
		m.wait.Observe(e.Wait.Seconds())
	}
	return ctx
}

func (m *metrics) turnEnded(ctx context.Context, e middleware.TurnEnded) {
	if e.Times.Join > 0 {
		m.join.Observe(e.Times.Join.Seconds())
	}
	c, ok := ctx.Value(countedCallKey{}).(*countedCall)
	if !ok || e.Usage == (adapter.Usage{}) {
		return // without usage, the upstream may not know the model
	}
	turn, model := "own", m.models.label(c.model)
	if e.Turn > 1 {
		turn = "continuation"
	}
	m.tokens.WithLabelValues(turn, "input", model).Add(float64(max(e.Usage.Prompt, 0)))
	m.tokens.WithLabelValues(turn, "output", model).Add(float64(max(e.Usage.Completion, 0)))
}
