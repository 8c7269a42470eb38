package wire

import (
	"slices"
	"strings"
)

// credentialWords are parts of the names of headers that may identify the caller, by their first letters: the keys of
// providers and of the gateways before them, and whom a key is used for.
var credentialWords = [...][]string{ //nolint:gochecknoglobals // constant
	'a': {"auth", "account"},
	'c': {"credential", "cookie", "cert", "customer"},
	'i': {"identity"},
	'k': {"key"},
	'o': {"org"},
	'p': {"password", "principal", "project"},
	's': {"secret"},
	't': {"token", "team", "tenant"},
	'u': {"user"},
	'w': {"workspace"},
}

// isCredential reports whether a header of that name may identify the caller.
func isCredential(name string) bool {
	for at := range len(name) {
		first := name[at] | 0x20 // in lower case, if it is a letter
		if int(first) >= len(credentialWords) {
			continue
		}
		for _, word := range credentialWords[first] {
			if len(name)-at >= len(word) && strings.EqualFold(name[at:at+len(word)], word) {
				return !isOther(name)
			}
		}
	}
	return false
}

// isOther reports whether a header does not identify the caller although its name has one of the words. Those for keys
// differ from request to request.
func isOther(name string) bool {
	switch strings.ToLower(name) {
	case "idempotency-key", "x-idempotency-key", "sec-websocket-key", "user-agent", "sec-fetch-user":
		return true
	}
	return false
}

// withoutForm returns a query without the parameter in which Google's clients ask for
// the form of an answer. One caller may ask for several.
func withoutForm(query string) string {
	if !strings.Contains(query, "alt=") {
		return query
	}
	var kept []string
	for parameter := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(parameter, "=")
		if name != "alt" && name != "$alt" && name != "%24alt" {
			kept = append(kept, parameter)
		}
	}
	return strings.Join(kept, "&")
}

// AddCredentials adds everything in a request that may tell its caller from another one, and reports whether there is
// anything. A key may also be in the query, under any name. The texts contain secrets: hash them, each with
// its length or an end mark, and do not store them.
func AddCredentials(header map[string][]string, query string, add func(text string)) (found bool) {
	query = withoutForm(query)
	add(query)
	return AddHeaders(header, isCredential, add) || query != ""
}

// AddHeaders adds the headers with such names, with their values, and reports whether there are any.
func AddHeaders(header map[string][]string, wants func(name string) bool, add func(text string)) (found bool) {
	var names []string
	for name := range header {
		if wants(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		add(name)
		for _, value := range header[name] {
			add(value)
		}
	}
	return len(names) > 0
}
