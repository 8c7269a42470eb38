package proxy

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
)

// sessionHeader names the session of a request. The upstream does not receive it.
const sessionHeader = "X-Carryon-Session"

// agentHeaders are those in which agents name their conversations without being
// asked, the most specific first.
var agentHeaders = []string{ //nolint:gochecknoglobals // a table
	"X-Claude-Code-Session-Id",
	"Thread-Id", "Session-Id", // Codex
	"X-Session-Id", "X-Session-Affinity", // opencode
	"X-Litellm-Session-Id", "X-Litellm-Trace-Id",
}

// credentials are the headers that tell the users of an upstream apart.
var credentials = []string{"Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key"} //nolint:gochecknoglobals // a table

// sessionOf returns the name of the request's session as the client gave it, or
// "". Chosen is a header that counts more than those of agents.
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

// sessionKey returns the key of a session, which requests with other credentials
// do not share.
func sessionKey(header http.Header, name string) string {
	hash := sha256.New()
	for _, h := range credentials {
		for _, value := range header.Values(h) {
			_, _ = hash.Write([]byte(h + ": " + value + "\n"))
		}
	}
	return hex.EncodeToString(hash.Sum(nil)[:8]) + ":" + name
}
