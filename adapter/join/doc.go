// Package join is where the adapter of an SDK enters the engine: it joins the turns of a
// call into one answer.
//
// The engine is generic over the SDK's own chunk or answer type C and converts nothing:
// a dialect, with the four methods of [adapter.Dialect], tells it what it needs to know
// about a C. An adapter describes a request and passes it to [Begin]. It passes the
// resulting [Call] to [NewStream] for a stream that is pulled, to [Unary] for a whole
// answer, or to Unary with a [Filter] for a whole answer that is also streamed through a
// callback. The examples adapt a made-up SDK, carryon/conformance/anthropic a real one in
// full, and adaptertest.TestDialect checks a dialect.
//
// Nothing here starts a goroutine: the consumer of a stream drives it. One copy of the text
// is kept of each call that may be continued.
package join
