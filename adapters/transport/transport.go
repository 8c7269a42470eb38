package transport

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/adapter/join"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/scope"
	"github.com/carryon-go/carryon/internal/wire"
	"github.com/carryon-go/carryon/internal/wire/protocols"
	"github.com/carryon-go/carryon/internal/wire/sse"
	"github.com/carryon-go/carryon/middleware"
)

// MaxBody is the largest request, and the largest answer that is not streamed, in bytes,
// that carryon reads. Larger ones pass through unchanged. So does a stream, from an event
// of more than 32 MiB on.
const MaxBody = 64 << 20

// New returns a RoundTripper that sends requests through base, and continues the calls
// of all four protocols as mw decides. A nil base means http.DefaultTransport. New
// panics if mw is nil.
//
// The result is safe for concurrent use if base is. Its method CloseIdleConnections
// calls that of base. As with any RoundTripper, the caller must close the bodies of
// responses. If an answer is streamed, Read of its body sends the continuations;
// otherwise RoundTrip sends them before it returns. Close may be called while Read
// runs, and interrupts it.
//
// The call does not fail because a continuation fails. If the ctx of the request ends
// during a continuation, Read returns its error, or RoundTrip if the answer is not
// streamed.
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
	if reason != reasons.None {
		join.Pass(original.Context(), t.mw, reason)
		return t.base.RoundTrip(original)
	}
	if ctx := original.Context(); scope.Suppressed(ctx) || scope.InLayer(ctx) {
		join.Begin(ctx, t.mw, adapter.Request{}) // which reports it; the body need not be read for that
		if translates(protocol) == nil {
			return t.base.RoundTrip(original)
		}
		r, body, _ := readRequest(t, original)
		return t.pass(r, original, protocol, body)
	}
	r, body, reason := readRequest(t, original)
	if reason != reasons.None {
		join.Pass(original.Context(), t.mw, reason)
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
	if r.parsed.Stream() {
		return x.streamed(body)
	}
	return x.unary(body)
}

// begin parses the body of a request and begins its call. The call is nil if
// the body is not of the protocol, or if carryon does not continue the call.
func (t *transport) begin(r *request, original *http.Request, protocol wire.Protocol, body []byte) *join.Call {
	described, parsed, ok := protocol.Parse(original.URL, body, r)
	if !ok {
		join.Pass(original.Context(), t.mw, reasons.Unreadable)
		return nil
	}
	r.parsed = parsed
	if described.LeaveAlone == reasons.None && wire.HasSideHeader(original.Header.Get) {
		described.LeaveAlone = reasons.SideCall
	}
	described.SubAgent = described.SubAgent || wire.HasSubAgentHeader(original.Header.Get)
	if join.AttachesReminders(t.mw) {
		described.Attachable = parsed.Attachable(r)
	}
	if loop := described.Loop; loop != nil {
		described.Loop = func(add func(string)) {
			addCaller(original, add)
			addSessions(original, add)
			loop(add)
		}
	}
	described.Size = len(body)
	described.Timeout, described.ReadTimeout = timeoutsOf(original.Header, parsed.Stream())
	call, _ := join.Begin(original.Context(), t.mw, described)
	return call
}

