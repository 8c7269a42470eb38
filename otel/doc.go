// Package otel reports what carryon does to OpenTelemetry: a span for each call
// that carryon may continue, a span for each turn of it, and metrics.
//
//	mw := middleware.New(todos, middleware.WithObserver(carryonotel.NewObserver()))
//
// The span of a call is called "carryon.call". It encloses one client span per
// turn, called after the operation and the model ("chat gpt-4.1"), with the
// attributes of OpenTelemetry's conventions for generative AI. Each turn's request
// is sent with the ctx of its span: put an instrumented http.RoundTripper, such as
// otelhttp's, below carryon, and each turn has a traceparent of its own.
//
// Calls that carryon leaves alone get no span, and count in the metrics only. No
// text of a message, todo, prompt or reason is reported without [WithContent].
//
// The package needs OpenTelemetry's API only. Programs import it by the name
// carryonotel, because OpenTelemetry's own package is called otel.
package otel
