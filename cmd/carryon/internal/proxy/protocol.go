package proxy

import (
	"net/http"
	"strings"

	"github.com/carryon-go/carryon/internal/wire/gemini"
	"github.com/carryon-go/carryon/internal/wire/protocols"
)

// below returns the part of a client's path that belongs below the upstream's base
// URL. Programs differ in whether the base URL that they are given contains the /v1:
// the paths that all know are served without it, and with one that was added to it.
// below reports false for any other path that does not begin with /v1.
// The paths of Google's API begin with a version of its own, which may be v1: they stay
// as they are, and a /v1 before them goes.
func below(path string) (rest string, ok bool) {
	rest, ok = cutPrefix(path)
	switch {
	case ok && gemini.Serves(rest):
		return rest, true
	case gemini.Serves(path):
		return path, true
	}
	if again, more := cutPrefix(rest); more && isKnown(again) {
		return again, true
	}
	return rest, ok || isKnown(path)
}

// cutPrefix returns the path below /v1, or the path itself.
func cutPrefix(path string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(path, prefix)
	if !ok || rest != "" && rest[0] != '/' {
		return path, false
	}
	return rest, true
}

// isKnown reports whether clients of any API ask for a path below their base URL.
func isKnown(path string) bool {
	if gemini.Serves(path) {
		return true
	}
	for _, known := range []string{"/chat/completions", "/responses", "/messages", "/models"} {
		if path == known || strings.HasPrefix(path, known+"/") {
			return true
		}
	}
	return false
}

// speaks reports whether carryon reads the answers of a path.
func speaks(path string) bool { return protocols.Endpoint(path) != "" }

// refuse answers with the proxy's own error, in the format of the API that the path
// belongs to.
func refuse(w http.ResponseWriter, r *http.Request, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	path := r.URL.Path
	if rest, ok := below(path); ok {
		path = rest
	}
	if _, err := w.Write(append(protocols.Error(path, status, "carryon: "+message), '\n')); err != nil {
		panic(http.ErrAbortHandler) // the client has left
	}
}
