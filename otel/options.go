package otel

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

// Option is an option of [NewObserver].
type Option func(*options) error

type options struct {
	tracers     trace.TracerProvider
	meters      metric.MeterProvider
	conventions Conventions
	session     SessionMode
	inference   bool
	content     bool
}

// WithTracerProvider sets the provider for spans. The default is OpenTelemetry's
// global provider. A nil provider is an error.
func WithTracerProvider(p trace.TracerProvider) Option {
	return func(o *options) error {
		if p == nil {
			return errors.New("otel: nil tracer provider")
		}
		o.tracers = p
		return nil
	}
}

// WithMeterProvider sets the provider for metrics. The default is OpenTelemetry's
// global provider. A nil provider is an error.
func WithMeterProvider(p metric.MeterProvider) Option {
	return func(o *options) error {
		if p == nil {
			return errors.New("otel: nil meter provider")
		}
		o.meters = p
		return nil
	}
}

// WithConventions sets the version of the conventions for generative AI. The
// default is [V141].
func WithConventions(version Conventions) Option {
	return func(o *options) error {
		if version > GenAI142 {
			return errors.New("otel: unknown version of the conventions")
		}
		o.conventions = version
		return nil
	}
}

// WithInferenceMetrics adds the histograms of the conventions: the duration of turns
// and the time to their first chunk, both in seconds. It is for programs whose SDK
// is not instrumented.
func WithInferenceMetrics() Option {
	return func(o *options) error { o.inference = true; return nil }
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
	return func(o *options) error {
		if mode > SessionOmitted {
			return errors.New("otel: unknown session mode")
		}
		o.session = mode
		return nil
	}
}

// WithContent also reports texts: todos, prompts, reasons of pauses, and the texts of
// errors.
func WithContent() Option {
	return func(o *options) error { o.content = true; return nil }
}

func newOptions(opts []Option) (options, error) {
	o := options{tracers: otel.GetTracerProvider(), meters: otel.GetMeterProvider()}
	for _, option := range opts {
		if option == nil {
			continue
		}
		if err := option(&o); err != nil {
			return options{}, err
		}
	}
	return o, nil
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
