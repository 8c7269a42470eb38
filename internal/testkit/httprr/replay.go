package httprr

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"net/http"
	"sync"
)

// ErrNoAnswer is the error of a Replay that has no answer left.
var ErrNoAnswer = errors.New("httprr: no recorded answer left")

// Sent is a request as it arrived at a Replay.
type Sent struct {
	Method, URL string
	Header      http.Header
	Body        []byte
}

// Replay answers each request with the next recorded answer, whatever the request says: in memory, as an [http.RoundTripper],
// or for a server, as an [http.Handler]. It is safe for concurrent use.
type Replay struct {
	readSize int

	mu      sync.Mutex
	answers []Exchange
	sent    []Sent
	open    int // bodies neither read to their end nor closed
}

// NewReplay returns a Replay of these answers. In memory each Read of a body returns at most readSize bytes; 0 means no
// limit.
func NewReplay(readSize int, answers ...Exchange) *Replay {
	return &Replay{readSize: readSize, answers: answers}
}

// Sent returns the requests that have arrived, in order.
func (r *Replay) Sent() []Sent {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Sent(nil), r.sent...)
}

// Open returns how many bodies were neither read to their end nor closed.
func (r *Replay) Open() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.open
}

// RoundTrip implements [http.RoundTripper].
func (r *Replay) RoundTrip(req *http.Request) (*http.Response, error) {
	sent := Sent{Method: req.Method, URL: req.URL.String(), Header: req.Header.Clone()}
	if req.Body != nil {
		body, err := io.ReadAll(req.Body)
		if err := errors.Join(err, req.Body.Close()); err != nil {
			return nil, err
		}
		sent.Body = body
	}
	exchange, err := r.take(sent)
	if err != nil {
		return nil, err
	}
	response, err := exchange.NewResponse(req)
	if err != nil {
		return nil, err
	}
	r.count(1)
	response.Body = &body{ReadCloser: response.Body, size: r.readSize, done: sync.OnceFunc(func() { r.count(-1) })}
	return response, nil
}

// ServeHTTP implements [http.Handler]. It flushes after each line, as providers flush after each event.
func (r *Replay) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	response, err := r.RoundTrip(req)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer response.Body.Close() //nolint:errcheck // it is in memory
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	maps.Copy(w.Header(), response.Header)
	w.WriteHeader(response.StatusCode)
	control := http.NewResponseController(w)
	for line := range bytes.Lines(answer) {
		if _, err := w.Write(line); err != nil || control.Flush() != nil {
			panic(http.ErrAbortHandler)
		}
	}
}

func (r *Replay) take(sent Sent) (Exchange, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sent = append(r.sent, sent)
	if len(r.answers) == 0 {
		return Exchange{}, ErrNoAnswer
	}
	next := r.answers[0]
	r.answers = r.answers[1:]
	return next, nil
}

func (r *Replay) count(bodies int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open += bodies
}

// body is the body of an answer, which counts as open until it is read to its end or closed.
type body struct {
	io.ReadCloser

	size int
	done func()
}

func (b *body) Read(p []byte) (int, error) {
	if b.size > 0 && len(p) > b.size {
		p = p[:b.size]
	}
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		b.done()
	}
	return n, err
}

func (b *body) Close() error {
	b.done()
	return b.ReadCloser.Close()
}

// Instead returns a RoundTripper that sends this call's request instead of the one it gets, so that any client makes
// the recorded request.
func (c Chat) Instead(through http.RoundTripper) http.RoundTripper { return instead{c, through} }

type instead struct {
	chat    Chat
	through http.RoundTripper
}

// RoundTrip implements [http.RoundTripper].
func (i instead) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		if err := r.Body.Close(); err != nil {
			return nil, err
		}
	}
	req, err := i.chat.NewRequest(r.Context())
	if err != nil {
		return nil, err
	}
	return i.through.RoundTrip(req)
}
