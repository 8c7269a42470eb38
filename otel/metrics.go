package otel

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/telemetry"
	"github.com/carryon-go/carryon/internal/turnresult"
	"github.com/carryon-go/carryon/middleware"
)

// instruments holds the metric instruments.
type instruments struct {
	calls, continuations, decisions, tokens metric.Int64Counter
	pauses, rejected, exhausted, delivered  metric.Int64Counter
	failures                                metric.Int64Counter
	resumed, finished, unwanted, unsent     metric.Int64Counter
	unreported                              metric.Int64Counter
	checksFailed, checksMended              metric.Int64Counter
	spent, estimate                         metric.Int64Counter // tokens of continuations, by what they cost
	questions, questionTokens               metric.Int64Counter
	open                                    metric.Int64UpDownCounter
	join, wait, todos, store                metric.Float64Histogram
	turnDuration, timeToFirstChunk          metric.Float64Histogram // nil unless asked for
	labels                                  *labels
	models                                  models
}

// maker makes instruments and joins their errors.
type maker struct {
	meter metric.Meter
	err   error
}

func (m *maker) counter(name, unit, description string) metric.Int64Counter {
	c, err := m.meter.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(description))
	m.err = errors.Join(m.err, err)
	return c
}

func (m *maker) histogram(name, description string) metric.Float64Histogram {
	h, err := m.meter.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(description),
		metric.WithExplicitBucketBoundaries(.00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120))
	m.err = errors.Join(m.err, err)
	return h
}

func newInstruments(o *options) *instruments {
	m := &maker{meter: o.meters.Meter(scope)}
	i := &instruments{
		calls:          m.counter("carryon.calls", "{call}", "Calls, by why they were not continued any further"),
		continuations:  m.counter("carryon.continuations", "{continuation}", "Requests that carryon added, by result"),
		decisions:      m.counter("carryon.decisions", "{decision}", "Decisions, by reason"),
		tokens:         m.counter("carryon.tokens", "{token}", "Tokens, by kind of turn"),
		pauses:         m.counter("carryon.pauses", "{pause}", "Pauses by the model"),
		rejected:       m.counter("carryon.pauses.rejected", "{pause}", "Pauses whose reason was rejected"),
		exhausted:      m.counter("carryon.exhausted", "{call}", "Calls that used up a budget with work still on the list, by budget"),
		delivered:      m.counter("carryon.tasks.delivered", "{task}", "Background tasks whose end the model was told"),
		resumed:        m.counter("carryon.stalls.resumed", "{stall}", "Continuations after which the todo list made progress in the same user turn"),
		finished:       m.counter("carryon.todos.finished", "{todo}", "Todos completed after continuations that resumed a stall"),
		unwanted:       m.counter("carryon.continuations.unwanted", "{continuation}", "Continuations that led to no progress, and to no pause: the model repeated its answer, or did anything else"),
		unsent:         m.counter("carryon.continuations.unsent", "{continuation}", "Continuations that were not sent because of a dry run, or because the session is in the control group"),
		checksFailed:   m.counter("carryon.checks.failed", "{check}", "Failures of the program's check whether the work is done"),
		checksMended:   m.counter("carryon.checks.mended", "{check}", "Checks that passed after continuations because of failures"),
		spent:          m.counter("carryon.continuation.tokens", "{token}", "Tokens of continuations: new input, cached input, output"),
		unreported:     m.counter("carryon.continuations.unreported", "{continuation}", "Continuations whose tokens the provider did not report, or not in full"),
		questions:      m.counter("carryon.questions", "{question}", "Continuations that asked whether anything is open, by result"),
		estimate:       m.counter("carryon.unsent.tokens", "{token}", "Estimated tokens of continuations that were not sent"),
		questionTokens: m.counter("carryon.question.tokens", "{token}", "Tokens of continuations that asked whether anything is open: new input, cached input, output"),
		failures:       m.counter("carryon.failures", "{failure}", "Failures that did not cost the caller its answer, by what failed"),
		join: m.histogram("carryon.join.duration",
			"How long a stream stood still before a continuation: from the finish of a turn to the first chunk of the next"),
		wait:  m.histogram("carryon.wait.duration", "Waits before a continuation, to keep the interval"),
		todos: m.histogram("carryon.todos.duration", "How long it took to read a todo list"),
		store: m.histogram("carryon.store.duration", "How long the store of session state took to answer"),
	}
	if o.inference {
		i.turnDuration = m.histogram(durationMetric, "How long a turn took")
		i.timeToFirstChunk = m.histogram(firstChunkMetric, "How long the first chunk of a turn took")
	}
	var err error
	i.open, err = m.meter.Int64UpDownCounter("carryon.calls.open", metric.WithUnit("{call}"),
		metric.WithDescription("Open calls that carryon may continue"))
	i.labels = newLabels()
	err = errors.Join(m.err, err)
	if err != nil {
		otel.Handle(err)
	}
	i.begin()
	return i
}

