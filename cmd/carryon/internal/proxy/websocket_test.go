package proxy

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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
