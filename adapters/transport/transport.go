package transport

import (
	"net/http"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/scope"
	"github.com/carryon-go/carryon/internal/sse"
	"github.com/carryon-go/carryon/internal/wire"
	"github.com/carryon-go/carryon/internal/wire/chatcompletions"
	"github.com/carryon-go/carryon/internal/wire/messages"
	"github.com/carryon-go/carryon/internal/wire/responses"
	"github.com/carryon-go/carryon/middleware"
)

// Bounds of what is kept in memory.
const (
	// MaxBody is the size in bytes up to which requests, and answers that are
	// not streamed, are read. Larger ones pass untouched.
	MaxBody = 64 << 20
	// MaxEvent is the size in bytes up to which an event of a stream is read. A
	// stream with a larger one passes as it comes.
	MaxEvent = sse.MaxEvent
)

// protocols returns those that a transport speaks. To add one, add it here.
func protocols() []wire.Protocol {
	return []wire.Protocol{chatcompletions.Protocol{}, messages.Protocol{}, responses.New()}
}

// New returns a RoundTripper that continues calls of all three protocols that
// go through base, as mw says. A nil base is http.DefaultTransport, as it is for
// an http.Client. It panics if mw is nil.
//
// The result is safe for concurrent use if base is. It has the method
// CloseIdleConnections, which is base's. The answers' bodies must be closed, as
// always; a continuation is sent while the body is read, by whoever reads it,
// or before the answer is returned if it is not streamed. Close may be called
// while Read runs, and ends it.
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
	return &transport{base: base, mw: mw, protocols: protocols()}
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
	if t.mw.SendsEarly() && translates(protocol) == nil {
		return t.early(r, original, protocol, body)
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

// begin begins the call of a request that was read, and sets what its protocol
// knows of it, if it is the protocol's. The call is nil if carryon does not continue it.
func (t *transport) begin(r *request, original *http.Request, protocol wire.Protocol, body []byte) *middleware.Call {
	facts, parsed, ok := protocol.Parse(body, r)
	if !ok {
		t.mw.Pass(original.Context(), continuation.ReasonUnreadable)
		return nil
	}
	r.parsed = parsed
	if t.mw.AttachesReminders() {
		facts.Attachable = parsed.Attachable(r)
	}
	if loop := facts.Loop; loop != nil {
		facts.Loop = func(add func(string)) {
			addCredentials(original, add)
			loop(add)
		}
	}
	facts.Size = len(body)
	facts.Timeout, facts.ReadTimeout = timeoutsOf(original.Header, parsed.Stream())
	call, _ := t.mw.Begin(original.Context(), facts)
	return call
}

// pass sends a request that carryon does not continue. Its body, nil if it was
// not read, is only changed where it refers to an answer that was joined.
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

// translates returns what translates the requests of a protocol, or nil if there
// is nothing to translate.
func translates(protocol wire.Protocol) wire.Translator {
	if translator, ok := protocol.(wire.Translator); ok && translator.Translates() {
		return translator
	}
	return nil
}

// protocolOf returns the protocol that a request may be of, or why it is left
// alone. It does not read the body.
func (t *transport) protocolOf(r *http.Request) (wire.Protocol, continuation.Reason) {
	if r.URL != nil {
		for _, protocol := range t.protocols {
			if protocol.Match(r.URL.Path) {
				return protocol, reasonNotToRead(r)
			}
		}
	}
	return nil, continuation.ReasonPath
}

// CloseIdleConnections is what http.Client's asks for.
func (t *transport) CloseIdleConnections() {
	if base, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		base.CloseIdleConnections()
	}
}
