package proxy

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// chatGPT is the base of a workspaces. It says where an account is served, at GitHub
// too, and records what is sent.
type chatGPT struct {
	status   int
	accounts string
	asked    []string // credentials of the searches
	sent     []string // URLs and regions of the other requests
}

func (c *chatGPT) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := httptest.NewRecorder()
	if url := r.URL.String(); url == "https://chatgpt.com/backend-api/wham/accounts/check" || url == "https://api.github.com/copilot_internal/user" {
		c.asked = append(c.asked, r.Header.Get("Authorization")+" "+r.Header.Get("Chatgpt-Account-Id")+r.Header.Get("Cookie"))
		answer.WriteHeader(c.status)
		_, _ = io.WriteString(answer, c.accounts)
	} else {
		c.sent = append(c.sent, strings.TrimSpace(r.URL.String()+" "+r.Header.Get(regionHeader)))
	}
	response := answer.Result()
	response.Request = r
	return response, nil
}

func codexRequest(t *testing.T, url, token, account string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader("{}"))
	require.NoError(t, err)
	r.Header.Set("Authorization", token)
	r.Header.Set("Cookie", "secret")
	if account != "" {
		r.Header.Set("Chatgpt-Account-Id", account)
	}
	return r
}

// The requests of a ChatGPT login go where Codex itself would send them.
func TestChatGPTWorkspaceKeepsItsRegion(t *testing.T) {
	t.Parallel()
	const responses = "https://chatgpt.com/backend-api/codex/responses"
	for name, tt := range map[string]struct {
		status         int
		accounts, want string
	}{
		"no constraint":      {200, `{"accounts":[{"id":"a","workspace_backend_origin":"https://chatgpt.com","account_routing_override":"NO_CONSTRAINT"}]}`, responses},
		"none at all":        {200, `{"accounts":[{"id":"a","workspace_backend_origin":"NO_CONSTRAINT"}]}`, responses},
		"a region":           {200, `{"accounts":[{"id":"b"},{"id":"a","workspace_backend_origin":"https://us.chatgpt.com","account_routing_override":"us"}]}`, "https://us.chatgpt.com/backend-api/codex/responses us"},
		"the region alone":   {200, `{"accounts":[{"id":"a","account_routing_override":"us"}]}`, responses + " us"},
		"another's region":   {200, `{"accounts":[{"id":"b","account_routing_override":"us"}]}`, responses},
		"an unsafe origin":   {200, `{"accounts":[{"id":"a","workspace_backend_origin":"http://us.chatgpt.com","account_routing_override":"us"}]}`, responses},
		"a user's origin":    {200, `{"accounts":[{"id":"a","workspace_backend_origin":"https://x:y@us.chatgpt.com"}]}`, responses},
		"an error":           {404, `{"accounts":[{"id":"a","account_routing_override":"us"}]}`, responses},
		"no JSON":            {200, `<html>`, responses},
		"an answer too long": {200, `{"accounts":[` + strings.Repeat(" ", maxDirectory) + `{"id":"a","account_routing_override":"us"}]}`, responses},
	} {
		base := &chatGPT{status: tt.status, accounts: tt.accounts}
		w := &workspaces{base: base, logger: slog.New(slog.DiscardHandler), now: time.Now}
		for range 2 {
			r := codexRequest(t, responses, "Bearer one", "a")
			response, err := w.RoundTrip(r)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			assert.Same(t, r, response.Request, name)
		}
		assert.Equal(t, []string{tt.want, tt.want}, base.sent, name)
		assert.Equal(t, []string{"Bearer one a"}, base.asked, "%s: asked once, also in vain", name)
	}
}

// Companies have addresses of their own at GitHub.
func TestCopilotAccountKeepsItsAddress(t *testing.T) {
	t.Parallel()
	for accounts, want := range map[string]string{
		`{"endpoints":{"api":"https://api.business.githubcopilot.com"}}`: "https://api.business.githubcopilot.com/v1/messages",
		`{"endpoints":{"api":"https://api.githubcopilot.com"}}`:          "https://api.githubcopilot.com/v1/messages",
		`{}`: "https://api.githubcopilot.com/v1/messages",
		`{"endpoints":{"api":"http://api.business.githubcopilot.com"}}`: "https://api.githubcopilot.com/v1/messages",
	} {
		base := &chatGPT{status: 200, accounts: accounts}
		w := &workspaces{base: base, logger: slog.New(slog.DiscardHandler), now: time.Now}
		for _, token := range []string{"Bearer gho_one", "Bearer gho_one", ""} {
			response, err := w.RoundTrip(codexRequest(t, "https://api.githubcopilot.com/v1/messages", token, ""))
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
		}
		assert.Equal(t, []string{want, want, "https://api.githubcopilot.com/v1/messages"}, base.sent)
		assert.Equal(t, []string{"Bearer gho_one "}, base.asked)
	}
}

// Each login has its own workspace, and other requests have none.
func TestOnlyRequestsOfCodexHaveAWorkspace(t *testing.T) {
	t.Parallel()
	base := &chatGPT{status: 200, accounts: `{"accounts":[{"id":"a","account_routing_override":"us"},{"id":"b","account_routing_override":"eu"}]}`}
	w := &workspaces{base: base, logger: slog.New(slog.DiscardHandler), now: time.Now}
	for _, r := range []*http.Request{
		codexRequest(t, "https://chatgpt.com/backend-api/codex/responses", "Bearer one", "a"),
		codexRequest(t, "https://chatgpt.com/backend-api/codex/models", "Bearer two", "b"),
		codexRequest(t, "https://chatgpt.com/backend-api/codex/responses", "Bearer three", ""),
		codexRequest(t, "https://chatgpt.com/backend-api/wham/usage", "Bearer four", "a"),
		codexRequest(t, "https://api.openai.com/v1/responses", "Bearer five", "a"),
	} {
		response, err := w.RoundTrip(r)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
	}
	assert.Equal(t, []string{
		"https://chatgpt.com/backend-api/codex/responses us", "https://chatgpt.com/backend-api/codex/models eu",
		"https://chatgpt.com/backend-api/codex/responses", "https://chatgpt.com/backend-api/wham/usage", "https://api.openai.com/v1/responses",
	}, base.sent)
	assert.Equal(t, []string{"Bearer one a", "Bearer two b"}, base.asked)
}

// A search that failed is made again after a while, and what is remembered is bounded.
func TestWorkspaceIsSearchedAgain(t *testing.T) {
	t.Parallel()
	base := &chatGPT{status: 503}
	now := time.Now()
	w := &workspaces{base: base, logger: slog.New(slog.DiscardHandler), now: func() time.Time { return now }}
	ask := func(token string) {
		response, err := w.RoundTrip(codexRequest(t, "https://chatgpt.com/backend-api/codex/responses", token, "a"))
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
	}
	ask("Bearer one")
	now = now.Add(workspaceRetry - time.Second)
	ask("Bearer one")
	assert.Len(t, base.asked, 1)
	now = now.Add(time.Second)
	base.status, base.accounts = 200, `{"accounts":[{"id":"a","account_routing_override":"us"}]}`
	ask("Bearer one")
	assert.Len(t, base.asked, 2)
	assert.Equal(t, "https://chatgpt.com/backend-api/codex/responses us", base.sent[2])
	for i := range 3 * maxWorkspaces {
		ask("Bearer " + time.Duration(i).String())
	}
	assert.LessOrEqual(t, len(w.known), maxWorkspaces)
}
