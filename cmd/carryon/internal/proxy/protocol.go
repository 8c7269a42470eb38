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
