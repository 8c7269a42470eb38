package transport

import (
	"bytes"
	"context"
	"errors"
	"hash/maphash"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"weak"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/wire"
	"github.com/carryon-go/carryon/internal/wire/sse"
)

// request is a request whose body was read. Continuations are made from it. It is small,
// because every open stream has one.
type request struct {
	transport *transport
	http      *http.Request // the request to send: the caller's own where possible
	body      []byte        // nil if GetBody returns it
	size      uint32        // in bytes, of the body that GetBody returns
	hash      uint32        // of that body, to recognize it later
	parsed    wire.Request  // as its protocol has parsed it

	mu   sync.Mutex           // for last: todo sources may read at the same time
	last weak.Pointer[[]byte] // what Bytes returned last; weak, so that an open stream does not keep the body in memory
}

// reasonNotToRead returns why carryon must not read the request or send one
// like it, or the zero Reason.
func reasonNotToRead(r *http.Request) continuation.Reason {
	switch {
	case r.Method != http.MethodPost:
		return reasons.Method
	case r.Body == nil || r.Body == http.NoBody:
		return reasons.NoBody
	case isEncoded(r.Header):
		return reasons.Encoded
	case !isJSON(r.Header):
		return reasons.ContentType
	case r.ContentLength > MaxBody:
		return reasons.TooLarge
	case isSigned(r):
		return reasons.Signed
	}
	return reasons.None
}

// isSigned reports whether the request has a signature of its body, which would
// not match a continuation's body.
func isSigned(r *http.Request) bool {
	return strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-") || r.URL.RawQuery != "" && r.URL.Query().Has("X-Amz-Signature")
}

// isEncoded reports whether a body is compressed, or encoded in another way.
func isEncoded(h http.Header) bool {
	for _, value := range h["Content-Encoding"] {
		for encoding := range strings.SplitSeq(value, ",") {
			encoding = strings.TrimSpace(encoding)
			if encoding != "" && !strings.EqualFold(encoding, "identity") {
				return true
			}
		}
	}
	return false
}

// isJSON reports whether the header announces JSON, or no type: some clients
// announce none.
func isJSON(h http.Header) bool {
	kind := mediaType(h)
	return kind == "" || kind == "application/json" || strings.HasSuffix(kind, "+json")
}

