package proxy

import (
	"encoding/json"
	"net/http"
	"strings"
)

// endpoints returns the paths below a base URL whose answers carryon reads.
func endpoints() []string {
	return []string{"/chat/completions", "/responses", "/messages", ":rawPredict", ":streamRawPredict"}
}

// below returns the part of a client's path that belongs below the upstream's base
// URL. Programs differ in whether the base URL that they are given contains the /v1:
// the paths that all know are served without it, and with one that was added to it.
// below reports false for any other path that does not begin with /v1.
func below(path string) (rest string, ok bool) {
	rest, ok = cutPrefix(path)
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
	for _, known := range append(endpoints(), "/models") {
		if path == known || strings.HasPrefix(path, known+"/") {
			return true
		}
	}
	return false
}

// speaks reports whether carryon reads the answers of a path.
func speaks(path string) bool { return endpointOf(path) != "" }

// refuse answers with the proxy's own error, in the format of the API that the path
// belongs to.
func refuse(w http.ResponseWriter, r *http.Request, status int, message string) {
	message = "carryon: " + message
	var body any
	if strings.Contains(r.URL.Path, "/messages") {
		body = messagesError{Type: "error", Error: apiError{Type: "proxy_error", Message: message}}
	} else {
		body = openAIError{Error: apiError{Type: "proxy_error", Message: message}}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(body); err != nil {
		panic(http.ErrAbortHandler) // the client has left
	}
}

type apiError struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

// openAIError is an error of Chat Completions and of Responses.
type openAIError struct {
	Error apiError `json:"error"`
}

// messagesError is an error of Anthropic's Messages.
type messagesError struct {
	Type  string   `json:"type"`
	Error apiError `json:"error"`
}
