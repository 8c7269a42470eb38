package transport

import (
	"bytes"
	"context"
	"errors"
	"hash/maphash"
	"io"
	"net/http"
	"strings"

	"github.com/carryon-go/carryon/middleware"
)

// request is a request for a chat completion.
type request struct {
	base   http.RoundTripper
	http   *http.Request // as it may be sent; the caller's own where that was possible
	body   []byte        // nil if GetBody has it
	seal   seal          // what to know it by then
	stream bool
	mirror []string // the members under which the history carries reasoning
}

// concerns reports whether the request may be one for a chat completion. It
// does not look at the body.
func concerns(r *http.Request) bool {
	return r.Method == http.MethodPost && r.URL != nil && strings.HasSuffix(r.URL.Path, "/chat/completions") &&
		r.Body != nil && r.Body != http.NoBody && r.ContentLength <= MaxBody &&
		r.Header.Get("Content-Encoding") == "" && isJSON(r.Header) && !isSigned(r)
}

// isSigned reports whether the request carries a signature of its body, which a
// continuation's would not match.
func isSigned(r *http.Request) bool {
	return strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-") || r.URL.Query().Has("X-Amz-Signature")
}

// isJSON reports whether what the header stands before is JSON. Some clients do
// not say so.
func isJSON(h http.Header) bool {
	kind := mediaType(h)
	return kind == "" || kind == "application/json" || strings.HasSuffix(kind, "+json")
}

func mediaType(h http.Header) string {
	kind, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

// readRequest reads the body. It is nil if it is too large or cannot be read;
// the request may then be sent, and is the same as it would have been.
func readRequest(base http.RoundTripper, original *http.Request) (*request, []byte) {
	r := &request{base: base, http: original}
	if original.GetBody != nil {
		// A copy is to be had: the caller's request can be sent as it is, and
		// nothing need be kept for a continuation.
		copied, err := original.GetBody()
		if err != nil {
			return r, nil
		}
		body, err := readAll(copied, original.ContentLength)
		_ = copied.Close() // a copy of what is in memory already
		if err != nil {
			return r, nil
		}
		r.seal = sealOf(body)
		return r, body
	}
	body, err := readAll(original.Body, original.ContentLength)
	r.http = original.WithContext(original.Context())
	if err != nil {
		r.http.Body = replay(body, err, original.Body)
		return r, nil
	}
	_ = original.Body.Close() // read to its end
	r.http.Body = io.NopCloser(bytes.NewReader(body))
	r.body = body
	return r, body
}

// readAll reads a body of a length that is known or not, up to MaxBody. What it
// has read comes with the error.
func readAll(body io.Reader, length int64) ([]byte, error) {
	var b bytes.Buffer
	if 0 < length && length <= MaxBody {
		b.Grow(int(length) + bytes.MinRead)
	}
	_, err := b.ReadFrom(io.LimitReader(body, MaxBody+1))
	if err == nil && b.Len() > MaxBody {
		err = ErrTooLarge
	}
	if b.Len() == 0 {
		return []byte{}, err
	}
	return b.Bytes(), err
}

// replay returns a body of which a part was read before err came.
func replay(read []byte, err error, rest io.ReadCloser) io.ReadCloser {
	tail := io.Reader(rest)
	if !errors.Is(err, ErrTooLarge) {
		tail = broken{err}
	}
	return struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(read), tail), rest}
}

// broken is a body that has failed.
type broken struct{ err error }

// Read returns the error.
func (b broken) Read([]byte) (int, error) { return 0, b.err }

// errBodyChanged is what a continuation fails with if GetBody does not give
// what was sent.
var errBodyChanged = errors.New("transport: the request's GetBody gives another body")

// bytes returns the body again.
func (r *request) bytes() ([]byte, error) {
	if r.body != nil {
		return r.body, nil
	}
	copied, err := r.http.GetBody()
	if err != nil {
		return nil, err
	}
	defer copied.Close() //nolint:errcheck // a copy of what is in memory already
	body, err := readAll(copied, int64(r.seal.length))
	if err == nil && sealOf(body) != r.seal {
		err = errBodyChanged
	}
	return body, err
}

// seal tells a body from another, within this process.
type seal struct {
	length int
	sum    uint64
}

func sealOf(body []byte) seal { return seal{len(body), maphash.Bytes(sealSeed, body)} }

var sealSeed = maphash.MakeSeed() //nolint:gochecknoglobals // constant as long as the process lives

// own returns the request for the caller's own turn.
func (r *request) own(call *middleware.Call, body []byte) *http.Request {
	notes := call.Notes()
	if !call.DeclaresPause() && len(notes) == 0 {
		return r.http.WithContext(call.OpenContext())
	}
	own := r.http.Clone(call.OpenContext())
	if r.body == nil {
		_ = own.Body.Close() // another one is sent
	}
	if body = annotate(body, notes); call.DeclaresPause() {
		body = declare(body, call.PauseTool())
	}
	setBody(own, body)
	return own
}

// extended returns the request of a continuation.
func (r *request) extended(ctx context.Context, k *middleware.Continuation) (*http.Request, error) {
	body, err := r.bytes()
	if err != nil {
		return nil, err
	}
	next := r.http.Clone(ctx)
	next.Header.Del("Idempotency-Key") // it names the caller's own request
	next.Header.Del("Expect")
	setBody(next, extend(annotate(body, k.Notes), k, r.mirror))
	return next, nil
}

// open sends a continuation of a streamed call.
func (r *request) open(ctx context.Context, k *middleware.Continuation) (middleware.Source[event], error) {
	response, err := r.more(ctx, k, isEventStream) //nolint:bodyclose // the source does
	if err != nil {
		return nil, err
	}
	return &source{body: response.Body, alive: k.Alive}, nil
}

// more sends a continuation, whose answer must be usable.
func (r *request) more(
	ctx context.Context, k *middleware.Continuation, kind func(http.Header) bool,
) (*http.Response, error) {
	request, err := r.extended(ctx, k)
	if err != nil {
		return nil, err
	}
	response, err := r.base.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	if err := usable(response, kind); err != nil {
		if response.StatusCode != http.StatusOK {
			err = refusal(response)
		}
		_ = response.Body.Close() // nobody is going to read more of it
		return nil, err
	}
	return response, nil
}

// setBody gives a request of our own its body.
func setBody(r *http.Request, body []byte) {
	// net/http goes by the field, and the others seal another body.
	for _, name := range []string{"Content-Length", "Content-Md5", "Content-Digest", "Digest"} {
		r.Header.Del(name)
	}
	r.ContentLength = int64(len(body))
	r.TransferEncoding = nil
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	r.Body, _ = r.GetBody()
}
