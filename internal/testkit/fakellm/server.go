package fakellm

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// BaseURL is a base URL for clients that use Transport. It looks like a real one, but nobody listens there.
const BaseURL = "http://carryon.test/v1"

var errClosed = errors.New("carryontest: server closed")

// Server answers requests from a script: each request that arrives takes the next turn. When none is left the server
// answers with HTTP status 500. It is safe for concurrent use.
type Server struct {
	report    func(format string, args ...any) // nil without a testing.TB
	protocols []protocol

	mu       sync.Mutex
	turns    []Turn // still to come
	requests []Request
	listener *httptest.Server // nil until URL is called
	closed   bool
	cancels  map[int]context.CancelCauseFunc // of all requests that are being answered
	begun    int                             // requests, over HTTP and in memory
	running  sync.WaitGroup
}

// NewServer returns a Server for one test. The end of the test closes it. It fails the test if a request arrives when
// no turn is left.
func NewServer(tb testing.TB, turns ...Turn) *Server { //nolint:thelper // a nil tb panics first
	if tb == nil {
		panic("carryon/carryontest: NewServer of a nil testing.TB (Start needs none)")
	}
	tb.Helper()
	s := Start(turns...)
	s.report = tb.Errorf
	tb.Cleanup(s.Close)
	return s
}

// Start returns a Server for use outside of tests. The caller must close it.
func Start(turns ...Turn) *Server {
	s := &Server{protocols: protocols(), cancels: make(map[int]context.CancelCauseFunc)}
	s.Append(turns...)
	return s
}

// URL returns the base URL of the server, which ends in /v1. The server begins to listen when URL is first called: a server
// used only through Transport or Handler has no socket.
func (s *Server) URL() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listener == nil {
		if s.closed {
			return BaseURL
		}
		s.listener = httptest.NewServer(s.Handler())
	}
	return s.listener.URL + "/v1"
}

// Handler returns the server as a handler for an http.Server of the caller's own. It serves POST requests for any path
// that ends in /chat/completions, /responses, /messages, :generateContent or :streamGenerateContent. To cut an answer,
// it panics with http.ErrAbortHandler, which makes an http.Server drop the connection.
func (s *Server) Handler() http.Handler { return http.HandlerFunc(s.serve) }

// Requests returns copies of the requests that took a turn or found none left, in order of arrival. It does not return
// requests that were refused: those for other paths, and those with an invalid body.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Request, len(s.requests))
	for i, r := range s.requests {
		list[i] = r.clone()
	}
	return list
}

// Append extends the script.
func (s *Server) Append(turns ...Turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turns = append(s.turns, turns...)
}

// Close cuts the answers that are being sent and returns when all have ended. The server refuses later requests. A
// second Close does nothing.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	for _, cancel := range s.cancels {
		cancel(errClosed)
	}
	listener := s.listener
	s.mu.Unlock()
	if listener != nil {
		listener.CloseClientConnections()
		listener.Close()
	}
	s.running.Wait()
}

// begin registers a request until end is called: Close cancels it, and waits for it. It fails when the server is closed.
func (s *Server) begin(cancel context.CancelCauseFunc) (end func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errClosed
	}
	key := s.begun
	s.begun++
	s.cancels[key] = cancel
	s.running.Add(1)
	return func() {
		s.mu.Lock()
		delete(s.cancels, key)
		s.mu.Unlock()
		s.running.Done()
	}, nil
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	end, err := s.begin(cancel)
	if err != nil {
		refuse(w, http.StatusServiceUnavailable, chatCompletions{}.failure(serverError, err.Error()))
		return
	}
	defer end()
	p, ok := s.protocolOf(r.URL.Path)
	if !ok || r.Method != http.MethodPost {
		text := "carryontest: nothing at " + r.Method + " " + r.URL.Path
		refuse(w, http.StatusNotFound, chatCompletions{}.failure(badRequest, text))
		return
	}
	request, err := readRequest(p, r)
	if err != nil {
		status, text := http.StatusBadRequest, "carryontest: "+err.Error()
		if r := new(refusal); errors.As(err, &r) {
			status, text = r.status, r.text
		}
		refuse(w, status, p.failure(badRequest, text))
		return
	}
	turn, number, ok := s.take(request)
	if !ok {
		text := fmt.Sprintf("carryontest: no turn left for request %d", number)
		if s.report != nil {
			s.report("%s", text)
		}
		refuse(w, http.StatusInternalServerError, p.failure(serverError, text))
		return
	}
	if err := turn.reply(p, request, number).send(ctx, w); err != nil {
		panic(http.ErrAbortHandler)
	}
}

// take records a request and takes the turn that answers it.
func (s *Server) take(req Request) (turn Turn, number int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, req)
	number = len(s.requests)
	if len(s.turns) == 0 {
		return Turn{}, number, false
	}
	turn, s.turns = s.turns[0], s.turns[1:]
	return turn, number, true
}

// refuse answers with an error that is not in the script.
func refuse(w http.ResponseWriter, status int, failure event) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(failure.data)) // fails if the client has left
}
