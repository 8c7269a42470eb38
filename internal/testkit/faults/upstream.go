package faults

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// errNotAsked is the error of an [Upstream] that gets more requests than it answers.
var errNotAsked = errors.New("faults: no turn is left")

// Upstream is an [http.RoundTripper] that answers with turns, in order, and
// counts its bodies. It may be used concurrently.
type Upstream struct {
	turns   []turn
	repeats bool // it answers later requests with the last turn again
	created time.Time

	mu     sync.Mutex
	asked  int
	opened int
	closed int
}

// turn is an answer, and how it ends.
type turn struct {
	body     string
	whole    bool
	length   int // the Content-Length; -1 for none
	fault    Fault
	readSize int // how many bytes a Read returns at most; 0 means no limit
}

// Asked returns how many requests there were.
func (u *Upstream) Asked() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.asked
}

// Open returns how many bodies are not closed.
func (u *Upstream) Open() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.opened - u.closed
}

// RoundTrip implements [http.RoundTripper].
func (u *Upstream) RoundTrip(r *http.Request) (*http.Response, error) {
	_, err := io.Copy(io.Discard, r.Body)
	err = errors.Join(err, r.Body.Close())
	if err != nil {
		return nil, err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.asked++
	number := u.asked
	if u.repeats {
		number = min(number, len(u.turns))
	}
	if number > len(u.turns) {
		return nil, errNotAsked
	}
	u.opened++
	return u.turns[number-1].answer(r, u.close), nil
}

func (u *Upstream) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.closed++
}

// answer returns the response to a request.
func (t turn) answer(r *http.Request, closed func()) *http.Response {
	header := http.Header{"Content-Type": {"text/event-stream"}}
	if t.whole {
		header.Set("Content-Type", "application/json")
	}
	if t.length >= 0 {
		header.Set("Content-Length", strconv.Itoa(t.length))
	}
	ctx, cancel := context.WithCancel(r.Context())
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, ContentLength: int64(t.length), Request: r,
		Body: &body{turn: t, rest: strings.NewReader(t.body), ctx: ctx, close: sync.OnceFunc(func() {
			cancel()
			closed()
		})},
	}
}

// body is the body of an answer. Its Close ends a Read that waits.
type body struct {
	turn  turn
	rest  *strings.Reader
	ctx   context.Context //nolint:containedctx // the ctx of the request, whose end is the body's
	close func()
}

// Read implements [io.Reader].
func (b *body) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	if readSize := b.turn.readSize; readSize > 0 && len(p) > readSize {
		p = p[:readSize]
	}
	switch {
	case b.rest.Len() > 0 || len(p) == 0:
		return b.rest.Read(p)
	case b.turn.length == len(b.turn.body):
		return 0, io.EOF // net/http reads no further
	case b.turn.fault == Stall:
		return 0, b.stall()
	case b.turn.length > len(b.turn.body):
		return 0, io.ErrUnexpectedEOF // which is what net/http makes of it
	}
	return 0, b.turn.fault.err()
}

// stall waits for the client to leave, and gives up after an hour.
func (b *body) stall() error {
	hour := time.NewTimer(time.Hour)
	defer hour.Stop()
	select {
	case <-hour.C:
		return io.ErrUnexpectedEOF
	case <-b.ctx.Done():
		return b.ctx.Err()
	}
}

// Close implements [io.Closer].
func (b *body) Close() error {
	b.close()
	return nil
}
