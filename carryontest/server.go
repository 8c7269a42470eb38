package carryontest

import (
	"net/http"
	"testing"

	"github.com/carryon-go/carryon/internal/testkit/fakellm"
)

// BaseURL is a base URL for clients that use [Server.Transport]. It looks like a real one, but nothing listens there.
const BaseURL = fakellm.BaseURL

// Server answers requests of all four protocols from a script: each request takes the next turn. If none is left, it
// answers with HTTP status 500. It is safe for concurrent use. Use [NewServer] or [Start] to make one.
type Server struct {
	server *fakellm.Server
}

// NewServer returns a Server for one test. It is closed when the test ends, and fails the test if a request comes when no
// turn is left.
func NewServer(tb testing.TB, turns ...Turn) *Server { //nolint:thelper // a nil tb panics first
	if tb != nil {
		tb.Helper()
	}
	return &Server{fakellm.NewServer(tb, scripts(turns)...)}
}

// Start returns a Server for use outside tests. The caller must close it.
func Start(turns ...Turn) *Server { return &Server{fakellm.Start(scripts(turns)...)} }

// URL returns the base URL of the server, which ends in /v1. The server begins to listen when URL is first called: a server
// used only through Transport or Handler has no socket.
func (s *Server) URL() string { return s.server.URL() }

// Handler returns the server as a handler for your own http.Server. It serves POST requests for any path that ends in
// /chat/completions, /responses, /messages, :generateContent or :streamGenerateContent. To cut an answer it panics with
// http.ErrAbortHandler, which an http.Server understands.
func (s *Server) Handler() http.Handler { return s.server.Handler() }

// Transport serves requests in memory, whatever their host; BaseURL will do. A response's body is written as it is read,
// without a buffer, and ends with the request's context, its own Close or the server's. Each request starts one goroutine,
// which ends with the body. All of it works inside a bubble of testing/synctest if the server is made there.
func (s *Server) Transport() http.RoundTripper { return s.server.Transport() }

// Requests returns the requests that took a turn or found none left, in order of arrival. They belong to the caller.
// Requests for other paths, and those with an invalid body, are refused and not among them.
func (s *Server) Requests() []Request {
	requests := s.server.Requests()
	list := make([]Request, len(requests))
	for i, r := range requests {
		list[i] = requestOf(r)
	}
	return list
}

// Append extends the script.
func (s *Server) Append(turns ...Turn) { s.server.Append(scripts(turns)...) }

// Close cuts the answers that are being sent and returns when all have ended. Later requests are refused. Closing again
// does nothing.
func (s *Server) Close() { s.server.Close() }
