package proxy

import (
	"net/http"
	"strings"

	"github.com/carryon-go/carryon/internal/wire/gemini"
	"github.com/carryon-go/carryon/internal/wire/protocols"
)

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
	if rest, ok := cutPrefix(path, prefix); ok && gemini.Serves(rest) {
		path = rest
	}
	if _, err := w.Write(append(protocols.Error(path, status, "carryon: "+message), '\n')); err != nil {
		panic(http.ErrAbortHandler) // the client has left
	}
}
