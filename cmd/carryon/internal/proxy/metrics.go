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
			Help: "Requests of clients, by the status of the answer; 0 without an answer",
		}, []string{"status"}),
	}, nil
}

// newContinuing returns the metric that shows whether calls are continued at all.
func newContinuing(c *Config) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: "carryon", Name: "continuing", Help: "1, or 0 while continuing is switched off",
	}, func() float64 {
		if c.offSince().IsZero() {
			return 1
		}
		return 0
	})
}

// ended counts an ended request.
func (m *metrics) ended(e *entry) { m.requests.WithLabelValues(strconv.Itoa(e.Status)).Inc() }

// armMetrics are the figures of both arms of the holdout, of the sessions that this
// process has served. They may fall: a session whose list was finished can get another
// one, and another share begins anew.
type armMetrics struct {
	journal                                *journal
	sessions, told, goOns, tokens, seconds *prometheus.Desc
}

func newArmMetrics(j *journal) *armMetrics {
	describe := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("carryon_holdout_"+name, help, append([]string{"arm"}, labels...), nil)
	}
	return &armMetrics{
		journal:  j,
		sessions: describe("sessions", "Sessions that had a todo list, by whether the list is finished, in the control group (held_out) and the others (continued)", "list"),
		told:     describe("sessions_told", "Sessions with a todo list in which the user had to say go on"),
		goOns:    describe("go_on_messages", "Messages of users that only say go on, in sessions with work left on the list"),
		tokens:   describe("tokens", "Tokens that all turns of sessions with a todo list used", "type"),
		seconds:  describe("seconds", "Time that sessions with a todo list took, with pauses of up to ten minutes"),
	}
}

// Describe implements [prometheus.Collector].
func (m *armMetrics) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{m.sessions, m.told, m.goOns, m.tokens, m.seconds} {
		to <- d
	}
}

// Collect implements [prometheus.Collector].
func (m *armMetrics) Collect(to chan<- prometheus.Metric) {
	continued, heldOut := m.journal.ownArms()
	for name, a := range map[string]arm{"continued": continued, "held_out": heldOut} {
		set := func(d *prometheus.Desc, value float64, labels ...string) {
			to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, append([]string{name}, labels...)...)
		}
		set(m.sessions, float64(a.Finished), "finished")
		set(m.sessions, float64(a.Sessions-a.Finished), "open")
		set(m.told, float64(a.Told))
		set(m.goOns, float64(a.GoOns))
		set(m.seconds, a.Seconds.Sum)
		set(m.tokens, float64(a.Used.Input), "input")
		set(m.tokens, float64(a.Used.Cached), "cached")
		set(m.tokens, float64(a.Used.Output), "output")
	}
}

// ownArms returns both arms of the sessions that this process has served.
func (j *journal) ownArms() (continued, heldOut arm) {
	share, _ := j.config.rules().share() // Check has looked at it
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.own.arms(share)
}
