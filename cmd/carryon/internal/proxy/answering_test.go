package proxy

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// answering starts a proxy that answers for an origin, and returns the address at which it does.
func answering(t *testing.T, c *Config, origin string) (address string) {
	t.Helper()
	c.Listen = "127.0.0.1:0"
	require.NoError(t, c.Check())
	s, err := Start(t.Context(), c, loggerTo(io.Discard))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Stop(context.WithoutCancel(t.Context()))) })
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	u, err := url.Parse(origin)
	require.NoError(t, err)
	s.Answer(listener, func(net.Conn) *url.URL { return u })
	return "http://" + listener.Addr().String()
}

// A client that believes to speak to a host reaches that host, whatever it asks for: nothing of the proxy is in its way.
func TestAnswersForAnotherHost(t *testing.T) {
	t.Parallel()
	vendor := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "vendor "+r.URL.RequestURI())
	}))
	t.Cleanup(vendor.Close)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "other "+r.URL.RequestURI())
	}))
	t.Cleanup(other.Close)
	for _, tt := range []struct {
		path, want, redirected string
	}{
		{path: "/healthz"},
		{path: pagePath},
		{path: "/metrics"},
		{path: "/"},
		{path: "//a/../b?x=%zz;y"},
		{path: "/v1/files"},
		{path: "/a%2Fb"},
		{path: "/v1/messages?beta=true", redirected: "/base/v1/messages?beta=true"},
		{path: "/v1/messages/count_tokens", redirected: "/base/v1/messages/count_tokens"},
		{path: "/backend-api/codex/responses", redirected: "/base/v1/responses"},
		{path: "/zen/v1/chat/completions", redirected: "/base/v1/chat/completions"},
		{path: "/v1beta/models/m:streamGenerateContent?alt=sse", redirected: "/base/v1/v1beta/models/m:streamGenerateContent?alt=sse"},
		{path: "/v1/models", redirected: "/base/v1/models"},
	} {
		for _, redirect := range []bool{false, true} {
			c := parsed(t, "-upstream", other.URL+"/base/v1", "-metrics")
			c.Redirect = redirect
			r := newRequest(t, http.MethodGet, answering(t, c, vendor.URL)+tt.path, "")
			r.Host = vendor.Listener.Addr().String()
			got := (&scene{client: newClient(t)}).send(r)
			want := "vendor " + tt.path
			if redirect && tt.redirected != "" {
				want = "other " + tt.redirected
			}
			assert.Equal(t, want, got.body, tt.path)
		}
	}
}

// A connection to one host is none to another.
func TestAnswersForNoThirdHost(t *testing.T) {
	t.Parallel()
	address := answering(t, parsed(t), "https://api.example.com")
	for _, host := range []string{"api.example.org", "api.example.com:80", "127.0.0.1", "api.example.com.evil.example"} {
		r := newRequest(t, http.MethodGet, address+"/v1/models", "")
		r.Host = host
		assert.Equal(t, http.StatusMisdirectedRequest, (&scene{client: newClient(t)}).send(r).status, host)
	}
	for _, host := range []string{"api.example.com", "API.example.com:443", "api.example.com."} {
		assert.True(t, isSameHost(host, &url.URL{Scheme: "https", Host: "api.example.com"}), host)
	}
}