// pass sends a request that carryon does not continue. body is nil if it was
// not read. pass changes the body only where it refers to a joined answer.
func (t *transport) pass(r *request, original *http.Request, protocol wire.Protocol, body []byte) (*http.Response, error) {
	send := r.http
	if translator := translates(protocol); translator != nil && body != nil {
		if changed := translator.Translate(body); changed != nil {
			send = r.firstRequest(original.Context(), changed)
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
	return nil, reasons.Path
}

// CloseIdleConnections implements the interface that http.Client looks for.
func (t *transport) CloseIdleConnections() {
	if base, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		base.CloseIdleConnections()
	}
}

// exchange is a call: the caller's request and its answer.
type exchange struct {
	call     *join.Call
	request  *request
	original *http.Request
	response *http.Response // of the caller's own turn
	asItCame bool           // the response is returned as it came
}

// send sends the caller's own request.
func (x *exchange) send(body []byte) error {
	var changed []byte
	if a := x.call.Additions(); !a.IsZero() {
		changed = x.request.parsed.Add(body, a)
	}
	response, err := x.request.transport.base.RoundTrip(x.request.firstRequest(x.call.OpenContext(), changed)) //nolint:bodyclose // the caller does
	if err != nil {
		return err
	}
	response.Request = x.original
	x.response = response
	return nil
}

// streamed makes a call whose answer is streamed.
func (x *exchange) streamed(body []byte) (*http.Response, error) {
	if err := x.send(body); err != nil {
		x.call.Abort(err)
		return nil, err
	}
	if err := unusable(x.response, isEventStream); err != nil {
		x.call.Abort(err)
		return x.response, nil
	}
	codec, first := x.request.parsed.NewCodec(), wire.NewSource(x.response.Body, nil)
	stream := join.NewStream[sse.Event](x.call, codec, first, x.request.open)
	x.response.Body = wire.NewAnswerBody(engine{stream}, codec, first)
	x.setLength(-1)
	return x.response, nil
}

// engine is the engine's stream as a [wire.Stream].
type engine struct {
	*join.Stream[sse.Event]
}

// ErrClosed implements [wire.Stream].
func (engine) ErrClosed() error { return http.ErrBodyReadAfterClose }

// Relay implements [wire.Stream].
func (g engine) Relay() wire.Relay {
	if relay := g.Stream.Relay(); relay != nil {
		return relay
	}
	return nil
}

// unary makes a call whose answer is not streamed.
func (x *exchange) unary(body []byte) (*http.Response, error) {
	answer, err := join.Unary(x.call, x.request.parsed.NewDialect(),
		func(ctx context.Context, k *adapter.Continuation) (sse.Event, error) {
			if k == nil {
				return x.first(body)
			}
			response, err := x.request.send(ctx, k, isJSON)
			if err != nil {
				return sse.Event{}, err
			}
			defer response.Body.Close() //nolint:errcheck // it was read to its end, or has failed
			return validAnswer(readAll(response.Body, response.ContentLength))
		})
	switch {
	case x.asItCame:
		return x.response, nil
	case err != nil:
		return nil, err
	}
	if answer.Written {
		_ = x.response.Body.Close() // it was read
		x.response.Body = io.NopCloser(bytes.NewReader(answer.Raw))
		x.setLength(len(answer.Raw))
	}
	return x.response, nil
}

// first sends the caller's own request of a call that is not streamed.
func (x *exchange) first(body []byte) (sse.Event, error) {
	if err := x.send(body); err != nil {
		return sse.Event{}, err
	}
	r := x.response
	if err := unusable(r, isJSON); err != nil {
		x.asItCame = true
		return sse.Event{}, err
	}
	data, again, err := buffer(r.Body, r.ContentLength)
	r.Body = again
	answer, err := answerOf(data, err)
	x.asItCame = err != nil
	return answer, err
}

// answerOf returns the answer in data, whose reading ended with err. err counts
// only if the answer is incomplete.
func answerOf(data []byte, err error) (sse.Event, error) {
	answer := sse.Document(data, false)
	switch {
	case answer.Kind == sse.Object && !errors.Is(err, ErrTooLarge):
		return answer, nil
	case err != nil:
		return sse.Event{}, err
	}
	return sse.Event{}, ErrUnreadable
}

// validAnswer is answerOf for a continuation: all of the answer must be JSON, because it
// is joined to one that is.
func validAnswer(data []byte, err error) (sse.Event, error) {
	answer, err := answerOf(data, err)
	if err == nil && rawjson.ValidObjectEnd(answer.Data()) < 0 {
		return sse.Event{}, ErrUnreadable
	}
	return answer, err
}

// unusable returns why carryon must leave an answer alone, or nil.
func unusable(r *http.Response, kind func(http.Header) bool) error {
	switch {
	case r.StatusCode != http.StatusOK:
		return statusError(r)
	case isEncoded(r.Header):
		return ErrEncoded
	case !kind(r.Header):
		return ErrKind
	}
	return nil
}

func isEventStream(h http.Header) bool { return mediaType(h) == "text/event-stream" }

// setLength makes the header of the response fit a body of n bytes, or one of
// unknown length if n is -1.
func (x *exchange) setLength(n int) {
	r := x.response
	ofTheBody := []string{"Content-Length", "Etag", "Digest", "Content-Digest", "Content-Md5"}
	known := r.ContentLength >= 0 && n >= 0
	has := func(name string) bool { return r.Header[name] != nil }
	if slices.ContainsFunc(ofTheBody, has) {
		header := r.Header.Clone() // the base transport may reuse its own
		for _, name := range ofTheBody {
			header.Del(name)
		}
		if known && has("Content-Length") {
			header.Set("Content-Length", strconv.Itoa(n))
		}
		r.Header = header
	}
	r.ContentLength = -1
	if known {
		r.ContentLength = int64(n)
	}
}

// Errors of the caller's own turn or of a continuation, in addition to those of the
// base transport. They appear, perhaps wrapped, in outcomes and events. The program
// itself receives the answer that it would get without carryon. A status that is not 200
// is an [adapter.StatusError].
var (
	ErrKind       = errors.New("transport: the answer is not of the type requested, JSON or an event stream")
	ErrEncoded    = errors.New("transport: the answer is compressed")
	ErrTooLarge   = errors.New("transport: the body is larger than MaxBody")
	ErrUnreadable = wire.ErrUnreadable // the answer is not the JSON of one
)

// ProviderError is an error that the provider reported instead of an answer, or in the
// middle of one. Its fields come from the provider; a field that the provider leaves
// out is zero. Use [errors.As] with a *ProviderError.
type ProviderError = wire.ProviderError

// maxErrorBody is how many bytes of a refusal are read for its message.
const maxErrorBody = 64 << 10

var errStatus = errors.New("transport: answered with a status that is not 200")

// statusError returns the error of an answer whose status is not 200, from its
// status line and header.
func statusError(r *http.Response) *adapter.StatusError {
	return &adapter.StatusError{Status: r.StatusCode, Err: errStatus, Retry: adapter.RetryOf(r.Header.Get)}
}

// refusal returns the error of an answer whose status is not 200, with the
// provider's message from the body.
func refusal(r *http.Response, request wire.Request) error {
	status := statusError(r)
	body, _ := io.ReadAll(io.LimitReader(r.Body, maxErrorBody)) // a part of it may do
	if err := request.Refusal(body); err != nil {
		status.Err = err
	}
	return status
}
