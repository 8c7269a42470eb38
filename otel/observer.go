package otel

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/telemetry"
	"github.com/carryon-go/carryon/middleware"
)

const scope = "github.com/carryon-go/carryon/otel"

// NewObserver returns an observer for [middleware.WithObserver] that reports to
// OpenTelemetry. Several middlewares may share it. NewObserver panics if an option is
// not valid. If the meter provider reports an error for an instrument, OpenTelemetry's
// global error handler gets it.
func NewObserver(opts ...Option) middleware.Observer {
	o := newOptions(opts)
	r := &reporter{options: o, tracer: o.tracers.Tracer(scope), instruments: newInstruments(&o), client: []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindClient)}}
	return middleware.Observer{
		CallStarted: r.callStarted, TurnStarted: r.turnStarted, CallEnded: r.callEnded,
		TurnEnded: r.turnEnded, Decision: r.decided,
		ContinuationStarted: r.continuationStarted, PauseCalled: r.pauseCalled,
		ReminderDelivered: r.delivered, Answered: r.answered, Failed: r.failed,
	}
}

// reporter turns carryon's events into spans and metrics.
type reporter struct {
	options

	tracer      trace.Tracer
	client      []trace.SpanStartOption // of a turn's span
	instruments *instruments
}

// call is a call under way. Its ctx carries it. The events of a call come one after
// another, so it needs no lock.
type call struct {
	span     trace.Span
	model    string
	provider string
	streamed bool

	turn  trace.Span        // of the current turn
	first trace.SpanContext // of turn 1
}

type callKey struct{}

// callOf returns the call that ctx belongs to, or nil.
func callOf(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

func (r *reporter) callStarted(ctx context.Context, e middleware.CallStarted) context.Context {
	ctx, span := r.tracer.Start(ctx, "carryon.call")
	if span.IsRecording() {
		if name := r.sessionName(e.Session); name != "" {
			span.SetAttributes(conversationID.String(name))
		}
	}
	r.instruments.openCalls(ctx, e.Streamed, 1)
	return context.WithValue(ctx, callKey{}, &call{span: span, model: e.Model, provider: e.Provider, streamed: e.Streamed})
}

func (r *reporter) turnStarted(ctx context.Context, e middleware.TurnStarted) context.Context {
	c := callOf(ctx)
	if c == nil {
		return ctx
	}
	options := r.client[:1:1]
	if e.Turn > 1 {
		options = append(options, trace.WithLinks(trace.Link{SpanContext: c.first}))
	}
	ctx, span := r.tracer.Start(ctx, spanOf(c.model), options...)
	if span.IsRecording() {
		span.SetAttributes(r.turnAttributes(c, e)...)
	}
	c.turn = span
	if e.Turn == 1 {
		c.first = span.SpanContext()
	}
	if e.Wait > 0 {
		r.instruments.wait.Record(ctx, e.Wait.Seconds())
	}
	return ctx
}

func (r *reporter) turnAttributes(c *call, e middleware.TurnStarted) []attribute.KeyValue {
	attributes := []attribute.KeyValue{
		operationName.String(chat), requestStream.Bool(c.streamed), turn.Int(e.Turn), turnKind.String(kindOf(e.Turn)),
	}
	if c.provider != "" {
		attributes = append(attributes, providerName.String(c.provider))
	}
	if c.model != "" {
		attributes = append(attributes, requestModel.String(c.model))
	}
	if name := r.sessionName(e.Session); name != "" {
		attributes = append(attributes, conversationID.String(name))
	}
	if e.Attempt > 0 {
		attributes = append(attributes, attempt.Int(e.Attempt))
	}
	if e.Wait > 0 {
		attributes = append(attributes, wait.Float64(e.Wait.Seconds()))
	}
	return attributes
}

func kindOf(turn int) string {
	if turn == 1 {
		return kindOwn
	}
	return kindContinuation
}

func (r *reporter) turnEnded(ctx context.Context, e middleware.TurnEnded) {
	if e.Result != "" {
		r.instruments.continuationEnded(ctx, &e)
	}
	c := callOf(ctx)
	if c == nil || c.turn == nil {
		return
	}
	if c.turn.IsRecording() {
		c.describeTurn(&e)
		r.setError(ctx, c.turn, e.Err)
	}
	c.turn.End()
	r.instruments.turnEnded(ctx, c, &e)
}

func (c *call) describeTurn(e *middleware.TurnEnded) {
	if e.ResponseID != "" {
		c.turn.SetAttributes(responseID.String(e.ResponseID))
	}
	if e.ResponseModel != "" {
		c.turn.SetAttributes(responseModel.String(e.ResponseModel))
	}
	if e.Finish != "" {
		c.turn.SetAttributes(finishReasons.StringSlice([]string{e.Finish}))
	}
	if c.streamed && e.Err == nil {
		c.turn.SetAttributes(timeToFirst.Float64(e.Times.FirstChunk.Sub(e.Times.Began).Seconds()))
	}
	for _, count := range []struct {
		key   attribute.Key
		n     int
		shown bool
	}{
		{inputTokens, e.Usage.Prompt, e.Usage.Prompt > 0},           // every request has some
		{outputTokens, e.Usage.Completion, e.Usage.Tokens() > 0},    // an answer may have none
		{cachedTokens, e.Usage.Cached, e.Usage.Cached > 0},          // most providers do not say that it is none
		{reasoningTokens, e.Usage.Reasoning, e.Usage.Reasoning > 0}, // likewise
	} {
		if count.shown {
			c.turn.SetAttributes(count.key.Int(max(count.n, 0)))
		}
	}
}

// setError marks a span as failed.
func (r *reporter) setError(ctx context.Context, span trace.Span, err error) {
	if err == nil {
		return
	}
	kind, text := telemetry.ErrorKind(ctx, err), ""
	if r.content {
		text = err.Error()
	}
	span.SetAttributes(errorType.String(kind))
	span.SetStatus(codes.Error, text)
}

func (r *reporter) callEnded(ctx context.Context, e middleware.CallEnded) {
	r.instruments.callEnded(ctx, &e)
	c := callOf(ctx)
	if c == nil || e.Call == 0 {
		return // carryon left the call alone
	}
	r.instruments.openCalls(ctx, c.streamed, -1)
	if c.span.IsRecording() {
		o := &e.Outcome
		c.span.SetAttributes(
			turns.Int(o.Turns), continuations.Int(o.Attempts), reason.String(o.Reason.Code()),
			todosTotal.Int(o.List.Todos), todosActive.Int(o.List.Active),
		)
		if o.DryRun {
			c.span.SetAttributes(dryRun.Bool(true))
		}
		if o.Holdout {
			c.span.SetAttributes(holdout.Bool(true))
		}
		if o.Reason == reasons.BrokeOff {
			r.setError(ctx, c.span, o.Err) // the caller got no complete answer
		}
	}
	c.span.End()
}