func mediaType(h http.Header) string {
	kind, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

// readRequest reads the body, or returns the reason why it can't. The request
// can still be sent after that.
func readRequest(t *transport, original *http.Request) (*request, []byte, continuation.Reason) {
	r := &request{transport: t, http: original}
	length := original.ContentLength
	if length == 0 {
		length = -1 // of a request with a body, 0 is unknown too
	}
	if original.GetBody != nil {
		// The caller's request can be sent as it is, and a continuation reads
		// the body from GetBody.
		body, err := r.readCopy(roomFor(length), length)
		if err != nil {
			return r, nil, reasonOf(err)
		}
		r.size, r.hash = uint32(len(body)), hashOf(body) //nolint:gosec // no body is that long
		return r, body, reasons.None
	}
	r.http = original.WithContext(original.Context())
	body, again, err := buffer(original.Body, length)
	r.http.Body = again
	if err != nil {
		return r, nil, reasonOf(err)
	}
	r.body = body
	return r, body, reasons.None
}

// reasonOf returns the reason to leave a request alone whose body failed with
// err.
func reasonOf(err error) continuation.Reason {
	if errors.Is(err, ErrTooLarge) {
		return reasons.TooLarge
	}
	return reasons.Unreadable
}

// firstRoom is the size in bytes of a body's first buffer.
const firstRoom = 64 << 10

// readAll reads a body up to MaxBody. length is the announced length, negative
// if it is unknown. With an error, readAll returns the bytes read so far. An
// announced length may be wrong, so the buffer grows only with the bytes that
// arrive.
func readAll(body io.Reader, length int64) ([]byte, error) {
	return readInto(make([]byte, 0, roomFor(length)), body, length)
}

// roomFor returns the size of the first buffer for a body of the announced length.
func roomFor(length int64) int64 {
	if length < 0 {
		return bytes.MinRead
	}
	return min(length+1, firstRoom) // one more for the read that ends it
}

// readInto is readAll with a buffer, which is empty.
func readInto(b []byte, body io.Reader, length int64) ([]byte, error) {
	for len(b) <= MaxBody {
		n, err := body.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		switch {
		case len(b) > MaxBody:
		case errors.Is(err, io.EOF):
			return b, nil
		case err != nil:
			return b, err
		case len(b) == cap(b):
			b = slices.Grow(b, grownRoom(len(b), length)-len(b))
		}
	}
	return b, ErrTooLarge
}

// grownRoom returns the next buffer size after that many bytes have arrived:
// twice as many, but no more than the announced length needs.
func grownRoom(came int, length int64) int {
	most := MaxBody + 1
	if announced := int(min(length, MaxBody)) + 1; came < announced {
		most = announced
	}
	return min(2*came, most)
}

// buffer reads a body as readAll does, and returns a new body with the same
// bytes and the same error.
func buffer(body io.ReadCloser, length int64) (read []byte, again io.ReadCloser, err error) {
	read, err = readAll(body, length)
	tail := io.Reader(body)
	switch {
	case err == nil:
		_ = body.Close() // read to its end
		return read, io.NopCloser(bytes.NewReader(read)), nil
	case !errors.Is(err, ErrTooLarge):
		tail = broken{err}
	}
	return read, struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(read), tail), body}, err
}

// broken is the rest of a body that has failed.
type broken struct{ err error }

// Read returns the error.
func (b broken) Read([]byte) (int, error) { return 0, b.err }

// errBodyChanged is the error of a continuation if GetBody does not return the
// body that was sent.
var errBodyChanged = errors.New("transport: the request's GetBody gives another body")

