package proxy

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each request goes to the endpoint of the first route that it matches.
func TestRoutes(t *testing.T) {
	t.Parallel()
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.URL.RequestURI()) }))
	t.Cleanup(upstream.Close)
	routes := []Route{
		{Prefix: "/v1", Header: "Chatgpt-Account-Id", Base: upstream.URL + "/chatgpt"},
		{Prefix: "/to/zen", Base: upstream.URL + "/zen/v1"},
	}
	for _, tt := range []struct {
		rest               bool // there is a route for all paths
		path, header, want string
	}{
		{path: "/v1/responses", want: "/openai/responses"},
		{path: "/v1/responses", header: "acc", want: "/chatgpt/responses"},
		{path: "/v1", want: "/openai/"},
		{path: "/to/zen/chat/completions?a=b", want: "/zen/v1/chat/completions?a=b"},
		{path: "/to/zen", want: "/zen/v1/"},
		{path: "/to/zenith/models"},
		{path: "/v12/models"},
		{path: "/api/hello"},
		{rest: true, path: "/api/hello", want: "/rest/api/hello"},
		{rest: true, path: "/v1/messages", want: "/rest/v1/messages"},
		{rest: true, path: "/to/zen/models", want: "/zen/v1/models"},
		{rest: true, path: "/to/zen/a%2Fb/", want: "/zen/v1/a%2Fb/"},
		{rest: true, path: "/healthz", want: "ok\n"},
	} {
		c := parsed(t, "-upstream", upstream.URL+"/openai")
		c.Routes = append(c.Routes, routes...)
		if tt.rest {
			c.Routes = append(c.Routes, Route{Base: upstream.URL + "/rest"})
		}
		require.NoError(t, c.Check())
		base := newBase()
		t.Cleanup(base.CloseIdleConnections)
		proxy := httptest.NewServer(handlerOf(t, c, base, loggerTo(io.Discard)))
		t.Cleanup(proxy.Close)
		r := newRequest(t, http.MethodGet, proxy.URL+tt.path, "")
		if tt.header != "" {
			r.Header.Set("Chatgpt-Account-Id", tt.header)
		}
		got := (&scene{client: newClient(t)}).send(r)
		if tt.want == "" {
			assert.Equal(t, http.StatusNotFound, got.status, tt.path)
			continue
		}
		assert.Equal(t, tt.want, got.body, tt.path)
	}
}

func TestRoutesNameTheirSource(t *testing.T) {
	t.Parallel()
	c := parsed(t)
	c.Routes = []Route{{Prefix: "/to/mine", Base: "nothing", Source: "base_url of mine"}}
	assert.EqualError(t, c.Check(), "base_url of mine must be a URL such as https://api.openai.com/v1")
}
