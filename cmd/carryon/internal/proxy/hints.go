package proxy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/carryon-go/carryon/internal/wire/protocols"
)

// hints logs the probable cause when an upstream refuses a request, each cause once.
type hints struct {
	logger *slog.Logger

	mu   sync.Mutex
	said []string
}

// answered logs that the upstream refused a request: with the probable cause if that
// is a new one, which becomes a hint.
func (h *hints) answered(r *http.Response) {
	hint, isPost := "", r.Request.Method == http.MethodPost // nothing else calls a model
	switch {
	case r.StatusCode == http.StatusNotFound && isPost && speaks(r.Request.URL.Path):
		hint = notFound(r)
	case r.StatusCode == http.StatusUnauthorized && isPost && (originOf(r.Request.Context()) == nil || speaks(r.Request.URL.Path)):
		hint = "the upstream answered 401: the client must send a valid API key, because the proxy adds none"
	}
	isCall := r.StatusCode >= http.StatusBadRequest && speaks(r.Request.URL.Path)
	switch {
	case hint != "" && h.add(hint):
		h.logger.Warn(hint)
	case isCall, r.StatusCode == http.StatusTooManyRequests, r.StatusCode >= http.StatusInternalServerError:
		h.logger.Warn("the upstream refused a request", slog.Int("status", r.StatusCode),
			slog.String("method", short(r.Request.Method, maxName)), slog.String("path", shownPath(r.Request.URL.Path)))
	}
}

// notFound says what is probably wrong if the upstream does not know the path of a
// call.
func notFound(r *http.Response) string {
	text := fmt.Sprintf("the upstream answered 404 for %s: ", short(shownURL(r.Request.URL), maxText))
	if originOf(r.Request.Context()) != nil {
		return text + "check the model"
	}
	if e, ok := r.Request.Context().Value(entryKey{}).(*entry); ok {
		replaced, _ := replacedBy(e.Path, prefix, e.secrets.upstream)
		if !protocols.IsKnown(strings.TrimPrefix(e.Path, replaced)) { // the client's base URL has a path of its own
			return text + "the client's base URL should be " + e.base
		}
	}
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") { // most servers answer so for a model that they lack
		return text + "check the model, and -upstream, which usually ends in /v1"
	}
	return text + "check -upstream, which usually ends in /v1"
}

// misdirected adds a hint if the request may call a model, at a path that the proxy does
// not serve. Programs also look for many things that are not there.
func (h *hints) misdirected(r *http.Request) {
	if r.Method == http.MethodPost {
		h.say(fmt.Sprintf("a client asked for %s: its base URL should be %s", shownPath(r.URL.Path), baseOf(r)))
	}
}

// unanswered records that the upstream has not answered. It does not log this: the
// caller logs the error.
func (h *hints) unanswered(r *http.Request, err error) {
	if hasNoFiles(err) {
		h.add(noFiles)
		return
	}
	h.add(fmt.Sprintf("nothing answers at %s://%s", r.URL.Scheme, r.URL.Host))
}

const noFiles = "too many files and connections are open: raise the limit (ulimit -n)"

// hasNoFiles reports whether this process, and not the upstream, is why a request
// failed.
func hasNoFiles(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

func (h *hints) say(text string) {
	if h.add(text) {
		h.logger.Warn(text)
	}
}

// add adds a hint, and reports whether it is a new one.
func (h *hints) add(text string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if slices.Contains(h.said, text) || len(h.said) == maxHints {
		return false
	}
	h.said = append(h.said, text)
	return true
}

// maxHints limits the hints, because they contain paths that clients choose.
const maxHints = 8

// all returns the hints so far.
func (h *hints) all() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.said)
}

// probeTime is how long an upstream has to answer when a command starts.
const probeTime = 3 * time.Second

// Probe asks the upstream for its list of models and returns what is probably wrong,
// or "". An answer that demands a key is fine, because clients send the keys. Probe
// takes at most three seconds.
func (c *Config) Probe(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	base := newBase(c)
	defer base.CloseIdleConnections()
	target, shown := c.Upstream.JoinPath("models"), shownURL(c.Upstream)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return ""
	}
	response, err := base.RoundTrip(r)
	switch {
	case hasNoFiles(err):
		return noFiles
	case err != nil:
		hidden := short((&secrets{upstream: c.Upstream}).hide(err.Error()), maxText)
		if errors.Is(err, context.DeadlineExceeded) {
			hidden = fmt.Sprintf("no answer within %v", probeTime)
		}
		return fmt.Sprintf("nothing answers at %s (%s): start it, or set -upstream", shown, hidden)
	}
	_ = response.Body.Close() // only the status matters
	if response.StatusCode == http.StatusNotFound && !strings.Contains(c.Upstream.Path, "/v") {
		return fmt.Sprintf("%s answers, but lists no models: base URLs usually end in /v1, so try -upstream %s/v1", shown, strings.TrimSuffix(shown, "/"))
	}
	return ""
}
