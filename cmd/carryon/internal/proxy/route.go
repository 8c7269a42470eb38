package proxy

import (
	"net/http"
	"net/url"
	"strings"
)

// Route gives some of the requests an endpoint of their own. Those that match no
// route go to [Config].Upstream.
type Route struct {
	Prefix string // of their paths at the proxy, in place of the base URL's; "" stands for every path
	Header string // one that they have; "" for none
	Base   string // base URL of the endpoint
	Source string // what the base URL comes from, in errors

	url *url.URL // Base, parsed
}

func (r *Route) matches(request *http.Request) bool {
	return isBelow(request.URL.Path, r.Prefix) && (r.Header == "" || request.Header.Get(r.Header) != "")
}

// isBelow reports whether a path is the prefix, or continues it.
func isBelow(path, prefix string) bool {
	rest, ok := strings.CutPrefix(path, prefix)
	return ok && (rest == "" || rest[0] == '/')
}

// routeOf returns the base URL of the endpoint that a request is for, and the prefix
// of its path that this URL replaces; nil if there is no such endpoint.
func (c *Config) routeOf(r *http.Request) (upstream *url.URL, replaced string) {
	for i := range c.Routes {
		if route := &c.Routes[i]; route.matches(r) {
			return route.url, route.Prefix
		}
	}
	if rest, ok := below(r.URL.Path); ok {
		return c.Upstream, strings.TrimSuffix(r.URL.Path, rest)
	}
	return nil, ""
}
