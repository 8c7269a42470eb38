package carryontest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// BaseURL is a base URL for clients that use Transport. It has the form of a real one; nobody listens there.
const BaseURL = "http://carryon.test/v1"

var errClosed = errors.New("carryontest: server closed")

// Server answers Chat Completions requests from a script: each request that arrives takes the next turn.
// When none is left it answers with HTTP status 500. It is safe for concurrent use.
type Server struct {
	report func(format string, args ...any) // nil without a testing.TB

	mu       sync.Mutex
	turns    []Turn // still to come
	requests []Request
	listener *httptest.Server // nil until URL is called
	closed   bool
	live     map[int]context.CancelCauseFunc // of all that is under way
	entered  int
	running  sync.WaitGroup
}

// NewServer returns a Server for one test: it is closed when the test ends, and fails the test if
// a request comes when no turn is left.
func NewServer(tb testing.TB, turns ...Turn) *Server { //nolint:thelper // a nil tb is told so first
	if tb == nil {
		panic("carryontest: NewServer of a nil testing.TB (Start needs none)")
	}
	tb.Helper()
	s := Start(turns...)
	s.report = tb.Errorf
	tb.Cleanup(s.Close)
	return s
}

// Start returns a Server outside of tests. The caller closes it.
func Start(turns ...Turn) *Server {
	s := &Server{live: make(map[int]context.CancelCauseFunc)}
	s.Append(turns...)
	return s
}

// URL is the base URL of the server, which ends in /v1. The server begins to listen when URL is first called,
// and not at all otherwise: a server used through Transport or Handler alone has no socket.
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

// Handler is the server for an http.Server of the caller's own. It serves POST requests for any path that ends in
// /chat/completions. An answer that is to be cut panics with http.ErrAbortHandler, which an http.Server understands.
func (s *Server) Handler() http.Handler { return http.HandlerFunc(s.serve) }

// Requests is the requests that were answered from the script, in order of arrival. What does not concern
// chat completions, or is not JSON, is refused and not among them.
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

// Close cuts the answers that are under way and returns when all have ended. Later requests are refused. Closing
// again does nothing.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	for _, cancel := range s.live {
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

// enter counts something as under way until leave is called; Close cancels it, and waits for it.
// It fails when the server is closed.
func (s *Server) enter(cancel context.CancelCauseFunc) (leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errClosed
	}
	key := s.entered
	s.entered++
	s.live[key] = cancel
	s.running.Add(1)
	return func() {
		s.mu.Lock()
		delete(s.live, key)
		s.mu.Unlock()
		s.running.Done()
	}, nil
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	leave, err := s.enter(cancel)
	if err != nil {
		refuse(w, http.StatusServiceUnavailable, err.Error())
		return
	}
	defer leave()
	if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		refuse(w, http.StatusNotFound, "carryontest: nothing at "+r.Method+" "+r.URL.Path)
		return
	}
	req, err := readRequest(r)
	if err != nil {
		refuse(w, http.StatusBadRequest, "carryontest: "+err.Error())
		return
	}
	turn, number, ok := s.take(req)
	if !ok {
		s.exhausted(w, number)
		return
	}
	if err := turn.reply(req, number).send(ctx, w); err != nil {
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

func (s *Server) exhausted(w http.ResponseWriter, number int) {
	text := fmt.Sprintf("carryontest: no turn left for request %d", number)
	if s.report != nil {
		s.report("%s", text)
	}
	refuse(w, http.StatusInternalServerError, text)
}

// refuse answers with an error that the script does not know of.
func refuse(w http.ResponseWriter, status int, text string) {
	kind := "invalid_request_error"
	if status >= http.StatusInternalServerError {
		kind = "server_error"
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// A client that has left does not miss it.
	_, _ = w.Write([]byte(failureJSON(kind, text)))
}
