package proxy

import (
	"context"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// bodyPatience is how long a client may send nothing in the middle of a request.
const bodyPatience = time.Minute

// extendEvery is how often the deadline of a body that keeps coming is moved. To
// move it may cost a system call.
const extendEvery = time.Second

// body is the body of a request whose client may be slow, but must not stop half
// way. A time limit on the connection instead would end long answers.
type body struct {
	io.ReadCloser

	connection *http.ResponseController
	extended   time.Time   // when the deadline was last moved
	ended      atomic.Bool // it was read to its end
}

// Read implements [io.Reader].
func (b *body) Read(p []byte) (int, error) {
	if now := time.Now(); now.Sub(b.extended) >= extendEvery {
		b.extended = now
		_ = b.connection.SetReadDeadline(now.Add(bodyPatience)) // where there is no connection there is no client to wait for
	}
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		_ = b.connection.SetReadDeadline(time.Time{})
		b.ended.Store(err == io.EOF)
	}
	return n, err
}

type bodyKey struct{}

// fullDuplex returns the request under ctx, with a body that may be read while the
// answer is written: an upstream may answer before it has read all of it. The
// server would otherwise discard the rest first. The deadline that the server has
// set for the request does not hold for its answer.
func fullDuplex(w http.ResponseWriter, r *http.Request, ctx context.Context) *http.Request { //nolint:revive // as in WithContext
	connection := http.NewResponseController(w)
	if r.Body == nil || r.Body == http.NoBody {
		_ = connection.SetReadDeadline(time.Time{})
		return r.WithContext(ctx)
	}
	_ = connection.EnableFullDuplex() // HTTP/1 supports it
	b := &body{ReadCloser: r.Body, connection: connection, extended: time.Now()}
	r = r.WithContext(context.WithValue(ctx, bodyKey{}, b))
	r.Body = b
	return r
}

// closeUnread has the connection closed after the answer, if the body was not read
// to its end by now: the server would take the rest for the next request, or read
// it while the transport still does.
func closeUnread(ctx context.Context, answer http.Header) {
	if b, ok := ctx.Value(bodyKey{}).(*body); ok && !b.ended.Load() {
		answer.Set("Connection", "close")
	}
}
