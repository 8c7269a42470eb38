package transport

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// credentialWords are what the names of headers contain that say who asks. Each
// is the same in all requests of a tool loop.
var credentialWords = [...]string{ //nolint:gochecknoglobals // constant
	"auth", "key", "token", "secret", "cookie", "organization", "project", "account", "tenant", "user-id", "session",
}

// addCredentials adds what tells a request from a stranger's with the same
// messages: where it goes, and in whose name. The texts are hashed, and not kept.
func addCredentials(r *http.Request, add func(text string)) {
	add(r.URL.Host)
	add(r.URL.User.String())
	add(r.URL.RawQuery)
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		if isCredential(name) {
			add(name)
			for _, value := range r.Header[name] {
				add(value)
			}
		}
	}
}

// isCredential reports whether a header of that name may say who asks.
func isCredential(name string) bool {
	name = strings.ToLower(name)
	return name != "idempotency-key" && // of one request
		slices.ContainsFunc(credentialWords[:], func(word string) bool { return strings.Contains(name, word) })
}
