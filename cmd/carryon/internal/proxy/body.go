package proxy

import (
	"context"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// bodyPatience is how long a client may pause in the middle of a request body.
const bodyPatience = time.Minute

// extendEvery is the minimum time between two extensions of a body's deadline. An
// extension may cost a system call.
const extendEvery = time.Second

// body is a request body with a read deadline that moves while data arrives: a
// client may be slow, but must not stop halfway. A fixed deadline on the connection
// would cut long answers.
type body struct {
	io.ReadCloser

	connection *http.ResponseController
	extended   time.Time   // when the deadline was last moved
	ended      atomic.Bool // whether the body was read to its end
}

// Read implements [io.Reader].
func (b *body) Read(p []byte) (int, error) {
	if now := time.Now(); now.Sub(b.extended) >= extendEvery {
		b.extended = now
		_ = b.connection.SetReadDeadline(now.Add(bodyPatience)) // without a connection there is no client to wait for
	}
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		_ = b.connection.SetReadDeadline(time.Time{})
		b.ended.Store(err == io.EOF)
	}
	return n, err
}

type bodyKey struct{}

// fullDuplex returns the request under ctx, with a body that can be read while the
// answer is written: an upstream may answer before it has read the whole body.
// Otherwise the server would first discard the rest of the body. It also removes the
// server's read deadline once the body has been read, so that it cannot cut the
// answer.
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

// closeUnread closes the connection after the answer if the body has not been read
// to its end. Otherwise the server would parse the rest of the body as the next
// request, or read it at the same time as the transport.
func closeUnread(ctx context.Context, answer http.Header) {
	if b, ok := ctx.Value(bodyKey{}).(*body); ok && !b.ended.Load() {
		answer.Set("Connection", "close")
	}
}
