package proxy

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"sync/atomic"
	"time"
)

// bodyPatience is how long a client may pause in the middle of a request body.
const bodyPatience = time.Minute

// extensions is how often the deadline of a body may be moved within the patience.
// Moving it may cost a system call.
const extensions = 60

// body is a request body with a read deadline that moves while data arrives: a
// client may be slow, but must not stop halfway. A fixed deadline on the connection
// would cut long answers.
type body struct {
	io.ReadCloser

	connection *http.ResponseController
	patience   time.Duration
	extended   time.Time   // when the deadline was last moved
	ended      atomic.Bool // whether the body was read to its end
	late       atomic.Bool // whether the deadline has passed during a read
	closed     atomic.Bool // whether the deadline is the last one
}

// Read implements [io.Reader].
func (b *body) Read(p []byte) (int, error) {
	if now := time.Now(); now.Sub(b.extended) >= b.patience/extensions && !b.closed.Load() {
		b.extended = now
		_ = b.connection.SetReadDeadline(now.Add(b.patience)) // without a connection there is no client to wait for
		if b.closed.Load() {                                  // abandon may have come first
			b.linger()
		}
	}
	n, err := b.ReadCloser.Read(p)
	switch err {
	case nil:
	case io.EOF:
		b.ended.Store(true)
		_ = b.connection.SetReadDeadline(time.Time{})
	default: // the deadline stays: the server will try to read the rest
		b.late.Store(!b.closed.Swap(true) && errors.Is(err, os.ErrDeadlineExceeded))
	}
	return n, err
}

// abandon ends the reading of a body whose rest is of no use any more. It must be
// called before the handler returns: the server would end a read that is under way,
// and then wait for the rest without a deadline. A client that is still sending has a
// moment in which what it sends is discarded, so that it can read its answer.
func (b *body) abandon() {
	if b.ended.Load() {
		return
	}
	if !b.closed.Swap(true) {
		b.linger()
	}
	_ = b.Close() // it waits for the read, and its error tells no more
}

// linger sets the last deadline.
func (b *body) linger() {
	_ = b.connection.SetReadDeadline(time.Now().Add(b.patience / extensions))
}

// isLate reports whether the client has stopped in the middle of the request. The
// server then ends the request's ctx, as if the client had left.
func isLate(ctx context.Context) bool {
	b, ok := ctx.Value(bodyKey{}).(*body)
	return ok && b.late.Load()
}

type bodyKey struct{}

// fullDuplex returns the request under ctx, with a body that can be read while the
// answer is written: an upstream may answer before it has read the whole body.
// Otherwise the server would first discard the rest of the body. It also removes the
// server's read deadline once the body has been read, so that it cannot cut the
// answer. The handler must call done before it returns.
func (p *Proxy) fullDuplex(w http.ResponseWriter, r *http.Request, ctx context.Context) (with *http.Request, done func()) { //nolint:revive // as in WithContext
	connection := http.NewResponseController(w)
	if r.Body == nil || r.Body == http.NoBody {
		_ = connection.SetReadDeadline(time.Time{})
		return r.WithContext(ctx), func() {}
	}
	_ = connection.EnableFullDuplex() // HTTP/1 supports it
	b := &body{ReadCloser: r.Body, connection: connection, patience: p.config.bodyPatience, extended: time.Now()}
	r = r.WithContext(context.WithValue(ctx, bodyKey{}, b))
	r.Body = b
	return r, b.abandon
}

// closeUnread closes the connection after the answer if the body has not been read
// to its end. Otherwise the server would parse the rest of the body as the next
// request, or read it at the same time as the transport.
func closeUnread(ctx context.Context, answer http.Header) {
	if b, ok := ctx.Value(bodyKey{}).(*body); ok && !b.ended.Load() {
		answer.Set("Connection", "close")
	}
}
