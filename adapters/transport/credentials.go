package transport

import (
	"net/http"
	"slices"
	"strings"

	"github.com/carryon-go/carryon/internal/wire"
)

// addCaller adds the host and the credentials of a request, to tell its caller from
// another one. The texts are hashed, and not stored.
func addCaller(r *http.Request, add func(text string)) {
	add(r.URL.Host)
	add(r.URL.User.String())
	wire.AddCredentials(r.Header, r.URL.RawQuery, add)
}

// addSessions adds the headers that name a conversation. Such a header has one value
// in all requests of a tool loop, and tells apart the conversations of one caller.
func addSessions(r *http.Request, add func(text string)) {
	var names []string
	for name := range r.Header {
		if strings.Contains(strings.ToLower(name), "session") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		add(name)
		for _, value := range r.Header[name] {
			add(value)
		}
	}
}
