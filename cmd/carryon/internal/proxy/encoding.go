package proxy

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"github.com/carryon-go/carryon/adapters/transport"
)

// decoders open a compressed request body, by its Content-Encoding.
var decoders = map[string]func(io.Reader) (io.ReadCloser, error){ //nolint:gochecknoglobals // constant
	"gzip": openGzip, "x-gzip": openGzip, "zstd": openZstd, "br": openBrotli,
}

func openGzip(r io.Reader) (io.ReadCloser, error) { return gzip.NewReader(r) }

func openBrotli(r io.Reader) (io.ReadCloser, error) { return io.NopCloser(brotli.NewReader(r)), nil }

func openZstd(r io.Reader) (io.ReadCloser, error) {
	d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(transport.MaxBody), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, err
	}
	return d.IOReadCloser(), nil
}

// maxWindow limits the memory of a zstd decoder. RFC 8878 asks for no more than this.
const maxWindow = 8 << 20

// decoding gives next the plain body of requests whose body is compressed. Together
// with encoding, which comes behind next, it sends the body on as it came unless next
// has changed it.
type decoding struct{ next http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (d decoding) RoundTrip(r *http.Request) (*http.Response, error) {
	open := decoders[strings.ToLower(r.Header.Get("Content-Encoding"))]
	if open == nil || len(r.Header["Content-Encoding"]) > 1 || r.Body == nil || !speaks(r.URL.Path) || r.ContentLength > transport.MaxBody {
		return d.next.RoundTrip(r)
	}
	compressed, err := io.ReadAll(io.LimitReader(r.Body, transport.MaxBody+1))
	rest := io.Reader(r.Body)
	if err != nil {
		rest = brokenBody{err}
	}
	came := r.Clone(r.Context())
	came.Body = &replayed{io.MultiReader(bytes.NewReader(compressed), rest), r.Body}
	plain, problem := decode(compressed, open)
	if err != nil || problem != nil {
		return answerTo(r)(d.next.RoundTrip(came)) // it cannot be read, and passes
	}
	_ = r.Body.Close() // read to its end
	sent := r.Clone(context.WithValue(r.Context(), compressedKey{}, &compressedBody{compressed, plain, r.Header["Content-Encoding"]}))
	sent.Header.Del("Content-Encoding")
	sent.Header.Del("Content-Length")
	sent.ContentLength = int64(len(plain))
	sent.Body = io.NopCloser(bytes.NewReader(plain))
	return answerTo(r)(d.next.RoundTrip(sent))
}

// answerTo returns a function that makes an answer one to r.
func answerTo(r *http.Request) func(*http.Response, error) (*http.Response, error) {
	return func(response *http.Response, err error) (*http.Response, error) {
		if response != nil {
			response.Request = r
		}
		return response, err
	}
}

// A body must not take many times the memory that its sender has sent: a few bytes can
// decompress to any size. Conversations are seldom more than twenty times as large.
const (
	maxRatio  = 200
	plainRoom = 1 << 20 // whatever was sent
)

// decode decompresses a body, up to what carryon reads of a plain one.
func decode(compressed []byte, open func(io.Reader) (io.ReadCloser, error)) ([]byte, error) {
	most := min(transport.MaxBody, plainRoom+maxRatio*int64(len(compressed)))
	r, err := open(bytes.NewReader(compressed))
	if err != nil {
		return nil, err
	}
	defer r.Close() //nolint:errcheck // Read has said it
	plain, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(plain)) > most {
		err = transport.ErrTooLarge
	}
	return plain, err
}

// replayed is a body that was partly read.
type replayed struct {
	io.Reader
	io.Closer
}

// brokenBody is the rest of a body that has failed.
type brokenBody struct{ err error }

// Read returns the error.
func (f brokenBody) Read([]byte) (int, error) { return 0, f.err }

type compressedKey struct{}

// compressedBody is a request body in both forms.
type compressedBody struct {
	compressed, plain []byte
	encoding          []string // the header
}

// encoding sends a body that decoding has decompressed as it came, unless it has
// changed since.
type encoding struct{ base http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (e encoding) RoundTrip(r *http.Request) (*http.Response, error) {
	b, ok := r.Context().Value(compressedKey{}).(*compressedBody)
	if !ok || r.ContentLength != int64(len(b.plain)) {
		return e.base.RoundTrip(r)
	}
	body, err := io.ReadAll(r.Body)
	if err := errors.Join(err, r.Body.Close()); err != nil {
		return nil, fmt.Errorf("read the request: %w", err)
	}
	sent := r.Clone(r.Context())
	if bytes.Equal(body, b.plain) {
		body = b.compressed
		sent.Header["Content-Encoding"] = b.encoding
	}
	sent.ContentLength = int64(len(body))
	sent.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	sent.Body = io.NopCloser(bytes.NewReader(body))
	return answerTo(r)(e.base.RoundTrip(sent))
}

// CloseIdleConnections implements the interface that http.Client looks for.
func (e encoding) CloseIdleConnections() {
	if base, ok := e.base.(interface{ CloseIdleConnections() }); ok {
		base.CloseIdleConnections()
	}
}
