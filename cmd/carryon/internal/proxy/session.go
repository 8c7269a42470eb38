package proxy

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"sync"

	"github.com/carryon-go/carryon/internal/agents"
)

// sessionHeader names the session of a request. The upstream does not receive it.
const sessionHeader = "X-Carryon-Session"

// agentHeaders are the headers in which agents name their conversations by default,
// the most specific first.
var agentHeaders = sync.OnceValue(func() (names []string) { //nolint:gochecknoglobals // facts, put together once
	for _, h := range agents.Collect(func(a *agents.Agent) []agents.Fact { return a.Headers }) {
		names = append(names, h.Text)
	}
	return names
})

// credentials are the headers that tell the users of an upstream apart.
var credentials = []string{"Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key"} //nolint:gochecknoglobals // a table

// sessionOf returns the name of the request's session as the client gave it, or
// "". The header chosen overrides the headers of agents.
func sessionOf(header http.Header, chosen string) string {
	if name := header.Get(sessionHeader); name != "" {
		return name
	}
	if chosen != "" {
		if name := header.Get(chosen); name != "" {
			return name
		}
	}
	for _, h := range agentHeaders() {
		if name := header.Get(h); name != "" {
			return name
		}
	}
	return ""
}

// sessionKey returns the key of a session. Requests with the same name and other
// credentials get another key.
func sessionKey(header http.Header, name string) string {
	hash := sha256.New()
	writeCredentials(hash, header)
	return hex.EncodeToString(hash.Sum(nil)[:8]) + ":" + name
}

// keyOf returns a short salted hash of a request's credentials, or "" without
// credentials. Without the salt it reveals nothing about them.
func keyOf(header http.Header, salt string) string {
	hash := sha256.New()
	_, _ = io.WriteString(hash, salt) // a hash does not fail
	if !writeCredentials(hash, header) {
		return ""
	}
	return hex.EncodeToString(hash.Sum(nil)[:2])
}

// writeCredentials writes the credentials of a request to a hash, and reports
// whether there are any.
func writeCredentials(hash io.Writer, header http.Header) (found bool) {
	for _, h := range credentials {
		for _, value := range header.Values(h) {
			found = true
			_, _ = io.WriteString(hash, h+": "+value+"\n") // a hash does not fail
		}
	}
	return found
}
