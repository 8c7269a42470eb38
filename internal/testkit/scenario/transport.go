package scenario

import (
	"errors"
	"io"
	"net/http"
	"sync"

	"github.com/carryon-go/carryon/continuation"
)

// RoundTripFunc is a function used as an [http.RoundTripper].
type RoundTripFunc func(*http.Request) (*http.Response, error)

// RoundTrip calls the function.
func (f RoundTripFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Transport is an [http.RoundTripper] that counts the bodies of answers, and
// records which requests were marked as continuations.
type Transport struct {
	Base http.RoundTripper
	URL  string // of the server

	mu             sync.Mutex
	opened, closed int
	marks          []Mark
}

// Mark is the turn that the context of a request names.
type Mark struct {
	continuation.TurnID

	Set bool // says whether the request is a continuation
}

// RoundTrip sends the request with Base.
func (tr *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	turn, set := continuation.FromContext(r.Context())
	tr.mu.Lock()
	tr.marks = append(tr.marks, Mark{turn, set})
	tr.mu.Unlock()
	response, err := tr.Base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	tr.mu.Lock()
	tr.opened++
	tr.mu.Unlock()
	response.Body = &countedBody{ReadCloser: response.Body, transport: tr}
	return response, nil
}

// Bodies returns how many bodies were opened and how many of them were closed.
func (tr *Transport) Bodies() (opened, closed int) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return tr.opened, tr.closed
}

// Marks returns the marks of the requests, in order.
func (tr *Transport) Marks() []Mark {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return append([]Mark(nil), tr.marks...)
}

// countedBody also counts as closed once it was read to its end: it then has no
// resources left, and the SDK does not close the body of a stream that was
// refused.
type countedBody struct {
	io.ReadCloser

	transport *Transport
	once      sync.Once
}

func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		b.countClosed()
	}
	return n, err
}

func (b *countedBody) Close() error {
	b.countClosed()
	return b.ReadCloser.Close()
}

func (b *countedBody) countClosed() {
	b.once.Do(func() {
		b.transport.mu.Lock()
		defer b.transport.mu.Unlock()
		b.transport.closed++
	})
}
