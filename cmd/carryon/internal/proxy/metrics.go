package proxy

import (
	"net/http"
	"strconv"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/carryon-go/carryon/internal/telemetry"
	"github.com/carryon-go/carryon/middleware"
)

// metricsPath is the path at which -metrics serves the metrics.
const metricsPath = "/metrics"

// metrics counts what the proxy does, for Prometheus: what the module otel counts too,
// under the names that its metrics have in Prometheus, and the requests. Clients cannot choose label
// values, except the name of a model: see [models].
type metrics struct {
	http.Handler

	registry                                                               *prometheus.Registry
	requests, calls, decisions, continuations, tokens, exhausted, failures *prometheus.CounterVec
	pauses, rejected                                                       prometheus.Counter
	worth                                                                  worthMetrics
	open                                                                   *prometheus.GaugeVec
	join, wait                                                             prometheus.Observer
	todos, store                                                           *prometheus.HistogramVec
	models                                                                 models
}

func newMetrics(j *journal) *metrics {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	registry.MustRegister(newArmMetrics(j))
	f := promauto.With(registry)
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return f.NewCounterVec(prometheus.CounterOpts{Namespace: "carryon", Name: name, Help: help}, labels)
	}
	histogram := func(name, help string, labels ...string) *prometheus.HistogramVec {
		return f.NewHistogramVec(prometheus.HistogramOpts{Namespace: "carryon", Name: name, Help: help, Buckets: telemetry.Seconds()}, labels)
	}
	m := &metrics{
		Handler:       promhttp.HandlerFor(registry, promhttp.HandlerOpts{}),
		registry:      registry,
		requests:      counter("requests_total", "Requests of clients, by the status of their answers; 0 without one.", "status"),
		calls:         counter("calls_total", "Calls of models, by why they went no further and whether they were continued.", "reason", "continued"),
		decisions:     counter("decisions_total", "Decisions on whether to continue, by reason.", "reason"),
		continuations: counter("continuations_total", "Requests that carryon added, by result.", "result"),
		tokens:        counter("tokens_total", "Tokens that the upstream reported, of the clients' own turns and of continuations.", "turn", "type", "model"),
		exhausted:     counter("exhausted_total", "Calls that used up a budget with work still on the list, by which.", "reason"),
		failures:      counter("failures_total", "Failures that did not cost a client its answer, by what failed.", "operation"),
		pauses:        counter("pauses_total", "Pauses by the model.").WithLabelValues(),
		rejected:      counter("pauses_rejected_total", "Pauses whose reason was rejected.").WithLabelValues(),
		open: f.NewGaugeVec(prometheus.GaugeOpts{
			Namespace: "carryon", Name: "calls_open", Help: "Open calls that carryon may continue, streamed or not.",
		}, []string{"stream"}),
		join:  histogram("join_duration_seconds", "How long a stream stood still before a continuation: from the finish of a turn to the first chunk of the next.").WithLabelValues(),
		wait:  histogram("wait_duration_seconds", "Waits before a continuation, to keep the interval.").WithLabelValues(),
		todos: histogram("todos_duration_seconds", "How long it took to read a todo list, by the kind of error.", "error_type"),
		store: histogram("store_duration_seconds", "How long the shared state took to answer, with -state, by the kind of error.", "error_type"),
	}
	m.worth = worthMetrics{
		resumed:  counter("stalls_resumed_total", "Continuations after which the todo list made progress in the same user turn.").WithLabelValues(),
		finished: counter("todos_finished_total", "Todos completed after those continuations.").WithLabelValues(),
		unsent:   counter("continuations_unsent_total", "Continuations that were not sent because of -dry-run or -holdout.").WithLabelValues(),
		unwanted: counter("continuations_unwanted_total", "Continuations that led to no progress, by what became of them.", "result"),
		tokens:   counter("continuation_tokens_total", "Tokens of continuations that the upstream reported, by what they cost.", "type"),
		estimate: counter("unsent_tokens_total", "Tokens that the continuations that were not sent would have used, estimated.", "type"),
	}
	m.worth.add(middleware.Worth{}) // so that the first one is an increase
	m.todos.WithLabelValues("")
	m.store.WithLabelValues("")
	for _, result := range []string{"tool_call", "text", "paused", "failed", "interrupted"} {
		m.continuations.WithLabelValues(result) // so that the first one is an increase
	}
	m.failures.WithLabelValues("continuation")
	for _, stream := range []bool{false, true} {
		m.open.WithLabelValues(strconv.FormatBool(stream))
	}
	return m
}

// worthMetrics count what continuations were worth.
type worthMetrics struct {
	resumed, finished, unsent  prometheus.Counter
	unwanted, tokens, estimate *prometheus.CounterVec
}

func (m *worthMetrics) add(w middleware.Worth) {
	m.resumed.Add(float64(w.Resumed))
	m.finished.Add(float64(w.Finished))
	m.unsent.Add(float64(w.Unsent))
	for result, n := range map[string]int{"paused": w.Paused, "repeated": w.Repeated, "no_progress": w.NoProgress} {
		m.unwanted.WithLabelValues(result).Add(float64(n))
	}
	addTokens(m.tokens, w.Tokens)
	addTokens(m.estimate, w.Estimate)
}

func addTokens(counter *prometheus.CounterVec, t middleware.Tokens) {
	for kind, n := range map[string]int{"input": t.Input, "cached": t.Cached, "output": t.Output} {
		counter.WithLabelValues(kind).Add(float64(n))
	}
}

// ended counts an ended request.
func (m *metrics) ended(e *entry) { m.requests.WithLabelValues(strconv.Itoa(e.Status)).Inc() }

// maxModels is how many models have a label value of their own.
const maxModels = 50

// models are the models with a label value of their own: the first ones for which
// the upstream reported tokens. Clients cannot invent others.
type models struct {
	mu    sync.Mutex
	known map[string]struct{}
}

// label returns the label value of a model.
func (m *models) label(name string) string {
	name = short(name, maxName)
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.known[name]; ok {
		return name
	}
	if len(m.known) == maxModels {
		return "other"
	}
	if m.known == nil {
		m.known = make(map[string]struct{})
	}
	m.known[name] = struct{}{}
	return name
}
