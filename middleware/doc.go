// Package middleware keeps an agent working until its todo list is done. It wraps a
// model client: when the model ends a turn without calling a tool although the list has
// open todos, carryon asks it to go on, with a message that never enters the caller's
// history and with one extra tool, todo_pause. The caller sees one answer, streamed as
// it arrives.
//
// # Using it
//
// Begin with [New], which makes a [Middleware] from a source of todos. An adapter wraps
// it around a client:
//
//	mw := middleware.New(todos)
//	client := carryopenai.Wrap(openaiClient, mw) // or transport.New, carrylangchain.Wrap
//
// [Capture] returns the [Outcome] of each call, which says what carryon did and why.
// [WithLogger] and [WithObserver] report the same while it happens. [How it decides]
// describes the rules, and [Telemetry] the events.
//
// # Adapting another SDK
//
// The engine is generic over the SDK's own chunk or answer type C and converts nothing:
// a dialect, with the four methods of [adapter.Dialect], tells it what it needs to know
// about a C. An adapter describes a request and passes it to [Middleware.Begin]. It
// passes the resulting [Call] to [NewStream] for a stream that is pulled, to [Unary]
// for a whole answer, or to Unary with a [Filter] for a whole answer that is also
// streamed through a callback. Only adapters need Begin, [Middleware.Pass],
// [Middleware.AttachesReminders], Call, NewStream, [Stream], [Relay], Unary, NewFilter,
// Filter and [TurnFilter]. The package example adapts a made-up SDK, and
// adaptertest.TestDialect checks a dialect.
//
// The engine starts no goroutine: the consumer of a stream drives it. It keeps one copy
// of the text of each call that it may continue.
//
// [How it decides]: https://github.com/carryon-go/carryon/blob/main/docs/how-it-decides.md
// [Telemetry]: https://github.com/carryon-go/carryon/blob/main/docs/operators.md#telemetry
package middleware
