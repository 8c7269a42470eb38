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
	"slices"
	"strings"
	"sync"
	"time"
)

// directory says where a vendor serves an account. An agent asks it before its first
// request, but not if its base URL is a proxy's.
type directory struct {
	host, prefix string // of the requests that it is about
	account      string // the header that names the account, or "" if the login does
	url          string
	read         func(answer []byte, account string) (place, error)
}

// place is where the requests of an account go.
type place struct {
	origin string // "" for the vendor's usual one
	region string // for regionHeader, or ""
}

// unconstrained is how ChatGPT says that an account has no origin or region.
const unconstrained = "NO_CONSTRAINT"

// regionHeader is how Codex names the region.
const regionHeader = "X-Openai-Account-Routing-Override"

var directories = []directory{ //nolint:gochecknoglobals // a table
	{ // a workspace's data may have to stay in a region
		host: "chatgpt.com", prefix: "/backend-api/codex/", account: "Chatgpt-Account-Id",
		url: "https://chatgpt.com/backend-api/wham/accounts/check", read: readChatGPT,
	},
	{ // companies have addresses of their own, and may block all others
		host: "api.githubcopilot.com", prefix: "/", url: "https://api.github.com/copilot_internal/user", read: readCopilot,
	},
}

func readChatGPT(answer []byte, account string) (place, error) {
	var all struct {
		Accounts []struct {
			ID     string `json:"id"`
			Origin string `json:"workspace_backend_origin"`
			Region string `json:"account_routing_override"`
		} `json:"accounts"`
	}
	if err := json.Unmarshal(answer, &all); err != nil {
		return place{}, err
	}
	for _, found := range all.Accounts {
		if found.ID == account {
			return place{strings.TrimPrefix(found.Origin, unconstrained), strings.TrimPrefix(found.Region, unconstrained)}, nil
		}
	}
	return place{}, errors.New("the account is not among those of the login")
}

func readCopilot(answer []byte, _ string) (place, error) {
	var user struct {
		Endpoints struct {
			API string `json:"api"`
		} `json:"endpoints"`
	}
	err := json.Unmarshal(answer, &user)
	return place{origin: user.Endpoints.API}, err
}

// The limits of the search for a workspace.
const (
	workspacePatience = 5 * time.Second
	workspaceRetry    = time.Minute // after a failure
	maxWorkspaces     = 100         // that are remembered, each for one token
	maxDirectory      = 1 << 20     // bytes of an answer
)

// workspaces sends the requests of a login to where its vendor serves it.
type workspaces struct {
	base   http.RoundTripper
	logger *slog.Logger
	now    func() time.Time

	mu    sync.Mutex
	known map[[sha256.Size]byte]*workspace
}

// workspace is what is known about an account.
type workspace struct {
	mu     sync.Mutex // held by the request that searches
	found  bool
	failed time.Time // when it was last searched for in vain
	host   string    // "" for the usual one
	region string    // or ""
}

// RoundTrip implements [http.RoundTripper].
func (w *workspaces) RoundTrip(r *http.Request) (*http.Response, error) {
	i := slices.IndexFunc(directories, func(d directory) bool {
		return r.URL.Host == d.host && strings.HasPrefix(r.URL.Path, d.prefix) && (d.account == "" || r.Header.Get(d.account) != "")
	})
	if i < 0 || r.Header.Get("Authorization") == "" || originOf(r.Context()) != nil { // whose client has asked by itself
		return w.base.RoundTrip(r)
	}
	host, region := w.of(r, &directories[i])
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

// of returns where the requests of an account go. If nobody says so, that is the
// usual host.
func (w *workspaces) of(r *http.Request, d *directory) (host, region string) {
	space := w.remembered(sha256.Sum256([]byte(d.host + "\n" + r.Header.Get(d.account) + "\n" + r.Header.Get("Authorization"))))
	space.mu.Lock()
	defer space.mu.Unlock()
	if !space.found && w.now().Sub(space.failed) >= workspaceRetry {
		err := space.search(r, d, w.base)
		if err != nil && r.Context().Err() == nil {
			space.failed = w.now()
			w.logger.WarnContext(r.Context(), "cannot find out where the account is served: its requests go to "+d.host, slog.Any("error", err))
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

// search asks a directory with the login of a request.
func (s *workspace) search(r *http.Request, d *directory, base http.RoundTripper) error {
	ctx, cancel := context.WithTimeout(r.Context(), workspacePatience)
	defer cancel()
	ask, err := http.NewRequestWithContext(ctx, http.MethodGet, d.url, nil)
	if err != nil {
		return err
	}
	for _, name := range []string{"Authorization", d.account, "User-Agent", "Originator"} {
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
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxDirectory))
	if err != nil {
		return err
	}
	found, err := d.read(body, r.Header.Get(d.account))
	if err != nil {
		return err
	}
	return s.take(found)
}

// take keeps what the search has found.
func (s *workspace) take(found place) error {
	if found.origin != "" {
		u, err := url.Parse(found.origin)
		if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil {
			return errors.New("the address of the account is not a plain HTTPS origin")
		}
		s.host = u.Host
	}
	s.region, s.found = found.region, true
	return nil
}

// CloseIdleConnections implements the interface that http.Client looks for.
func (w *workspaces) CloseIdleConnections() {
	if base, ok := w.base.(interface{ CloseIdleConnections() }); ok {
		base.CloseIdleConnections()
	}
}
