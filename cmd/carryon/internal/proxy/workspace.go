package proxy

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// The parts of ChatGPT's API that carryon knows. A workspace whose data must stay in a
// region has an origin and a header of its own, for which Codex asks before its first
// request, but not if its base URL is a proxy's.
const (
	chatGPTHost     = "chatgpt.com"
	chatGPTCodex    = "/backend-api/codex/"
	chatGPTAccounts = "https://" + chatGPTHost + "/backend-api/wham/accounts/check"
	accountHeader   = "Chatgpt-Account-Id"
	regionHeader    = "X-Openai-Account-Routing-Override"
	unconstrained   = "NO_CONSTRAINT" // the workspace has none
)

// The limits of the search for a workspace.
const (
	workspacePatience = 5 * time.Second
	workspaceRetry    = time.Minute // after a failure
	maxWorkspaces     = 100         // that are remembered, each for one token
	maxAccounts       = 1 << 20     // bytes of the answer
)

// workspaces sends the requests of a ChatGPT login to the origin of its workspace.
type workspaces struct {
	base   http.RoundTripper
	logger *slog.Logger
	now    func() time.Time

	mu    sync.Mutex
	known map[[sha256.Size]byte]*workspace
}

// workspace is where the requests of an account go.
type workspace struct {
	mu     sync.Mutex // held by the request that searches
	found  bool
	failed time.Time // when it was last searched for in vain
	host   string    // "" for ChatGPT's own
	region string    // for the header, or ""
}

// RoundTrip implements [http.RoundTripper].
func (w *workspaces) RoundTrip(r *http.Request) (*http.Response, error) {
	account := r.Header.Get(accountHeader)
	if account == "" || r.URL.Host != chatGPTHost || !strings.HasPrefix(r.URL.Path, chatGPTCodex) {
		return w.base.RoundTrip(r)
	}
	host, region := w.of(r, account)
	if host == "" && region == "" {
		return w.base.RoundTrip(r)
	}
	sent := r.Clone(r.Context())
	if host != "" {
		sent.URL.Host, sent.Host = host, ""
	}
	if region != "" {
		sent.Header.Set(regionHeader, region)
	}
	return answerTo(r)(w.base.RoundTrip(sent))
}

// of returns where the requests of an account go. If nobody says so, that is ChatGPT.
func (w *workspaces) of(r *http.Request, account string) (host, region string) {
	space := w.remembered(sha256.Sum256([]byte(account + "\n" + r.Header.Get("Authorization"))))
	space.mu.Lock()
	defer space.mu.Unlock()
	if !space.found && w.now().Sub(space.failed) >= workspaceRetry {
		err := space.search(r, account, w.base)
		if err != nil && r.Context().Err() == nil {
			space.failed = w.now()
			w.logger.WarnContext(r.Context(), "cannot find out where the ChatGPT workspace is: its requests go to "+chatGPTHost, slog.Any("error", err))
		}
	}
	return space.host, space.region
}

func (w *workspaces) remembered(key [sha256.Size]byte) *workspace {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.known[key] == nil {
		if len(w.known) >= maxWorkspaces || w.known == nil {
			w.known = make(map[[sha256.Size]byte]*workspace)
		}
		w.known[key] = new(workspace)
	}
	return w.known[key]
}

// search asks ChatGPT where the workspace is, as Codex does, with the login of a
// request.
func (s *workspace) search(r *http.Request, account string, base http.RoundTripper) error {
	ctx, cancel := context.WithTimeout(r.Context(), workspacePatience)
	defer cancel()
	ask, err := http.NewRequestWithContext(ctx, http.MethodGet, chatGPTAccounts, nil)
	if err != nil {
		return err
	}
	for _, name := range []string{"Authorization", accountHeader, "User-Agent", "Originator"} {
		if values := r.Header.Values(name); values != nil {
			ask.Header[http.CanonicalHeaderKey(name)] = values
		}
	}
	answer, err := base.RoundTrip(ask)
	if err != nil {
		return err
	}
	defer answer.Body.Close() //nolint:errcheck // nobody needs the rest
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("HTTP status %d", answer.StatusCode)
	}
	var all struct {
		Accounts []struct {
			ID     string `json:"id"`
			Origin string `json:"workspace_backend_origin"`
			Region string `json:"account_routing_override"`
		} `json:"accounts"`
	}
	if err := json.NewDecoder(io.LimitReader(answer.Body, maxAccounts)).Decode(&all); err != nil {
		return err
	}
	for _, found := range all.Accounts {
		if found.ID == account {
			return s.take(found.Origin, found.Region)
		}
	}
	return errors.New("the account is not among those of the login")
}

// take sets what the search has found.
func (s *workspace) take(origin, region string) error {
	if origin != "" && origin != unconstrained {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil {
			return errors.New("the origin of the workspace is not a plain HTTPS origin")
		}
		s.host = u.Host
	}
	if region != unconstrained {
		s.region = region
	}
	s.found = true
	return nil
}

// CloseIdleConnections implements the interface that http.Client looks for.
func (w *workspaces) CloseIdleConnections() {
	if base, ok := w.base.(interface{ CloseIdleConnections() }); ok {
		base.CloseIdleConnections()
	}
}
