package proxy

import (
	"context"
	"net/http"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/carryon-go/carryon/middleware"
)

// metricsPath is where -metrics shows what is counted.
const metricsPath = "/metrics"

// metrics counts what the proxy does, for Prometheus.
type metrics struct {
	http.Handler

	requests      *prometheus.CounterVec
	decisions     *prometheus.CounterVec
	continuations *prometheus.CounterVec
	tokens        *prometheus.CounterVec
	pauses        prometheus.Counter
}

func newMetrics() *metrics {
	registry := prometheus.NewRegistry()
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "carryon", Name: name, Help: help}, labels)
		registry.MustRegister(c)
		return c
	}
	return &metrics{
		Handler:       promhttp.HandlerFor(registry, promhttp.HandlerOpts{}),
		requests:      counter("requests_total", "Requests of clients, by the status of their answers; 0 without one.", "status"),
		decisions:     counter("decisions_total", "Decisions on turns, by reason.", "reason"),
		continuations: counter("continuations_total", "Continuations that ended: well, or failed.", "result"),
		tokens:        counter("tokens_total", "Tokens that the upstream reported, of the clients' own turns and of continuations.", "turn", "kind"),
		pauses:        counter("pauses_total", "Pauses by the model.").WithLabelValues(),
	}
}

// ended counts a request that has ended.
func (m *metrics) ended(e *entry) { m.requests.WithLabelValues(strconv.Itoa(e.Status)).Inc() }

// observer returns an Observer that counts what carryon does.
func (m *metrics) observer() middleware.Observer {
	return middleware.Observer{
		TurnEnded: func(_ context.Context, e middleware.TurnEnded) {
			turn := "own"
			if e.Turn > 1 {
				turn = "continuation"
			}
			m.tokens.WithLabelValues(turn, "prompt").Add(float64(e.Usage.Prompt))
			m.tokens.WithLabelValues(turn, "completion").Add(float64(e.Usage.Completion))
		},
		Decision: func(_ context.Context, e middleware.Decision) {
			m.decisions.WithLabelValues(e.Evaluation.Reason.Code()).Inc()
		},
		ContinuationEnded: func(_ context.Context, e middleware.ContinuationEnded) {
			result := "well"
			if e.Err != nil {
				result = "failed"
			}
			m.continuations.WithLabelValues(result).Inc()
		},
		Paused: func(context.Context, middleware.Paused) { m.pauses.Inc() },
	}
}
