package proxy

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A browser must not ask for a website under that website's name: neither for the
// page, nor an upstream that wants no key.
func TestOnlyNamesOfThisMachineAreAnswered(t *testing.T) {
	t.Parallel()
	loopback := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8787}
	network := &net.TCPAddr{IP: net.IPv4(10, 1, 2, 3), Port: 8787}
	tests := []struct {
		local net.Addr
		host  string
		want  int
	}{
		{loopback, "127.0.0.1:8787", http.StatusOK},
		{loopback, "localhost:8787", http.StatusOK},
		{loopback, "localhost", http.StatusOK},
		{loopback, "[::1]:8787", http.StatusOK},
		{loopback, "[::1]", http.StatusOK},
		{loopback, "app.localhost:8787", http.StatusOK},
		{loopback, "host.docker.internal:8787", http.StatusOK},
		{loopback, "Box.example:8787", http.StatusOK},
		{loopback, "evil.example:8787", http.StatusForbidden},
		{loopback, "localhost.evil.example", http.StatusForbidden},
		{loopback, "127.0.0.1.evil.example:80", http.StatusForbidden},
		{loopback, "", http.StatusForbidden},
		{loopback, "localhost.:8787", http.StatusOK},
		{loopback, "host.containers.internal:8787", http.StatusOK},
		{loopback, "carryon:8787", http.StatusForbidden}, // a neighbour may answer for such a name
		{network, "10.1.2.3:8787", http.StatusOK},
		{network, "[fe80::1%25eth0]:8787", http.StatusOK},
		{network, "203.0.113.5", http.StatusOK}, // of a balancer
		{network, "localhost:8787", http.StatusOK},
		{network, "box.example", http.StatusOK},
		{network, "carryon:8787", http.StatusOK}, // a container
		{network, "carryon.team.svc.cluster.local:8787", http.StatusOK},
		{network, "carryon.internal:8787", http.StatusOK},
		{network, "evil.example:8787", http.StatusForbidden},
		{network, "evil.example.:8787", http.StatusForbidden},
		{network, "local.evil.example", http.StatusForbidden},
		{network, "10.1.2.3.evil.example", http.StatusForbidden},
		{network, "", http.StatusForbidden},
		{&net.UnixAddr{Name: "@"}, "evil.example", http.StatusForbidden},
	}
	upstream := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer upstream.Close()
	proxy := handlerOf(t, parsed(t, "-upstream", upstream.URL, "-allow-host", "BOX.example"), http.DefaultTransport, loggerTo(io.Discard))
	for _, test := range tests {
		ctx := context.WithValue(t.Context(), http.LocalAddrContextKey, test.local)
		for _, path := range []string{pagePath, prefix + "/models"} {
			r := httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil)
			r.Host = test.host
			w := httptest.NewRecorder()
			proxy.ServeHTTP(w, r)
			assert.Equal(t, test.want, w.Code, "%v as %q", test.local, test.host)
		}
	}
}

// Some balancers name no host when they ask whether a proxy is well.
func TestHealthNeedsNoName(t *testing.T) {
	t.Parallel()
	r := start(t, parsed(t, "-listen", "127.0.0.1:0"))
	assert.Equal(t, http.StatusOK, raw(t, r.base, "GET /healthz HTTP/1.0\r\n\r\n"))
	assert.Equal(t, http.StatusForbidden, raw(t, r.base, "GET /debug/carryon HTTP/1.0\r\n\r\n"))
}

// The machine's own name is known to nobody who could point it elsewhere.
func TestTheMachinesNameIsAnswered(t *testing.T) {
	t.Parallel()
	name, err := os.Hostname()
	require.NoError(t, err)
	r := start(t, parsed(t, "-listen", "127.0.0.1:0"))
	assert.Equal(t, http.StatusOK, raw(t, r.base, "GET /debug/carryon HTTP/1.1\r\nHost: "+name+"\r\n\r\n"))
}

// A website may send requests without reading their answers. They cost money.
func TestWebsitesAreRefusedUnlessAllowed(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		args   []string
		origin string
		want   int
		allow  string // what browsers are told
	}{
		"none":            {nil, "", http.StatusTeapot, ""},
		"another":         {nil, "https://evil.example", http.StatusForbidden, ""},
		"allowed":         {[]string{"-cors", "https://app.example"}, "https://app.example", http.StatusTeapot, "https://app.example"},
		"not the allowed": {[]string{"-cors", "https://app.example"}, "https://evil.example", http.StatusForbidden, ""},
		"any":             {[]string{"-cors", "*"}, "https://app.example", http.StatusTeapot, "*"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			upstream := sceneOf(t, echo)
			s := sceneAt(t, upstream.direct, test.args...)
			r := newRequest(t, http.MethodPost, s.base+"/embeddings", "{}")
			if test.origin != "" {
				r.Header.Set("Origin", test.origin)
			}
			got := s.send(r)
			require.NoError(t, got.err)
			assert.Equal(t, test.want, got.status)
			assert.Equal(t, test.allow, got.header.Get("Access-Control-Allow-Origin"))
		})
	}
}

