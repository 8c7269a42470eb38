package transport

import (
	"net/http"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/scope"
	"github.com/carryon-go/carryon/internal/wire"
	"github.com/carryon-go/carryon/internal/wire/protocols"
	"github.com/carryon-go/carryon/internal/wire/sse"
	"github.com/carryon-go/carryon/middleware"
)

// Limits of memory.
const (
	// MaxBody is the largest size in bytes of a request, or of an answer that
	// is not streamed, that carryon reads. Larger ones pass untouched.
	MaxBody = 64 << 20
	// MaxEvent is the largest size in bytes of an event in a stream that
	// carryon reads. From a larger event on, a stream passes untouched.
	MaxEvent = sse.MaxEvent
)

// New returns a RoundTripper that sends requests through base and continues
// calls of all four protocols as mw decides. A nil base means
// http.DefaultTransport. New panics if mw is nil.
//
// The result is safe for concurrent use if base is. Its method
// CloseIdleConnections calls base's. The caller must close the bodies of
// answers, as always. For a streamed answer, Read of the body sends the
// continuations; otherwise, RoundTrip sends them before it returns. Close may
// be called while Read runs, and ends it.
//
// A continuation that fails does not fail the call. If the ctx of the request
// ends during one, its error is returned: by Read, or by RoundTrip for an
// answer that is not streamed.
func New(base http.RoundTripper, mw *middleware.Middleware) http.RoundTripper {
	if mw == nil {
		panic("carryon/adapters/transport: nil middleware")
	}
	if base == nil {
		base = http.DefaultTransport
	}
	return &transport{base: base, mw: mw, protocols: protocols.New()}
}

type transport struct {
	base      http.RoundTripper
	mw        *middleware.Middleware
	protocols []wire.Protocol
}

// RoundTrip implements [http.RoundTripper].
func (t *transport) RoundTrip(original *http.Request) (*http.Response, error) {
	protocol, reason := t.protocolOf(original)
	if reason != continuation.ReasonNone {
		t.mw.Pass(original.Context(), reason)
		return t.base.RoundTrip(original)
	}
	if ctx := original.Context(); scope.Suppressed(ctx) || scope.InLayer(ctx) {
		t.mw.Begin(ctx, adapter.Request{}) // which reports it; the body need not be read for that
		if translates(protocol) == nil {
			return t.base.RoundTrip(original)
		}
		r, body, _ := readRequest(t.base, original)
		return t.pass(r, original, protocol, body)
	}
	r, body, reason := readRequest(t.base, original)
	if reason != continuation.ReasonNone {
		t.mw.Pass(original.Context(), reason)
		return t.pass(r, original, protocol, nil)
	}
	call := t.begin(r, original, protocol, body)
	switch {
	case r.parsed == nil:
		return t.pass(r, original, protocol, nil)
	case call == nil:
		return t.pass(r, original, protocol, body)
	}
	x := &exchange{call: call, request: r, original: original}
	return x.roundTrip(body)
}

// begin parses the body of a request and begins its call. The call is nil if
// the body is not of the protocol, or if carryon does not continue the call.
func (t *transport) begin(r *request, original *http.Request, protocol wire.Protocol, body []byte) *middleware.Call {
	facts, parsed, ok := protocol.Parse(original.URL, body, r)
	if !ok {
		t.mw.Pass(original.Context(), continuation.ReasonUnreadable)
		return nil
	}
	r.parsed = parsed
	if facts.LeaveAlone == continuation.ReasonNone && wire.HasSideHeader(original.Header.Get) {
		facts.LeaveAlone = continuation.ReasonSideCall
	}
	if t.mw.AttachesReminders() {
		facts.Attachable = parsed.Attachable(r)
	}
	if loop := facts.Loop; loop != nil {
		facts.Loop = func(add func(string)) {
			addCaller(original, add)
			addSessions(original, add)
			loop(add)
		}
	}
	facts.Size = len(body)
	facts.Timeout, facts.ReadTimeout = timeoutsOf(original.Header, parsed.Stream())
	call, _ := t.mw.Begin(original.Context(), facts)
	return call
}

// pass sends a request that carryon does not continue. body is nil if it was
// not read. pass changes the body only where it refers to a joined answer.
func (t *transport) pass(r *request, original *http.Request, protocol wire.Protocol, body []byte) (*http.Response, error) {
	send := r.http
	if translator := translates(protocol); translator != nil && body != nil {
		if changed := translator.Translate(body); changed != nil {
			send = r.own(original.Context(), changed)
		}
	}
	response, err := t.base.RoundTrip(send)
	if response != nil && send != original {
		response.Request = original
	}
	return response, err
}

// translates returns the translator of a protocol's requests, or nil if there
// is nothing to translate.
func translates(protocol wire.Protocol) wire.Translator {
	if translator, ok := protocol.(wire.Translator); ok && translator.Translates() {
		return translator
	}
	return nil
}

// forCaller returns the protocol as the caller of a request uses it.
func forCaller(protocol wire.Protocol, r *http.Request) wire.Protocol {
	if translator, ok := protocol.(wire.Translator); ok {
		return translator.For(func(add func(string)) { addCaller(r, add) })
	}
	return protocol
}

// protocolOf returns the protocol that a request may belong to, or the reason
// to leave it alone. It does not read the body.
func (t *transport) protocolOf(r *http.Request) (wire.Protocol, continuation.Reason) {
	if r.URL != nil {
		for _, protocol := range t.protocols {
			if protocol.Match(r.URL) {
				return forCaller(protocol, r), reasonNotToRead(r)
			}
		}
	}
	return nil, continuation.ReasonPath
}

// CloseIdleConnections implements the interface that http.Client looks for.
func (t *transport) CloseIdleConnections() {
	if base, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		base.CloseIdleConnections()
	}
}
