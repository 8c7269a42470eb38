package openai

import (
	"net/http"

	"github.com/sashabaranov/go-openai"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/middleware"
)

// NewClientWithConfig returns a client of the SDK's own type. mw continues its
// chat completions on the wire, so the rest of a program stays as it is. The
// function changes neither config nor its HTTP client: it copies an
// *http.Client and wraps the Transport of the copy, which keeps Timeout, Jar
// and CheckRedirect; it wraps any other HTTPDoer. It panics if mw is nil.
//
// Use [middleware.Capture] to collect the outcomes of calls.
func NewClientWithConfig(config openai.ClientConfig, mw *middleware.Middleware) *openai.Client {
	if mw == nil {
		panic("carryon/adapters/openai: nil middleware")
	}
	switch client := config.HTTPClient.(type) {
	case nil:
		config.HTTPClient = &http.Client{Transport: transport.New(nil, mw)}
	case *http.Client:
		wrapped := http.Client{}
		if client != nil {
			wrapped = *client
		}
		wrapped.Transport = transport.New(wrapped.Transport, mw)
		config.HTTPClient = &wrapped
	default:
		config.HTTPClient = doer{transport.New(tripper{client}, mw)}
	}
	return openai.NewClientWithConfig(config)
}

// tripper adapts an HTTP client that is not net/http's to RoundTripper.
type tripper struct{ client openai.HTTPDoer }

// RoundTrip implements [http.RoundTripper].
func (t tripper) RoundTrip(r *http.Request) (*http.Response, error) { return t.client.Do(r) }

// doer adapts a RoundTripper to such a client.
type doer struct{ transport http.RoundTripper }

// Do implements [openai.HTTPDoer].
func (d doer) Do(r *http.Request) (*http.Response, error) { return d.transport.RoundTrip(r) }
