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
// # Metrics
//
// Each has the attributes in parentheses. Reasons, results and operations are fixed
// words, and a session is never an attribute. Beyond a limit, models
// share the attribute "_OTHER".
//
//   - carryon.calls (carryon.continued, carryon.reason): calls, by why carryon stopped
//   - carryon.calls.open (gen_ai.request.stream): open calls that carryon may continue
//   - carryon.decisions (carryon.reason): decisions on whether to continue
//   - carryon.continuations (carryon.result): requests that carryon added
//   - carryon.questions (carryon.result): continuations that asked whether anything is
//     open
//   - carryon.tokens (carryon.turn.kind, gen_ai.request.model, gen_ai.token.type):
//     tokens that the provider reported, for the caller's own turns and for
//     continuations
//   - carryon.pauses: pauses by the model
//   - carryon.pauses.rejected: pauses whose reason was rejected
//   - carryon.exhausted (carryon.reason): calls that used up a budget with work still on
//     the list
//   - carryon.tasks.delivered: background tasks whose end was reported to the model
//   - carryon.stalls.resumed: continuations after which the list made progress in the
//     same user turn
//   - carryon.todos.finished: todos completed after those continuations
//   - carryon.checks.failed: failures of the program's check whether the work is done
//   - carryon.checks.mended: checks that passed after continuations because of failures
//   - carryon.continuations.unwanted (carryon.result): continuations that led to no
//     progress
//   - carryon.continuations.unreported: continuations whose tokens the provider did not
//     report in full: they are missing from carryon.continuation.tokens
//   - carryon.continuations.unsent: continuations not sent, in a dry run or a control
//     group
//   - carryon.continuation.tokens (gen_ai.token.type): tokens of continuations: new
//     input, cached input, output
//   - carryon.question.tokens (gen_ai.token.type): those of closing questions
//   - carryon.unsent.tokens (gen_ai.token.type): estimated tokens of continuations that
//     were not sent
//   - carryon.failures (carryon.operation): failures that did not cost the caller its
//     answer
//   - carryon.join.duration: seconds that the stream paused before a continuation
//   - carryon.wait.duration: seconds waited before a continuation, to keep the interval
//   - carryon.todos.duration (error.type): seconds that the todo source took
//   - carryon.store.duration (error.type): seconds that the store took
//   - gen_ai.client.operation.duration (error.type, gen_ai.operation.name,
//     gen_ai.provider.name, gen_ai.request.model): seconds that a turn took, with
//     [WithInferenceMetrics]
//   - gen_ai.client.operation.time_to_first_chunk (gen_ai.operation.name,
//     gen_ai.provider.name, gen_ai.request.model): seconds to the first chunk of a
//     stream, with the same option
//
// The package depends only on OpenTelemetry's API. Import it as carryonotel, because
// OpenTelemetry's own package is called otel.
package otel
