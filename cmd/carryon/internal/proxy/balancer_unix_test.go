//go:build unix

package proxy

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/internal/testkit/servertest"
)

// balancers are the programs whose configuration the documentation has.
var balancers = map[string]struct {
	command func(dir, config string) []string
	config  func(documented, socket, dir string) string
}{
	"nginx": {
		func(dir, config string) []string {
			return []string{"nginx", "-p", dir, "-e", filepath.Join(dir, "error.log"), "-c", config}
		},
		func(documented, socket, dir string) string {
			documented = strings.Replace(documented, "listen 80;", "listen unix:"+socket+";", 1)
			var temporary strings.Builder
			for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
				temporary.WriteString(kind + "_temp_path " + filepath.Join(dir, kind) + ";\n")
			}
			return "daemon off;\nmaster_process off;\npid " + filepath.Join(dir, "pid") + ";\nevents {}\nhttp {\naccess_log off;\n" + temporary.String() + documented + "}\n"
		},
	},
	"haproxy": {
		func(_, config string) []string { return []string{"haproxy", "-db", "-f", config} },
		func(documented, socket, _ string) string {
			return strings.Replace(documented, "bind :80", "bind unix@"+socket, 1)
		},
	},
}

// balanced starts a balancer in front of a proxy, as the documentation says with a shorter
// timeout, and returns a client that reaches the proxy through it.
func balanced(t *testing.T, name, proxy string) *http.Client {
	t.Helper()
	program := servertest.Program(t, name)
	_, documented, ok := strings.Cut(document(t, "operators.md"), "```"+name+"\n")
	require.True(t, ok)
	documented, _, _ = strings.Cut(documented, "```")
	documented = strings.NewReplacer("10m", "4s", "127.0.0.1:8787", strings.TrimPrefix(proxy, "http://")).Replace(documented)
	dir, err := os.MkdirTemp("", "b") //nolint:usetesting // the path of a socket is short
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket, config := filepath.Join(dir, "s"), filepath.Join(dir, "c")
	require.NoError(t, os.WriteFile(config, []byte(balancers[name].config(documented, socket, dir)), 0o600))
	args := balancers[name].command(dir, config)
	cmd := exec.Command(program, args[1:]...) //nolint:gosec,noctx // of this test, which ends it
	out := newBuffer()
	cmd.Stdout, cmd.Stderr = out, out
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGKILL)
		_ = cmd.Wait()
	})
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}
	client := &http.Client{Transport: &http.Transport{DialContext: dial}}
	t.Cleanup(client.CloseIdleConnections)
	require.Eventually(t, func() bool {
		answer, err := client.Get("http://carryon.example/healthz") //nolint:noctx // of this test
		if err != nil {
			return false
		}
		return answer.Body.Close() == nil && answer.StatusCode == http.StatusOK
	}, time.Minute, 10*time.Millisecond, "%s: %s", name, out)
	return client
}

// Behind the balancers that operators use, as the documentation says: nothing is lost while
// a continuation is awaited, events come at once, and neither a website nor the switch gets
// through.
func TestBehindABalancer(t *testing.T) {
	t.Parallel()
	for name := range balancers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, "-allow-host", "carryon.example", "-max-wait", "2s", "-switch-secret", "open sesame")
			s.client = balanced(t, name, strings.TrimSuffix(s.base, prefix))
			s.base = "http://carryon.example" + prefix

			goOn := make(chan struct{})
			s.upstream.Append(carryontest.Text("First, the parser is written.").GateAfter(2, goOn))
			streamed, err := s.client.Do(post(t, s.base, conversation{stream: true, noList: true}))
			require.NoError(t, err)
			defer streamed.Body.Close()
			body := bufio.NewReader(streamed.Body)
			readUntil(t, body, "First") // before the model goes on
			close(goOn)
			rest, err := io.ReadAll(body)
			require.NoError(t, err)
			assert.Contains(t, string(rest), "[DONE]")

			never := make(chan struct{})
			t.Cleanup(func() { close(never) })
			for _, stream := range []bool{true, false} {
				s.upstream.Append(carryontest.Text(plan), edit().GateAfter(0, never))
				got := s.send(post(t, s.base, conversation{session: name, stream: stream}))
				require.NoError(t, got.err)
				require.Equal(t, http.StatusOK, got.status, got.body)
				assert.Contains(t, got.body, `"stop"`)
			}

			for host, want := range map[string]int{"carryon.example": http.StatusOK, "127.0.0.1": http.StatusOK, "evil.example": http.StatusForbidden} {
				s.upstream.Append(edit())
				r := post(t, s.base, conversation{session: host})
				r.Host = host
				assert.Equal(t, want, s.send(r).status, host)
			}
			for _, closed := range []string{pagePath, pagePath + "/", "/metrics", "/%64ebug/carryon", "//debug/carryon", continuingPath} {
				assert.Equal(t, http.StatusForbidden, s.send(newRequest(t, http.MethodGet, "http://carryon.example"+closed, "")).status, closed)
			}
			off := newRequest(t, http.MethodPost, "http://carryon.example"+continuingPath, "on=false")
			off.SetBasicAuth("", "open sesame")
			assert.Equal(t, http.StatusForbidden, s.send(off).status)
		})
	}
}

// Without -max-wait, a client behind a balancer waits for as long as balancers do.
func TestWaitBehindABalancer(t *testing.T) {
	t.Parallel()
	request := func(change func(*http.Request)) *http.Request {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/chat/completions", nil)
		change(r)
		return r
	}
	direct := request(func(*http.Request) {})
	passedOn := []*http.Request{
		request(func(r *http.Request) { r.Header.Set("X-Forwarded-For", "10.1.2.3") }),
		request(func(r *http.Request) { r.Header.Set("Via", "1.1 gateway") }),
		request(func(r *http.Request) { r.ProtoMinor = 0 }),
	}
	assert.Zero(t, parsed(t).maxWait(direct))
	for _, r := range passedOn {
		assert.Equal(t, balancerWait, parsed(t).maxWait(r))
		assert.Equal(t, 9*time.Minute, parsed(t, "-max-wait", "9m").maxWait(r))
	}
}
