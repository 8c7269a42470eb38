package fakellm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
)

// Transport serves requests in memory, whatever their host; use BaseURL. It writes a response's body as the client
// reads it, without a buffer. The body ends with the request's context, with its own Close or with the server's.
// Transport starts one goroutine per request, which ends with the body. It works inside a bubble of testing/synctest if
// the server is made there.
func (s *Server) Transport() http.RoundTripper { return transport{s} }

type transport struct{ server *Server }

func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := readBody(req)
	if err != nil {
		return nil, err
	}
	if req.Context().Err() != nil {
		return nil, context.Cause(req.Context())
	}
	ctx, cancel := context.WithCancelCause(req.Context())
	end, err := t.server.begin(cancel)
	if err != nil {
		cancel(nil)
		return nil, err
	}
	x := newExchange(ctx)
	go func() {
		defer end()
		defer cancel(nil)
		x.serve(t.server.Handler(), incoming(ctx, req, body))
	}()
	<-x.answered
	if x.err != nil {
		return nil, x.err
	}
	return x.response(req, cancel), nil
}

// readBody reads the whole body and closes it, as a RoundTripper must in any case.
func readBody(req *http.Request) ([]byte, error) {
	if req.Body == nil {
		return nil, nil
	}
	body, err := io.ReadAll(req.Body)
	closeErr := req.Body.Close()
	if err == nil {
		err = closeErr
	}
	return body, err
}

// incoming is the request as a server sees it.
func incoming(ctx context.Context, req *http.Request, body []byte) *http.Request {
	in := req.Clone(ctx)
	in.Body = io.NopCloser(bytes.NewReader(body))
	in.ContentLength = int64(len(body))
	in.RequestURI = req.URL.RequestURI()
	if in.Host == "" {
		in.Host = req.URL.Host
	}
	return in
}

// exchange is one request and its answer; the handler writes to it.
type exchange struct {
	header   http.Header
	reader   *io.PipeReader
	writer   *io.PipeWriter
	release  func() bool // stops watching the context
	written  int64
	once     sync.Once
	answered chan struct{} // closed when sent and status, or err, are set

	sent   http.Header
	status int
	err    error
}

var _ http.Flusher = (*exchange)(nil)

func newExchange(ctx context.Context) *exchange {
	x := &exchange{header: make(http.Header), answered: make(chan struct{})}
	x.reader, x.writer = io.Pipe()
	x.release = context.AfterFunc(ctx, func() {
		x.writer.CloseWithError(context.Cause(ctx))
		x.fail(context.Cause(ctx))
	})
	return x
}

func (x *exchange) Header() http.Header { return x.header }

func (x *exchange) WriteHeader(status int) {
	x.once.Do(func() {
		x.sent, x.status = x.header.Clone(), status
		close(x.answered)
	})
}

func (x *exchange) Write(p []byte) (int, error) {
	x.WriteHeader(http.StatusOK)
	if len(p) == 0 {
		return 0, nil // a pipe would wait for a reader
	}
	n, err := x.writer.Write(p)
	x.written += int64(n)
	return n, err
}

func (x *exchange) Flush() { x.WriteHeader(http.StatusOK) }

// serve runs the handler and ends the body as an http.Server would end the connection.
func (x *exchange) serve(handler http.Handler, in *http.Request) {
	returned := false
	defer func() { x.end(in, returned, recover()) }()
	handler.ServeHTTP(x, in)
	returned = true
}

// end ends the body of an answer whose handler has returned, or panicked with reason.
func (x *exchange) end(in *http.Request, returned bool, reason any) {
	defer x.release()
	if returned {
		x.finish()
		return
	}
	x.abort(in.Context(), reason)
}

func (x *exchange) finish() {
	x.WriteHeader(http.StatusOK)
	if length := x.length(); length >= 0 && x.written < length {
		x.writer.CloseWithError(io.ErrUnexpectedEOF)
		return
	}
	x.writer.CloseWithError(nil)
}

// abort ends an answer whose handler panicked, or left by runtime.Goexit.
func (x *exchange) abort(ctx context.Context, reason any) {
	before, after := io.EOF, io.ErrUnexpectedEOF
	switch {
	case ctx.Err() != nil:
		before = context.Cause(ctx)
		after = before
	case reason != nil && reason != any(http.ErrAbortHandler):
		before = fmt.Errorf("carryontest: handler panicked: %v", reason)
		after = before
	}
	x.writer.CloseWithError(after)
	x.fail(before)
}

// fail answers the client with an error if it has no answer yet.
func (x *exchange) fail(err error) {
	x.once.Do(func() {
		x.err = err
		close(x.answered)
	})
}

// length returns the Content-Length of the answer; -1 if it has none.
func (x *exchange) length() int64 {
	n, err := strconv.ParseInt(x.sent.Get("Content-Length"), 10, 64)
	if err != nil {
		return -1
	}
	return n
}

func (x *exchange) response(req *http.Request, cancel context.CancelCauseFunc) *http.Response {
	return &http.Response{
		Status:     fmt.Sprintf("%d %s", x.status, http.StatusText(x.status)),
		StatusCode: x.status,
		Proto:      "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        x.sent,
		Body:          &body{reader: x.reader, cancel: cancel},
		ContentLength: x.length(),
		Request:       req,
	}
}

// body is what the client reads; closing it tells the handler that the client has left.
type body struct {
	reader *io.PipeReader
	cancel context.CancelCauseFunc
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.reader.Read(p)
	if errors.Is(err, io.ErrClosedPipe) {
		err = http.ErrBodyReadAfterClose
	}
	return n, err
}

func (b *body) Close() error {
	err := b.reader.Close()
	b.cancel(context.Canceled)
	return err
}
