package proxy

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// probeTime is how long an upstream has to answer when a command starts.
const probeTime = 3 * time.Second

// Probe asks the upstream for its list of models and returns what is probably wrong,
// or "". An answer that demands a key is fine, because clients send the keys. Probe
// takes at most three seconds.
func (c *Config) Probe(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	base := newBase()
	defer base.CloseIdleConnections()
	target := c.Upstream.JoinPath("models")
	shown := *c.Upstream
	shown.RawQuery = "" // it may contain a key
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return ""
	}
	response, err := base.RoundTrip(r)
	switch {
	case hasNoFiles(err):
		return noFiles
	case err != nil:
		hidden := (&secrets{upstream: c.Upstream}).hide(err.Error())
		if errors.Is(err, context.DeadlineExceeded) {
			hidden = fmt.Sprintf("no answer within %v", probeTime)
		}
		return fmt.Sprintf("nothing answers at %s (%s): start it, or set -upstream", &shown, hidden)
	}
	_ = response.Body.Close() // only the status matters
	if response.StatusCode == http.StatusNotFound && !strings.Contains(c.Upstream.Path, "/v") {
		return fmt.Sprintf("%s answers, but lists no models: base URLs usually end in /v1, so try -upstream %s", &shown, shown.JoinPath("v1"))
	}
	return ""
}
