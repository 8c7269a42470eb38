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
// What it did with a call is in the call's [Outcome]; see [Capture]. An
// [Observer] and a logger are told as it happens.
//
// # Adapting another SDK
//
// The engine is generic over an SDK's own chunk or answer type and never
// translates one: what it needs to know of it, an adapter says through package
// adapter, with a dialect of four methods. An adapter fills in a request, gives
// it to [Middleware.Begin], and gives the [Call] to [NewStream] (a stream that is
// pulled), to [Unary] (a whole answer), or to Unary with a [Filter] (a whole
// answer, streamed through a callback). Only adapters need Begin, Call, NewStream,
// [Stream], [Relay], Unary, NewFilter, Filter and [TurnFilter]. The example of the
// package adapts a made-up SDK; carryontest.TestDialect checks a dialect.
//
// The engine starts no goroutine: a stream is driven by its consumer. It keeps
// one copy of the text of calls in scope, which a continuation replays.
package middleware
