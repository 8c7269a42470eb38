package proxy

import (
	"net/http"
	"strings"
)

// refuseWebSockets answers the handshake of a WebSocket for the Responses API, which
// carryon cannot read, in place of next. Agents that begin with one, Codex and
// Copilot CLI, then post their requests.
func (p *Proxy) refuseWebSockets(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isHandshake(r) && strings.HasSuffix(r.URL.Path, "/responses") {
			p.journal.count(func(c *counts) { c.Handshakes++ })
			refuse(w, r, http.StatusUpgradeRequired, "carryon reads no WebSockets: post the request")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// isHandshake reports whether a request is to become a WebSocket.
func isHandshake(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
}
