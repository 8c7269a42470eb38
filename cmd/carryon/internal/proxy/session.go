package proxy

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"sync"

	"github.com/carryon-go/carryon/internal/agents"
	"github.com/carryon-go/carryon/internal/wire"
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
