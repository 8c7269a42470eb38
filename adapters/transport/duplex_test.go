package transport_test

import (
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/internal/testkit/syncbuf"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
)

// In a reverse proxy that reads while it writes, the server panics if a
// request's body is still being read when its handler returns. carryon reads
// all of a request that it may continue before it sends anything, so nobody
// reads the body at that time, however early the upstream answers.
func TestReverseProxyMayReadWhileItWrites(t *testing.T) {
	t.Parallel()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	down := "http://" + listener.Addr().String()
	require.NoError(t, listener.Close())
	early := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "close") // nothing of the body is read
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(early.Close)
	for name, upstream := range map[string]string{"down": down, "early": early.URL} {
		for path, bodyOf := range endpoints {
			t.Run(name+path, func(t *testing.T) {
				t.Parallel()
				target, err := url.Parse(upstream)
				require.NoError(t, err)
				base := new(http.Transport)
				t.Cleanup(base.CloseIdleConnections)
				proxy := httputil.NewSingleHostReverseProxy(target)
				proxy.Transport = transport.New(base, wiretest.OneContinuation(wiretest.TwoTodos))
				proxy.ErrorLog = log.New(io.Discard, "", 0) //nolint:forbidigo // the type that servers take
				server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					_ = http.NewResponseController(w).EnableFullDuplex()
					proxy.ServeHTTP(w, r)
				}))
				var logged syncbuf.Buffer
				server.Config.ErrorLog = log.New(&logged, "", 0) //nolint:forbidigo // likewise
				server.Start()
				t.Cleanup(server.Close)
				client := server.Client()
				long := strings.Replace(bodyOf(false), "{", `{"more":"`+strings.Repeat("x", 1<<20)+`",`, 1)
				for range 10 {
					r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/v1"+path, strings.NewReader(long))
					require.NoError(t, err)
					r.Header.Set("Content-Type", "application/json")
					response, err := client.Do(r)
					require.NoError(t, err)
					_, err = io.Copy(io.Discard, response.Body)
					require.NoError(t, err)
					require.NoError(t, response.Body.Close())
					assert.GreaterOrEqual(t, response.StatusCode, 400)
				}
				assert.NotContains(t, logged.String(), "panic")
			})
		}
	}
}
