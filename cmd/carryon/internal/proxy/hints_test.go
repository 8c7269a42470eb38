package proxy

import (
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestProbe(t *testing.T) {
	t.Parallel()
	answering := func(status int) string {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		t.Cleanup(server.Close)
		return server.URL
	}
	missing := answering(http.StatusNotFound)
	down := "http://" + nobody(t)
	for upstream, want := range map[string]string{
		answering(http.StatusOK) + "/v1":           "",
		answering(http.StatusUnauthorized) + "/v1": "", // keys are the clients'
		missing + "/v1":                            "", // not every server lists its models
		missing:                                    missing + " answers, but lists no models: base URLs usually end in /v1, so try -upstream " + missing + "/v1",
		down + "/v1?key=secret-key":                "nothing answers at " + down + "/v1 (dial tcp " + down[len("http://"):] + ": connect: connection refused): start it, or set -upstream",
	} {
		assert.Equal(t, want, parsed(t, "-upstream", upstream).Probe(t.Context()))
	}
}

// The upstream is not blamed for what the proxy's own machine lacks.
func TestHintIfNoFileCanBeOpened(t *testing.T) {
	t.Parallel()
	for _, cause := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ECONNREFUSED} {
		base := failing{&net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("socket", cause)}}
		p := handlerOf(t, parsed(t, "-upstream", "http://127.0.0.1:1/v1"), base, slog.New(slog.DiscardHandler))
		w := httptest.NewRecorder()
		p.ServeHTTP(w, post(t, prefix, conversation{}))
		assert.Equal(t, http.StatusBadGateway, w.Code)
		want := noFiles
		if errors.Is(cause, syscall.ECONNREFUSED) {
			want = "nothing answers at http://127.0.0.1:1"
		}
		assert.Equal(t, []string{want}, p.hints.all())
	}
}

// failing is a base transport without a connection.
type failing struct{ err error }

func (f failing) RoundTrip(*http.Request) (*http.Response, error) { return nil, f.err }

func TestHintsAreGivenOnce(t *testing.T) {
	t.Parallel()
	for status, hint := range map[int]string{
		http.StatusNotFound:     "the upstream answered 404",
		http.StatusUnauthorized: "the upstream answered 401",
	} {
		s := sceneOf(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		for range 3 {
			assert.Equal(t, status, s.send(post(t, s.base, conversation{})).status)
		}
		s.served.wait()
		assert.Len(t, regexp.MustCompile(regexp.QuoteMeta(hint)).FindAllString(s.logs.String(), -1), 1)
	}
}

// The upstream is not blamed for what a client does wrong.
func TestHintNamesWhatIsProbablyWrong(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/v1/chat/completions":           "/v1/chat/completions: check -upstream, which usually ends in /v1",
		"/v1/v1/messages":                "/v1/messages: check -upstream, which usually ends in /v1",
		"/v1/responses?json=1":           "/v1/responses: check the model, and -upstream, which usually ends in /v1",
		"/v1/anthropic/v1/messages":      "/v1/anthropic/v1/messages: the client's base URL should be ",
		"/v1/chat/completions/responses": "/v1/chat/completions/responses: check -upstream, which usually ends in /v1",
	} {
		s := sceneOf(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.RawQuery != "" {
				w.Header().Set("Content-Type", "application/json")
			}
			w.WriteHeader(http.StatusNotFound)
		})
		s.send(newRequest(t, http.MethodPost, strings.TrimSuffix(s.base, prefix)+path, "{}"))
		if strings.HasSuffix(want, "be ") {
			want += s.base
		}
		s.logs.await("answered 404 for " + strings.TrimSuffix(s.direct, "/v1") + want)
	}
}

// Only a POST calls a model. Claude Code asks its base URL for /api/hello at each start, and
// other programs look for what is not there.
func TestHintsComeFromPostsAlone(t *testing.T) {
	t.Parallel()
	s := sceneOf(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
	root := strings.TrimSuffix(s.base, prefix)
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodPut, http.MethodDelete} {
		for _, path := range []string{"/api/hello", "/api/show", "/responses", "/v1/models"} {
			s.send(newRequest(t, method, root+path, ""))
		}
	}
	s.served.wait()
	proxy, ok := s.served.Handler.(*Proxy)
	require.True(t, ok)
	assert.Empty(t, proxy.hints.all())
	assert.NotContains(t, s.logs.String(), "base URL")
	assert.Equal(t, http.StatusNotFound, s.send(newRequest(t, http.MethodPost, root+"/api/generate", "{}")).status)
	assert.Equal(t, []string{"a client asked for /api/generate: its base URL should be " + s.base}, proxy.hints.all())
}
