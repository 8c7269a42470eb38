package transport

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// credentialWords are parts of the names of headers that identify the caller.
// Such a header has one value in all requests of a tool loop.
var credentialWords = [...]string{ //nolint:gochecknoglobals // constant
	"auth", "key", "token", "secret", "cookie", "organization", "project", "account", "tenant", "user-id", "session",
}

// addCredentials adds the host and the credentials of a request, to tell it
// from another caller's request with the same messages. The texts are hashed,
// and not stored.
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

// isCredential reports whether a header of that name may identify the caller.
func isCredential(name string) bool {
	name = strings.ToLower(name)
	return name != "idempotency-key" && // differs from request to request
		slices.ContainsFunc(credentialWords[:], func(word string) bool { return strings.Contains(name, word) })
}