// Bytes implements [wire.Body].
func (r *request) Bytes() ([]byte, error) {
	if r.body != nil {
		return r.body, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if last := r.last.Value(); last != nil {
		return *last, nil
	}
	size := int64(r.size)
	body, err := r.readCopy(size+1, size) // one more for the read that ends it
	if err == nil && (len(body) != int(r.size) || hashOf(body) != r.hash) {
		err = errBodyChanged
	}
	if err != nil {
		return nil, err
	}
	r.last = weak.Make(&body)
	return body, nil
}

// readCopy reads the body that GetBody returns, into a buffer that has room for that many
// bytes at first.
func (r *request) readCopy(room, length int64) ([]byte, error) {
	body, err := r.http.GetBody()
	if err != nil {
		return nil, err
	}
	defer body.Close() //nolint:errcheck // a copy of what is in memory already
	return readInto(make([]byte, 0, room), body, length)
}

// hashOf returns what identifies a body of known length within this process.
func hashOf(body []byte) uint32 { return uint32(maphash.Bytes(hashSeed, body)) } //nolint:gosec // a part of it is enough

var hashSeed = maphash.MakeSeed() //nolint:gochecknoglobals // constant while the process lives

// firstRequest returns the request of the caller's first turn. It replaces the body unless
// body is nil.
func (r *request) firstRequest(ctx context.Context, body []byte) *http.Request {
	if body == nil {
		return r.http.WithContext(ctx)
	}
	first := r.http.Clone(ctx)
	if r.body == nil {
		_ = first.Body.Close() // another one is sent
	}
	setBody(first, body)
	return first
}

// send sends a continuation. It is an error if carryon can't read the answer.
func (r *request) send(ctx context.Context, k *adapter.Continuation, kind func(http.Header) bool) (*http.Response, error) {
	body, err := r.Bytes()
	if err != nil {
		return nil, &adapter.StatusError{Err: err, Retry: adapter.Retry{Never: true}} // it is gone for good
	}
	next := r.http.Clone(ctx)
	next.Header.Del("Idempotency-Key") // it names the caller's own request
	next.Header.Del("Expect")
	setBody(next, r.parsed.Continue(body, k))
	response, err := r.transport.base.RoundTrip(next)
	if err != nil {
		return nil, err
	}
	if err := unusable(response, kind); err != nil {
		if response.StatusCode != http.StatusOK {
			err = refusal(response, r.parsed)
		}
		_ = response.Body.Close() // nobody reads more of it
		return nil, err
	}
	return response, nil
}

// open sends a continuation of a streamed call.
func (r *request) open(ctx context.Context, k *adapter.Continuation) (adapter.Source[sse.Event], error) {
	response, err := r.send(ctx, k, isEventStream) //nolint:bodyclose // the source does
	if err != nil {
		return nil, err
	}
	return wire.NewSource(response.Body, k), nil
}

// setBody sets the body of a request that carryon has made.
func setBody(r *http.Request, body []byte) {
	// net/http sets the length from the field; the digests are for another body.
	for _, name := range []string{"Content-Length", "Content-Md5", "Content-Digest", "Digest"} {
		r.Header.Del(name)
	}
	r.ContentLength = int64(len(body))
	r.TransferEncoding = nil
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	r.Body, _ = r.GetBody()
}

// Headers in which the SDKs of OpenAI, Anthropic and many other providers send
// their timeouts in seconds and their programming language. Google's SDKs send the
// time for the whole answer in a header of their own.
const (
	headerServerTimeout = "X-Server-Timeout"
	headerTimeout       = "X-Stainless-Timeout"
	headerReadTimeout   = "X-Stainless-Read-Timeout"
	headerLanguage      = "X-Stainless-Lang"
)

// timeoutsOf returns how long the client waits for the whole answer, and for
// the next part of it; 0 is unknown.
//
// The header's meaning depends on the SDK. For Go, Java, Kotlin and Ruby it is
// the time for the whole answer, for JavaScript the time for its header, and
// for Python the time between two reads. An answer that is not streamed comes
// in one part, with its header.
func timeoutsOf(h http.Header, stream bool) (whole, part time.Duration) {
	whole, part = seconds(h.Get(headerTimeout)), seconds(h.Get(headerReadTimeout))
	switch language := h.Get(headerLanguage); {
	case !stream:
		whole, part = shorter(whole, part), 0
	case language == "js":
		whole = 0
	case language == "python":
		whole, part = 0, shorter(whole, part)
	}
	return shorter(whole, seconds(h.Get(headerServerTimeout))), part
}

// shorter returns the shorter of two times; 0 is no limit.
func shorter(a, b time.Duration) time.Duration {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// seconds returns the time in a header, which is in seconds, or 0 if there is
// none. Some SDKs write 0 for less than a second.
func seconds(value string) time.Duration {
	const day = 24 * 60 * 60 // longer is no limit, and may be meant in milliseconds
	if value == "" {
		return 0
	}
	n, err := strconv.ParseFloat(value, 64)
	if err != nil || !(0 < n && n < day) {
		return 0
	}
	return time.Duration(n * float64(time.Second))
}

// addCaller adds the host and the credentials of a request, to tell its caller from
// another one. The texts are hashed, and not stored.
func addCaller(r *http.Request, add func(text string)) {
	add(r.URL.Host)
	add(r.URL.User.String())
	wire.AddCredentials(r.Header, r.URL.RawQuery, add)
}

// addSessions adds the headers that name a conversation. Such a header has one value
// in all requests of a tool loop, and tells apart the conversations of one caller.
func addSessions(r *http.Request, add func(text string)) {
	wire.AddHeaders(r.Header, func(name string) bool { return strings.Contains(strings.ToLower(name), "session") }, add)
}
