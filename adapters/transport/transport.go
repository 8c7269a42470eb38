package transport

import (
	"net/http"

	"github.com/carryon-go/carryon/internal/scope"
	"github.com/carryon-go/carryon/middleware"
)

// Bounds of what is kept in memory.
const (
	// MaxBody is the size in bytes up to which requests, and answers that are
	// not streamed, are looked at. Larger ones pass untouched.
	MaxBody = 64 << 20
	// MaxEvent is the size in bytes of an event of a stream, up to which it is
	// looked at. A stream with a larger one passes as it comes.
	MaxEvent = 32 << 20
)

// New returns a RoundTripper that continues the chat completions that go
// through base, as mw says. A nil base is http.DefaultTransport, as it is for
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
		panic("transport: nil middleware")
	}
	if base == nil {
		base = http.DefaultTransport
	}
	return &transport{base: base, mw: mw}
}

type transport struct {
	base http.RoundTripper
	mw   *middleware.Middleware
}

// RoundTrip implements [http.RoundTripper].
func (t *transport) RoundTrip(original *http.Request) (*http.Response, error) {
	if !concerns(original) {
		return t.base.RoundTrip(original)
	}
	if ctx := original.Context(); scope.Suppressed(ctx) || scope.InLayer(ctx) {
		t.mw.Begin(ctx, middleware.Request{}) // which reports it; the body need not be read for that
		return t.base.RoundTrip(original)
	}
	r, body := readRequest(t.base, original)
	if body == nil {
		return t.pass(r, original)
	}
	description, ok := r.describe(body)
	if !ok {
		return t.pass(r, original)
	}
	if t.mw.CarriesNotes() {
		description.Carrier = r.carrier()
	}
	call := t.mw.Begin(original.Context(), description)
	if call == nil {
		return t.pass(r, original)
	}
	x := exchange{call: call, request: r, original: original}
	if r.stream {
		return x.streamed(body)
	}
	return x.unary(body)
}

// pass sends a request that carryon has nothing to do with.
func (t *transport) pass(r *request, original *http.Request) (*http.Response, error) {
	response, err := t.base.RoundTrip(r.http)
	if response != nil && r.http != original {
		response.Request = original
	}
	return response, err
}

// CloseIdleConnections is what http.Client's asks for.
func (t *transport) CloseIdleConnections() {
	if base, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		base.CloseIdleConnections()
	}
}