// begin counts nothing in every series whose attributes are known, so that its first
// count is an increase.
func (i *instruments) begin() {
	ctx := context.Background()
	for _, counter := range []metric.Int64Counter{i.pauses, i.rejected, i.delivered} {
		counter.Add(ctx, 0)
	}
	for _, r := range turnresult.All() {
		i.continuations.Add(ctx, 0, metric.WithAttributes(result.String(r)))
		i.questions.Add(ctx, 0, metric.WithAttributes(result.String(r)))
	}
	i.failures.Add(ctx, 0, metric.WithAttributes(operation.String("continuation")))
	for _, r := range []continuation.Reason{reasons.Store, reasons.StoreSkipped} { // an alert waits for these
		i.decisions.Add(ctx, 0, i.labels.reason[r]...)
	}
	for r, set := range i.labels.reason {
		if continuation.Reason(r).Exhausted() { //nolint:gosec // below 256
			i.exhausted.Add(ctx, 0, set...)
		}
	}
	i.openCalls(ctx, true, 0)
	i.openCalls(ctx, false, 0)
	for _, count := range append(i.worthCounts(&middleware.Worth{}), tokenCounts(i.questionTokens, middleware.Tokens{})...) {
		count.add(ctx)
	}
}

// labels holds the attribute sets of measurements. They are made once, because there
// are few reasons.
type labels struct {
	reason    [256][]metric.AddOption
	ended     [256][]metric.AddOption
	continued [256][]metric.AddOption
	stream    []metric.AddOption // of a streamed call
	whole     []metric.AddOption // of a call that is not streamed
}

func newLabels() *labels {
	l := &labels{
		stream: []metric.AddOption{metric.WithAttributeSet(attribute.NewSet(requestStream.Bool(true)))},
		whole:  []metric.AddOption{metric.WithAttributeSet(attribute.NewSet(requestStream.Bool(false)))},
	}
	for i := range l.reason {
		code := reason.String(continuation.Reason(i).Code()) //nolint:gosec // below 256
		l.reason[i] = []metric.AddOption{metric.WithAttributeSet(attribute.NewSet(code))}
		l.ended[i] = []metric.AddOption{metric.WithAttributeSet(attribute.NewSet(code, continued.Bool(false)))}
		l.continued[i] = []metric.AddOption{metric.WithAttributeSet(attribute.NewSet(code, continued.Bool(true)))}
	}
	return l
}

// openCalls adds n to the number of open calls; n is negative when calls end.
func (i *instruments) openCalls(ctx context.Context, streamed bool, n int64) {
	set := i.labels.whole
	if streamed {
		set = i.labels.stream
	}
	i.open.Add(ctx, n, set...)
}

// took records a duration, with error.type if err is not nil.
func (*instruments) took(ctx context.Context, h metric.Float64Histogram, took time.Duration, err error) {
	if err != nil {
		h.Record(ctx, took.Seconds(), metric.WithAttributes(errorType.String(telemetry.ErrorKind(ctx, err))))
		return
	}
	h.Record(ctx, took.Seconds())
}

