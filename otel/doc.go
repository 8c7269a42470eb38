// Package otel exports carryon's activity to OpenTelemetry: a span for each call
// that carryon may continue, a child span for each of its turns, and metrics.
//
//	mw := middleware.New(todos, middleware.WithObserver(carryonotel.NewObserver()))
//
// The span of a call is called "carryon.call". It encloses one client span per
// turn, named after the operation and the model ("chat gpt-4.1"), with the
// attributes of OpenTelemetry's conventions for generative AI. Each turn's request
// has the ctx of its span. Put an instrumented http.RoundTripper, such as that of
// otelhttp, below carryon, and each turn gets its own traceparent.
//
// Calls that carryon leaves alone get no span; only the metrics count them. Without
// [WithContent], the package reports no text of a message, todo, prompt or reason.
//
// The package depends only on OpenTelemetry's API. Import it as carryonotel, because
// OpenTelemetry's own package is called otel.
package otel
