package proxy

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/carryon-go/carryon/internal/wire/protocols"
)

// originKey is the key of the host that the client of a connection believes to speak to.
type originKey struct{}

// originOf returns that host as a base URL. It is nil for a client that knows that it
// speaks to carryon.
func originOf(ctx context.Context) *url.URL {
	origin, _ := ctx.Value(originKey{}).(*url.URL)
	return origin
}

// Answer answers the requests of connections that their clients believe to be ones to
// other hosts: to those that origin says. They have no TLS any more. Each request goes
// to its host, whatever its path is. [Server.Stop] ends it, and waits for open answers.
func (s *Server) Answer(connections net.Listener, origin func(net.Conn) *url.URL) {
	s.answering = newServer(s.proxy, s.proxy.logger)
	s.answering.Handler = http.HandlerFunc(s.proxy.answer)
	s.answering.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
		return context.WithValue(ctx, originKey{}, origin(conn))
	}
	s.background.Go(func() { _ = s.answering.Serve(connections) }) // Stop ends it
}

// answer answers a request for another host. It may name no third one.
func (p *Proxy) answer(w http.ResponseWriter, r *http.Request) {
	if origin := originOf(r.Context()); origin == nil || !isSameHost(r.Host, origin) || r.URL.IsAbs() {
		refuse(w, r, http.StatusMisdirectedRequest, "the connection is one to another host")
		return
	}
	p.forwarding.ServeHTTP(w, r)
}

// isSameHost reports whether a header names the host of an origin.
func isSameHost(header string, origin *url.URL) bool {
	u := url.URL{Host: header}
	port := u.Port()
	if port == "443" {
		port = ""
	}
	return strings.EqualFold(strings.TrimSuffix(u.Hostname(), "."), origin.Hostname()) && port == origin.Port()
}

// routeFrom returns where a request for an origin goes: there, unless it asks a model and
// these requests are redirected.
func (c *Config) routeFrom(origin *url.URL, path string) (upstream *url.URL, replaced string, certain bool) {
	for at := 0; c.Redirect && at < len(path); at++ {
		if path[at] != '/' {
			continue
		}
		replaced, ok := replacedBy(path[at:], prefix, c.Upstream)
		if ok && protocols.IsKnown(path[at+len(replaced):]) {
			return c.Upstream, path[:at] + replaced, true
		}
	}
	return origin, "", true
}