func (i *instruments) callEnded(ctx context.Context, e *middleware.CallEnded) {
	sets := &i.labels.ended
	if e.Outcome.Continued() {
		sets = &i.labels.continued
	}
	i.calls.Add(ctx, 1, sets[e.Outcome.Reason]...)
	if w := &e.Outcome.Worth; *w != (middleware.Worth{}) {
		addCounts(ctx, i.worthCounts(w))
	}
}

// addCounts adds the counts that are not 0.
func addCounts(ctx context.Context, counts []count) {
	for _, count := range counts {
		if count.n > 0 {
			count.add(ctx)
		}
	}
}

// count is what a counter is increased by.
type count struct {
	counter metric.Int64Counter
	n       int
	label   attribute.KeyValue // none if its key is ""
}

func (c *count) add(ctx context.Context) {
	if c.label.Key == "" {
		c.counter.Add(ctx, int64(c.n))
		return
	}
	c.counter.Add(ctx, int64(c.n), metric.WithAttributes(c.label))
}

// worthCounts returns what continuations were worth, in counts.
func (i *instruments) worthCounts(w *middleware.Worth) []count {
	return append(tokenCounts(i.spent, w.Tokens), []count{
		{i.resumed, w.Resumed, attribute.KeyValue{}},
		{i.finished, w.Finished, attribute.KeyValue{}},
		{i.unwanted, w.Repeated, result.String("repeated")},
		{i.unwanted, w.NoProgress, result.String("no_progress")},
		{i.checksFailed, w.ChecksFailed, attribute.KeyValue{}},
		{i.checksMended, w.ChecksMended, attribute.KeyValue{}},
		{i.unreported, w.Unreported, attribute.KeyValue{}},
		{i.unsent, w.Unsent, attribute.KeyValue{}},
		{i.estimate, w.Estimate.Input, tokenType.String("input")},
		{i.estimate, w.Estimate.Output, tokenType.String("output")},
	}...)
}

// tokenCounts returns tokens by what they cost, in counts.
func tokenCounts(counter metric.Int64Counter, t middleware.Tokens) []count {
	return []count{
		{counter, t.Input, tokenType.String("input")},
		{counter, t.Cached, tokenType.String("cached")},
		{counter, t.Output, tokenType.String("output")},
	}
}

// continuationEnded counts a continuation, and the closing question if it was that.
func (i *instruments) continuationEnded(ctx context.Context, e *middleware.TurnEnded) {
	set := metric.WithAttributes(result.String(e.Result))
	i.continuations.Add(ctx, 1, set)
	if !e.Asked {
		return
	}
	i.questions.Add(ctx, 1, set)
	addCounts(ctx, tokenCounts(i.questionTokens, middleware.TokensOf(e.Usage)))
}

func (i *instruments) turnEnded(ctx context.Context, c *call, e *middleware.TurnEnded) {
	if e.Usage.Prompt > 0 || e.Usage.Completion > 0 {
		labels := i.models.tokens(c.model, e.Turn)
		i.tokens.Add(ctx, int64(max(e.Usage.Prompt, 0)), labels.input...)
		i.tokens.Add(ctx, int64(max(e.Usage.Completion, 0)), labels.output...)
	}
	if e.Times.Join > 0 {
		i.join.Record(ctx, e.Times.Join.Seconds())
	}
	if i.turnDuration == nil {
		return
	}
	attributes := []attribute.KeyValue{operationName.String(chat), providerName.String(c.provider), requestModel.String(c.model)}
	if e.Err != nil {
		attributes = append(attributes, errorType.String(telemetry.ErrorKind(ctx, e.Err)))
	}
	set := metric.WithAttributes(attributes...)
	i.turnDuration.Record(ctx, e.Times.Ended.Sub(e.Times.Began).Seconds(), set)
	if c.streamed && e.Err == nil {
		i.timeToFirstChunk.Record(ctx, e.Times.FirstChunk.Sub(e.Times.Began).Seconds(), set)
	}
}
