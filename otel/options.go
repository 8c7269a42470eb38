package otel

import (
	"crypto/sha256"
	"encoding/hex"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

// Option is an option of [NewObserver].
type Option func(*options)

type options struct {
	tracers   trace.TracerProvider
	meters    metric.MeterProvider
	session   SessionMode
	inference bool
	content   bool
}

// WithTracerProvider sets the provider for spans. The default is OpenTelemetry's
// global provider.
func WithTracerProvider(p trace.TracerProvider) Option {
	return check(p != nil, func(o *options) { o.tracers = p }, "nil tracer provider")
}

// WithMeterProvider sets the provider for metrics. The default is OpenTelemetry's
// global provider.
func WithMeterProvider(p metric.MeterProvider) Option {
	return check(p != nil, func(o *options) { o.meters = p }, "nil meter provider")
}

// WithInferenceMetrics adds the histograms of the conventions: the duration of turns
// and the time to their first chunk, both in seconds. It is for programs whose SDK
// is not instrumented.
func WithInferenceMetrics() Option {
	return func(o *options) { o.inference = true }
}

// SessionMode says how a span names the session.
type SessionMode uint8

// The session modes. Session names may be personal data, which does not belong in
// every trace store.
const (
	SessionAsIs    SessionMode = iota // report the name; the default
	SessionHashed                     // report the first 16 hexadecimal digits of the name's SHA-256
	SessionOmitted                    // report no name
)

// WithSession sets how spans name the session. Metrics never do.
func WithSession(mode SessionMode) Option {
	return check(mode <= SessionOmitted, func(o *options) { o.session = mode }, "unknown session mode")
}

// WithContent also reports texts: todos, prompts, reasons of pauses, and the texts of
// errors.
func WithContent() Option {
	return func(o *options) { o.content = true }
}

// newOptions applies the options to the defaults. It panics if one is not valid.
func newOptions(opts []Option) options {
	o := options{tracers: otel.GetTracerProvider(), meters: otel.GetMeterProvider()}
	for _, option := range opts {
		if option != nil {
			option(&o)
		}
	}
	return o
}

// check returns set if ok, and otherwise an option with which NewObserver panics.
func check(ok bool, set Option, problem string) Option {
	if ok {
		return set
	}
	return func(*options) { panic("carryon/otel: " + problem) }
}

// sessionName returns the name under which a session is reported, or "".
func (o *options) sessionName(session string) string {
	switch {
	case session == "" || o.session == SessionOmitted:
		return ""
	case o.session == SessionHashed:
		sum := sha256.Sum256([]byte(session))
		return hex.EncodeToString(sum[:8])
	}
	return session
}
