package proxy

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
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
	"Session_id",                                               // pi, and old versions of Codex
	"X-Opencode-Session", "X-Session-Id", "X-Session-Affinity", // opencode
	"X-Client-Session-Id", "X-Agent-Task-Id", // Copilot CLI, whose task is new with each of the user's messages
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

// caller is a hash of everything that may tell the caller of a request from another
// one; known is false if there is nothing.
type caller struct {
	hash  [sha256.Size]byte
	known bool
}

func callerOf(r *http.Request) caller {
	hash := sha256.New()
	known := wire.AddCredentials(r.Header, r.URL.RawQuery, func(text string) {
		_, _ = fmt.Fprintf(hash, "%d:%s", len(text), text) // a hash does not fail
	})
	return caller{[sha256.Size]byte(hash.Sum(nil)), known}
}

// sessionKey returns the key of a session. Sessions of one name and different callers
// have different keys.
func (c *caller) sessionKey(name string) string { return hex.EncodeToString(c.hash[:8]) + ":" + name }

// shown returns a short salted hash of the caller, or "" if the caller is not known.
// Without the salt it reveals nothing about the credentials.
func (c *caller) shown(salt string) string {
	if !c.known {
		return ""
	}
	hash := sha256.Sum256(append([]byte(salt), c.hash[:]...))
	return hex.EncodeToString(hash[:2])
}
