package proxy

import (
	"net/http"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/otlptranslator"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/carryon-go/carryon/middleware"
	carryonotel "github.com/carryon-go/carryon/otel"
)

// metricsPath is the path at which -metrics serves the metrics.
const metricsPath = "/metrics"

// metrics counts what the proxy does, for Prometheus: what package otel counts, and the
// requests. Clients cannot choose label values, except the name of a model; see package
// otel.
type metrics struct {
	http.Handler

	registry *prometheus.Registry
	observer middleware.Observer
	requests *prometheus.CounterVec
}

func newMetrics(j *journal) (*metrics, error) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	registry.MustRegister(newArmMetrics(j), newContinuing(j.config))
	exporter, err := otelprometheus.New(
		otelprometheus.WithRegisterer(registry), otelprometheus.WithoutScopeInfo(), otelprometheus.WithoutTargetInfo(),
		otelprometheus.WithTranslationStrategy(otlptranslator.UnderscoreEscapingWithSuffixes),
	)
	if err != nil {
		return nil, err
	}
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(exporter), sdkmetric.WithResource(resource.Empty()))
	return &metrics{
		Handler:  promhttp.HandlerFor(registry, promhttp.HandlerOpts{}),
		registry: registry,
		observer: carryonotel.NewObserver(carryonotel.WithMeterProvider(meters), carryonotel.WithTracerProvider(noop.NewTracerProvider())),
		requests: promauto.With(registry).NewCounterVec(prometheus.CounterOpts{
			Namespace: "carryon", Name: "requests_total",
			Help: "Requests of clients, by the status of their answers; 0 without one.",
		}, []string{"status"}),
	}, nil
}

// newContinuing returns the metric that shows whether calls are continued at all.
func newContinuing(c *Config) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: "carryon", Name: "continuing", Help: "1, or 0 while continuing is switched off.",
	}, func() float64 {
		if c.offSince().IsZero() {
			return 1
		}
		return 0
	})
}

// ended counts an ended request.
func (m *metrics) ended(e *entry) { m.requests.WithLabelValues(strconv.Itoa(e.Status)).Inc() }
