package quirks

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// ErrNotAsked is the error of an [Upstream] that gets more requests than it has
// turns.
var ErrNotAsked = errors.New("quirks: no turn is left")

// Upstream is an [http.RoundTripper] that answers with turns, in order and byte
// for byte. It may be used concurrently.
type Upstream struct {
	// Turns are the answers, one for each request.
	Turns []Turn
	// Unary is true if the answers are in one piece.
	Unary bool
	// ReadSize is how many bytes a Read of a body returns at most; 0 means no limit.
	ReadSize int

	mu    sync.Mutex
	asked []string
}

// Asked returns the bodies of the requests so far.
func (u *Upstream) Asked() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return append([]string(nil), u.asked...)
}

// RoundTrip implements [http.RoundTripper]. A body ends with the request's ctx.
func (u *Upstream) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	err = r.Body.Close()
	if err != nil {
		return nil, err
	}
	turn, number, err := u.next(string(body))
	switch {
	case err != nil:
		return nil, err
	case turn.Fault != nil:
		return nil, turn.Fault
	}
	return u.answer(r, turn, number), nil
}

func (u *Upstream) next(body string) (turn Turn, number int, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.asked = append(u.asked, body)
	number = len(u.asked)
	if number > len(u.Turns) {
		return Turn{}, number, ErrNotAsked
	}
	return u.Turns[number-1], number, nil
}

func (u *Upstream) answer(r *http.Request, turn Turn, number int) *http.Response {
	header := http.Header{}
	header.Set("Content-Type", turn.contentType(u.Unary))
	header.Set("X-Request-Id", "request-"+strconv.Itoa(number))
	if turn.Encoding != "" {
		header.Set("Content-Encoding", turn.Encoding)
	}
	length := int64(-1)
	if turn.Length {
		length = int64(len(turn.Body()))
		header.Set("Content-Length", strconv.FormatInt(length, 10))
	}
	ctx, cancel := context.WithCancel(r.Context())
	rest := strings.NewReader(turn.Body())
	return &http.Response{
		Status:     strconv.Itoa(turn.status()) + " " + http.StatusText(turn.status()),
		StatusCode: turn.status(),
		Proto:      "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, ContentLength: length, Request: r,
		Body: &body{turn: turn, rest: rest, readSize: u.ReadSize, ctx: ctx, cancel: cancel},
	}
}

// body is the body of an answer. Its Close ends a Read that waits.
type body struct {
	turn     Turn
	rest     *strings.Reader
	readSize int
	ctx      context.Context //nolint:containedctx // the ctx of the request, whose end is the body's
	cancel   context.CancelFunc
}

// Read implements [io.Reader].
func (b *body) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	if b.readSize > 0 && len(p) > b.readSize {
		p = p[:b.readSize]
	}
	switch {
	case b.rest.Len() > 0 || len(p) == 0:
		return b.rest.Read(p)
	case b.turn.Cut:
		return 0, io.ErrUnexpectedEOF
	case b.turn.Open:
		<-b.ctx.Done()
		return 0, b.ctx.Err()
	}
	return 0, io.EOF
}

// Close implements [io.Closer].
func (b *body) Close() error {
	b.cancel()
	return nil
}
