package proxy

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/carryon-go/carryon/internal/wire/gemini"
	"github.com/carryon-go/carryon/internal/wire/protocols"
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
	_, below := cutPrefix(request.URL.Path, r.Prefix)
	below = below || r.Prefix == prefix && protocols.IsKnown(request.URL.Path)
	return below && (r.Header == "" || request.Header.Get(r.Header) != "")
}

// routeOf returns the base URL of the endpoint that a request is for, and the prefix
// of its path that this URL replaces; nil if there is no such endpoint. certain says
// that the path is none of the proxy's own.
func (c *Config) routeOf(r *http.Request) (upstream *url.URL, replaced string, certain bool) {
	if origin := originOf(r.Context()); origin != nil {
		return c.routeFrom(origin, r.URL.Path)
	}
	for i := range c.Routes {
		if route := &c.Routes[i]; route.matches(r) {
			replaced, _ = replacedBy(r.URL.Path, route.Prefix, route.url)
			return route.url, replaced, replaced != ""
		}
	}
	if replaced, ok := replacedBy(r.URL.Path, prefix, c.Upstream); ok {
		return c.Upstream, replaced, true
	}
	return nil, "", false
}

// replacedBy returns the beginning of a client's path that the upstream's base URL
// replaces: start. Programs differ in whether the base URL that they are given contains
// the /v1: the paths that all know are served without it, and, if the upstream's own
// base URL has one, also with one that was added to it. replacedBy reports false for
// any other path that does not begin with start.
// The paths of Google's API begin with a version of its own. One of them is /v1, which
// stays if the upstream's base URL has none.
func replacedBy(path, start string, upstream *url.URL) (replaced string, ok bool) {
	rest, ok := cutPrefix(path, start)
	again, twice := cutPrefix(rest, prefix)
	hasVersion := strings.HasSuffix(strings.TrimSuffix(upstream.Path, "/"), prefix)
	switch {
	case !ok:
		return "", protocols.IsKnown(path)
	case twice && protocols.IsKnown(again) && hasVersion:
		return strings.TrimSuffix(path, again), true
	case start == prefix && gemini.Serves(path) && !gemini.Serves(rest) && !hasVersion:
		return "", true
	}
	return start, true
}

// cutPrefix returns the path below the prefix, or the path itself.
func cutPrefix(path, prefix string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(path, prefix)
	if !ok || rest != "" && rest[0] != '/' {
		return path, false
	}
	return rest, true
}

// speaks reports whether carryon reads the answers of a path.
func speaks(path string) bool { return protocols.Endpoint(path) != "" }

// refuse answers with the proxy's own error, in the format of the API that the path
// belongs to.
func refuse(w http.ResponseWriter, r *http.Request, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	path := r.URL.Path
	if rest, ok := cutPrefix(path, prefix); ok && gemini.Serves(rest) {
		path = rest
	}
	if _, err := w.Write(append(protocols.Error(path, status, "carryon: "+message), '\n')); err != nil {
		panic(http.ErrAbortHandler) // the client has left
	}
}
