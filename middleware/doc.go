// Package middleware keeps an agent working until its todo list is done. It
// wraps a model client: when the model ends a turn without
// calling a tool while the list still has work on it, the model is asked once
// more, with a message that never enters the caller's history and with one
// extra tool, todo_pause. The caller sees one answer, streamed as it comes.
//
// # Using it
//
// A [Middleware] is made from a source of todos and wrapped around a client by
// the adapter for its SDK:
//
//	mw := middleware.New(todos)
//	client := carryopenai.Wrap(openaiClient, mw)
//
// The [Outcome] of a call says what the Middleware did with it; see [Capture]. An
// [Observer] and a logger hear of it as it happens.
//
// # Adapting another SDK
//
// The engine is generic over the SDK's own chunk or answer type C and never
// translates one: the adapter tells it what it needs to know about a C, by a dialect
// with the four methods of package adapter. An adapter fills in a request, gives it
// to [Middleware.Begin], and gives the [Call] to [NewStream] (a stream that is
// pulled), to [Unary] (a whole answer), or to Unary with a [Filter] (a whole answer,
// streamed through a callback). Only adapters need Begin, [Middleware.Pass],
// [Middleware.AttachesReminders], Call, NewStream, [Stream], [Relay], Unary,
// NewFilter, Filter and [TurnFilter]. The package example adapts a made-up SDK;
// carryontest.TestDialect checks a dialect.
//
// The engine starts no goroutine: the consumer of a stream drives it. It keeps one
// copy of the text of each call that it may continue.
package middleware
