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

// match returns the part of a request's path that the base URL replaces, if the route
// is for the request. A route for /v1 is for all paths that [below] knows.
func (r *Route) match(request *http.Request) (replaced string, ok bool) {
	if r.Header != "" && request.Header.Get(r.Header) == "" {
		return "", false
	}
	path := request.URL.Path
	if r.Prefix == prefix {
		rest, ok := below(path)
		return strings.TrimSuffix(path, rest), ok
	}
	rest, ok := strings.CutPrefix(path, r.Prefix)
	return r.Prefix, ok && (rest == "" || rest[0] == '/')
}

// routeOf returns the base URL of the endpoint that a request is for, and the prefix
// of its path that this URL replaces; nil if there is no such endpoint.
func (c *Config) routeOf(r *http.Request) (upstream *url.URL, replaced string) {
	for i := range c.Routes {
		if replaced, ok := c.Routes[i].match(r); ok {
			return c.Routes[i].url, replaced
		}
	}
	rest := Route{Prefix: prefix}
	if replaced, ok := rest.match(r); ok {
		return c.Upstream, replaced
	}
	return nil, ""
}