// The page tells of all conversations, and with -content quotes them. A website that may
// use the proxy has a conversation of its own.
func TestWebsitesReadNoPage(t *testing.T) {
	t.Parallel()
	upstream := sceneOf(t, echo)
	for _, origins := range []string{"*", "https://app.example"} {
		s := sceneAt(t, upstream.direct, "-cors", origins, "-metrics", "-content")
		for path, readable := range map[string]bool{
			"/v1/files": true, "/chat/completions": true, "/nothing": true,
			pagePath: false, pagePath + "?format=json": false, continuingPath: false, metricsPath: false, "/healthz": false,
		} {
			r := newRequest(t, http.MethodGet, strings.TrimSuffix(s.base, prefix)+path, "")
			r.Header.Set("Origin", "https://app.example")
			got := s.send(r)
			require.NoError(t, got.err)
			assert.Equal(t, readable, got.header.Get("Access-Control-Allow-Origin") == origins, path)
			assert.LessOrEqual(t, len(got.header.Values("Access-Control-Allow-Origin")), 1, path)
		}
		r := newRequest(t, http.MethodOptions, s.base+"/chat/completions", "")
		r.Header.Set("Origin", "https://app.example")
		r.Header.Set("Access-Control-Request-Method", http.MethodPost)
		r.Header.Set("Access-Control-Request-Headers", "authorization,content-type")
		got := s.send(r)
		require.NoError(t, got.err)
		assert.Equal(t, origins, got.header.Get("Access-Control-Allow-Origin"), "before it posts")
		assert.Equal(t, http.MethodPost, got.header.Get("Access-Control-Allow-Methods"))
	}
}

// Browsers do not keep a website from reading a WebSocket to another site.
func TestWebsitesOpenNoWebSocket(t *testing.T) {
	t.Parallel()
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nsecret")
			_ = conn.Close()
		}
	}))
	t.Cleanup(upstream.Close)
	for name, test := range map[string]struct {
		header string
		flags  []string
		want   int
	}{
		"a program":                {"", nil, http.StatusSwitchingProtocols},
		"another website":          {"Origin: https://evil.example\r\n", nil, http.StatusForbidden},
		"another port":             {"Origin: http://localhost:1\r\n", nil, http.StatusForbidden},
		"no website":               {"Origin: null\r\n", nil, http.StatusForbidden},
		"another, in new browsers": {"Origin: https://evil.example\r\nSec-Fetch-Site: cross-site\r\n", nil, http.StatusForbidden},
		"the proxy itself":         {"Origin: http://localhost:8787\r\n", nil, http.StatusSwitchingProtocols},
		"an allowed website":       {"Origin: https://app.example\r\n", []string{"-cors", "https://app.example"}, http.StatusSwitchingProtocols},
		"not the allowed one":      {"Origin: https://evil.example\r\n", []string{"-cors", "https://app.example"}, http.StatusForbidden},
		"any website":              {"Origin: https://app.example\r\n", []string{"-cors", "*"}, http.StatusSwitchingProtocols},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t, parsed(t, append(test.flags, "-listen", "127.0.0.1:0", "-upstream", upstream.URL+"/v1")...))
			assert.Equal(t, test.want, raw(t, r.base, "GET /v1/realtime HTTP/1.1\r\nHost: localhost:8787\r\nConnection: Upgrade\r\n"+
				"Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"+test.header+"\r\n"))
		})
	}
}

// handshake returns the request that begins a WebSocket.
func handshake(t *testing.T, url string) *http.Request {
	t.Helper()
	r := newRequest(t, http.MethodGet, url, "")
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", "websocket")
	r.Header.Set("Sec-Websocket-Version", "13")
	r.Header.Set("Sec-Websocket-Key", "dGhlIHNhbXBsZSBub25jZQ==")
	return r
}

// Agents that begin with a WebSocket post their requests after this answer. It is no
// request of its own.
func TestWebSocketOfResponsesIsRefused(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	got := s.send(handshake(t, s.base+"/responses"))
	assert.Equal(t, http.StatusUpgradeRequired, got.status)
	assert.Contains(t, got.body, "post the request")
	assert.Empty(t, s.upstream.Requests())
	assert.Zero(t, s.report(t).Counts.Requests)
	assert.Equal(t, 1, s.report(t).Counts.Handshakes)
}

// Other WebSockets pass, and the user is told.
func TestWebSocketThatPassesIsTold(t *testing.T) {
	t.Parallel()
	s := sceneOf(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, both, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = both.WriteString("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		_ = both.Flush()
	})
	response, err := s.client.Do(handshake(t, s.base+"/realtime"))
	require.NoError(t, err)
	require.Equal(t, http.StatusSwitchingProtocols, response.StatusCode)
	require.NoError(t, response.Body.Close())
	s.served.wait()
	report := s.report(t)
	assert.Equal(t, 1, report.Counts.WebSockets)
	require.NotNil(t, report.Entries[0].Outcome)
	assert.Equal(t, "web_socket", report.Entries[0].Outcome.Code)
	assert.Contains(t, s.logs.String(), "a WebSocket passes carryon unread")
}
