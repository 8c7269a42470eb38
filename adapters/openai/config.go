package openai

import (
	"net/http"

	"github.com/sashabaranov/go-openai"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/middleware"
)

// NewClientWithConfig returns a client of the SDK's own type, whose chat completions mw
// continues on the wire. Use it if the rest of the program needs that type;
// [middleware.Capture] returns the outcomes of its calls. It panics if mw is nil.
//
// It does not modify config or its HTTP client. If that is an *http.Client, it wraps
// the Transport of a copy, which keeps Timeout, Jar and CheckRedirect; it wraps any
// other HTTPDoer as it is.
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
