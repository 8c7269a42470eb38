package proxy

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
)

// guard refuses requests that a website sends through the browser of a user whose
// machine runs the proxy.
type guard struct {
	hosts  []string // names that clients may use, beside those of [isOwnName]
	origin *http.CrossOriginProtection
	next   http.Handler
}

func newGuard(c *Config, next http.Handler) (*guard, error) {
	g := &guard{hosts: slices.Clone(c.Hosts), origin: http.NewCrossOriginProtection(), next: next}
	if name, err := os.Hostname(); err == nil {
		g.hosts = append(g.hosts, strings.ToLower(name))
	}
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
	case g.isMisled(r):
		refuse(w, r, http.StatusForbidden, "clients reach it by its IP address or as localhost, not at "+
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

// isMisled reports whether a website may have pointed its own name at this machine (DNS
// rebinding). A browser would then let the website read every answer. The checks of a
// balancer may name no host, and learn nothing that a website may not know.
func (g *guard) isMisled(r *http.Request) bool {
	here := r.Context().Value(http.LocalAddrContextKey)
	if here == nil || r.URL.Path == healthPath && r.Method == http.MethodGet { // no server has received it
		return false
	}
	host := strings.TrimSuffix(strings.ToLower((&url.URL{Host: r.Host}).Hostname()), ".")
	if slices.Contains(g.hosts, host) || isOwnName(host) {
		return false
	}
	local, ok := here.(*net.TCPAddr)
	return !ok || local.IP.IsLoopback() || !isPrivateName(host)
}

// isOwnName reports whether a host is an address, which no website can point elsewhere,
// or a name that means this machine.
func isOwnName(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost") ||
		host == "host.docker.internal" || host == "host.containers.internal"
}

// isPrivateName reports whether only a network of its own can know a name: that of a
// container or a service, which has no dot or ends in what the public DNS never holds.
func isPrivateName(host string) bool {
	if host == "" {
		return false
	}
	at := strings.LastIndexByte(host, '.')
	return at < 0 || host[at:] == ".internal" || host[at:] == ".local" || strings.HasSuffix(host, ".home.arpa")
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
