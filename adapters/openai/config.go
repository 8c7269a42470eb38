package openai

import (
	"net/http"

	"github.com/sashabaranov/go-openai"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/middleware"
)

// NewClientWithConfig returns a client of the SDK's own type whose chat
// completions are continued by mw, on the wire: nothing else in a program
// changes. Config is not changed, and neither is its HTTP client: an
// *http.Client is copied with its Transport wrapped, so that its Timeout, Jar
// and CheckRedirect hold; any other HTTPDoer is wrapped. It panics if mw is
// nil.
//
// [middleware.Capture] collects the outcomes of calls.
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

// tripper makes a RoundTripper of an HTTP client that is not net/http's.
type tripper struct{ client openai.HTTPDoer }

// RoundTrip implements [http.RoundTripper].
func (t tripper) RoundTrip(r *http.Request) (*http.Response, error) { return t.client.Do(r) }

// doer makes such a client of a RoundTripper.
type doer struct{ transport http.RoundTripper }

// Do implements [openai.HTTPDoer].
func (d doer) Do(r *http.Request) (*http.Response, error) { return d.transport.RoundTrip(r) }
