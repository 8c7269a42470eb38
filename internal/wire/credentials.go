package wire

import (
	"maps"
	"slices"
	"strings"
)

// credentialWords are parts of the names of headers that may identify the caller: the keys of providers and of the
// gateways before them, and whom a key is used for.
var credentialWords = [...]string{ //nolint:gochecknoglobals // constant
	"auth", "key", "token", "secret", "password", "credential", "cookie", "cert",
	"account", "customer", "identity", "org", "principal", "project", "team", "tenant", "user", "workspace",
}

// notCredentials are headers whose names contain a word of credentialWords, but which do not identify the caller.
// Several differ from request to request.
var notCredentials = [...]string{ //nolint:gochecknoglobals // constant
	"idempotency-key", "x-idempotency-key", "user-agent", "sec-fetch-user", "sec-websocket-key",
}

// IsCredential reports whether a header of that name may identify the caller.
func IsCredential(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(credentialWords[:], func(word string) bool { return strings.Contains(name, word) }) &&
		!slices.Contains(notCredentials[:], name)
}

// AddCredentials adds everything in a request that may tell its caller from another one, and reports whether there is
// anything. A key may also be in the query, under any name. The texts contain secrets: they are to be hashed, each with
// its length or an end mark, and not stored.
func AddCredentials(header map[string][]string, query string, add func(text string)) (found bool) {
	add(query)
	for _, name := range slices.Sorted(maps.Keys(header)) {
		if !IsCredential(name) {
			continue
		}
		found = true
		add(name)
		for _, value := range header[name] {
			add(value)
		}
	}
	return found || query != ""
}
