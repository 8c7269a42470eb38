package proxy

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// guard refuses requests that a website sends through the browser of a user whose
// machine runs the proxy.
type guard struct {
	hosts  []string // additional host names that clients may use
	origin *http.CrossOriginProtection
	next   http.Handler
}

func newGuard(c *Config, next http.Handler) (*guard, error) {
	g := &guard{hosts: c.Hosts, origin: http.NewCrossOriginProtection(), next: next}
	for _, origin := range c.CORS {
		if origin == "*" {
			g.origin = nil
			break
		}
		if err := g.origin.AddTrustedOrigin(origin); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// ServeHTTP implements [http.Handler].
func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case misled(r, g.hosts):
		refuse(w, r, http.StatusForbidden, "clients reach it at http://127.0.0.1 or http://localhost, not at "+
			short(r.Host, maxName)+" (-allow-host allows another name)")
	case g.isForeign(r):
		refuse(w, r, http.StatusForbidden, "a website may not use it (-cors allows one)")
	default:
		g.next.ServeHTTP(w, r)
	}
}

// isForeign reports whether a website sends a request that it may not send. It may
// send a GET, whose answer its browser does not show to it. But browsers let every
// website read a WebSocket, and leave it to the server to refuse the handshake.
func (g *guard) isForeign(r *http.Request) bool {
	if g.origin == nil {
		return false
	}
	if r.Header.Get("Upgrade") != "" {
		unsafe := *r
		unsafe.Method = http.MethodPost // which the check does not let pass as one that only reads
		r = &unsafe
	}
	return g.origin.Check(r) != nil
}

// misled reports whether a website may have pointed its own name at this machine
// (DNS rebinding). A browser would then let the website read every answer.
func misled(r *http.Request, allowed []string) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if !ok || !local.IP.IsLoopback() {
		return false
	}
	host := strings.ToLower((&url.URL{Host: r.Host}).Hostname())
	if host == "localhost" || strings.HasSuffix(host, ".localhost") || host == "host.docker.internal" || slices.Contains(allowed, host) {
		return false
	}
	_, err := netip.ParseAddr(host)
	return err != nil
}

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
