package proxy

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"

	"github.com/carryon-go/carryon/internal/wire"
)

// sessionHeader names the session of a request. The upstream does not receive it.
const sessionHeader = "X-Carryon-Session"

// agentHeaders are the headers in which agents name their conversations by default,
// the most specific first.
var agentHeaders = []string{ //nolint:gochecknoglobals // a table
	"X-Claude-Code-Session-Id",
	"Thread-Id", "Session-Id", // Codex
	"Session_id",                         // pi, and old versions of Codex
	"X-Session-Id", "X-Session-Affinity", // opencode
	"X-Litellm-Session-Id", "X-Litellm-Trace-Id",
}

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
	for _, h := range agentHeaders {
		if name := header.Get(h); name != "" {
			return name
		}
	}
	return ""
}

// sessionKey returns the key of a request's session. Requests with the same name and
// other credentials get another key.
func sessionKey(r *http.Request, name string) string {
	hash := sha256.New()
	writeCredentials(hash, r)
	return hex.EncodeToString(hash.Sum(nil)[:8]) + ":" + name
}

// keyOf returns a short salted hash of a request's credentials, or "" without
// credentials. Without the salt it reveals nothing about them.
func keyOf(r *http.Request, salt string) string {
	hash := sha256.New()
	_, _ = io.WriteString(hash, salt) // a hash does not fail
	if !writeCredentials(hash, r) {
		return ""
	}
	return hex.EncodeToString(hash.Sum(nil)[:2])
}

// writeCredentials writes the credentials of a request to a hash, and reports
// whether there are any.
func writeCredentials(hash io.Writer, r *http.Request) (found bool) {
	return wire.AddCredentials(r.Header, r.URL.RawQuery, func(text string) {
		_, _ = fmt.Fprintf(hash, "%d:%s", len(text), text) // a hash does not fail
	})
}
