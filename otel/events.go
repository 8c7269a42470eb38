package otel

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/carryon-go/carryon/internal/telemetry"
	"github.com/carryon-go/carryon/middleware"
)

// addEvent adds an event to the call's span, if that exists and records.
func addEvent(ctx context.Context, name string, attributes func() []attribute.KeyValue) {
	if c := callOf(ctx); c != nil && c.span.IsRecording() {
		c.span.AddEvent(name, trace.WithAttributes(attributes()...))
	}
}

// text appends an attribute for a text, if texts may be reported.
func (r *reporter) text(to []attribute.KeyValue, key attribute.Key, text string) []attribute.KeyValue {
	if !r.content || text == "" {
		return to
	}
	return append(to, key.String(text))
}

func (r *reporter) decided(ctx context.Context, e middleware.Decision) {
	r.instruments.decisions.Add(ctx, 1, r.instruments.labels.reason[e.Reason]...)
	addEvent(ctx, "carryon.decision", func() []attribute.KeyValue {
		attributes := []attribute.KeyValue{
			turn.Int(e.Turn), continueKey.Bool(e.Continue), reason.String(e.Reason.Code()), conditions.String(e.Conditions),
		}
		if e.Todo.ID != "" {
			attributes = append(attributes, todoID.String(e.Todo.ID))
		}
		return r.text(attributes, todoContent, e.Todo.Content)
	})
	if !e.Exhausted {
		return
	}
	r.instruments.exhausted.Add(ctx, 1, r.instruments.labels.reason[e.Reason]...)
	addEvent(ctx, "carryon.exhausted", func() []attribute.KeyValue {
		return []attribute.KeyValue{turn.Int(e.Turn), reason.String(e.Reason.Code())}
	})
}

func (r *reporter) continuationStarted(ctx context.Context, e middleware.ContinuationStarted) {
	addEvent(ctx, "carryon.continuation", func() []attribute.KeyValue {
		attributes := []attribute.KeyValue{turn.Int(e.Turn), attempt.Int(e.Attempt), todoID.String(e.Todo.ID)}
		return r.text(attributes, prompt, e.Prompt)
	})
}

func (r *reporter) answered(ctx context.Context, e middleware.Answered) {
	switch e.Op {
	case "todos":
		r.instruments.took(ctx, r.instruments.todos, e.Took, e.Err)
	case "store":
		r.instruments.took(ctx, r.instruments.store, e.Took, e.Err)
	}
}

func (r *reporter) pauseCalled(ctx context.Context, e middleware.PauseCalled) {
	counter, name := r.instruments.pauses, "carryon.pause"
	if e.Err != nil {
		counter, name = r.instruments.rejected, "carryon.pause.rejected"
	}
	counter.Add(ctx, 1)
	addEvent(ctx, name, func() []attribute.KeyValue {
		return r.text([]attribute.KeyValue{turn.Int(e.Turn)}, pauseReason, e.Result.Reason)
	})
}

func (r *reporter) delivered(ctx context.Context, e middleware.ReminderDelivered) {
	r.instruments.delivered.Add(ctx, int64(len(e.Tasks)))
	addEvent(ctx, "carryon.reminder", func() []attribute.KeyValue {
		return []attribute.KeyValue{turn.Int(e.Turn), taskCount.Int(len(e.Tasks))}
	})
}

func (r *reporter) failed(ctx context.Context, e middleware.Failed) {
	r.instruments.failures.Add(ctx, 1, metric.WithAttributes(operation.String(e.Op)))
	addEvent(ctx, "carryon.failed", func() []attribute.KeyValue {
		attributes := []attribute.KeyValue{turn.Int(e.Turn), operation.String(e.Op), errorType.String(telemetry.ErrorKind(ctx, e.Err))}
		return r.text(attributes, exceptionMessage, e.Err.Error())
	})
}
