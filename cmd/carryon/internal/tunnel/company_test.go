package tunnel_test

import (
	"crypto/x509"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/cmd/carryon/internal/tunnel"
)

// company is the proxy of a company, which connects everybody who has its password to
// the same host.
func company(t *testing.T, host string, asked chan<- string) http.Handler {
	t.Helper()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Method + " " + r.RequestURI + " " + r.Header.Get("Proxy-Authorization")
		if r.Header.Get("Proxy-Authorization") == "" {
			w.WriteHeader(http.StatusProxyAuthRequired)
			return
		}
		conn, err := net.Dial("tcp", host) //nolint:noctx // a test
		if err != nil {
			return
		}
		client, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		_, _ = io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n")
		go func() {
			_, _ = io.Copy(conn, client)
			_ = conn.Close()
		}()
		_, _ = io.Copy(client, conn)
		_ = client.Close()
	})
}

func env(variables map[string]string) func(string) string {
	return func(name string) string { return variables[name] }
}

// The proxy that was set before stays in force behind the tunnel, with its own password,
// and so does the list of hosts that need none.
func TestProxyOfACompany(t *testing.T) {
	t.Parallel()
	host := listen(t, func(conn net.Conn) { _, _ = io.WriteString(conn, "welcome") })
	for name, start := range map[string]func(http.Handler) *httptest.Server{"http": httptest.NewServer, "https": httptest.NewTLSServer} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := make(chan string, 1)
			proxy := start(company(t, host, asked))
			t.Cleanup(proxy.Close)
			roots := x509.NewCertPool()
			if proxy.Certificate() != nil {
				roots.AddCert(proxy.Certificate())
			}
			via := strings.Replace(proxy.URL, "://", "://some:body@", 1)
			for variable := range map[string]bool{"HTTPS_PROXY": true, "https_proxy": true, "ALL_PROXY": true} {
				s := openVia(t, env(map[string]string{variable: via, "NO_PROXY": "direct.invalid"}), roots, says)
				_, reader := s.dial(t, s.connecting("git.example.com:443"))
				require.Equal(t, http.StatusOK, status(t, reader).StatusCode)
				got, err := io.ReadAll(reader)
				require.NoError(t, err)
				assert.Equal(t, "welcome", string(got))
				assert.Equal(t, "CONNECT git.example.com:443 Basic c29tZTpib2R5", <-asked)

				_, reader = s.dial(t, s.connecting("direct.invalid:443"))
				assert.Equal(t, http.StatusBadGateway, status(t, reader).StatusCode)
				assert.Empty(t, asked)
			}
			s := openVia(t, env(map[string]string{"HTTPS_PROXY": proxy.URL}), roots, says)
			_, reader := s.dial(t, s.connecting("git.example.com:443"))
			answer := status(t, reader)
			assert.Equal(t, http.StatusBadGateway, answer.StatusCode)
			assert.Contains(t, answer.text, "407 Proxy Authentication Required")
			<-asked
		})
	}
}

// A file of authorities stands for all, or adds to those that a program knows. What it
// said before counts on.
func TestAuthoritiesOfTheEnvironmentAreKept(t *testing.T) {
	t.Parallel()
	certificate := func() []byte {
		server := httptest.NewTLSServer(http.NotFoundHandler())
		defer server.Close()
		return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	}()
	dir := t.TempDir()
	mine := filepath.Join(dir, "mine.pem")
	secret := "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"
	require.NoError(t, os.WriteFile(mine, append([]byte("# mine\n"+secret), certificate...), 0o600))
	s := open(t, says, "api.example.com")
	for _, tt := range []struct {
		set              map[string]string
		variable         string
		mine, kept, none bool
	}{
		{map[string]string{"NODE_EXTRA_CA_CERTS": mine}, "NODE_EXTRA_CA_CERTS", true, false, false},
		{map[string]string{"SSL_CERT_FILE": mine}, "SSL_CERT_FILE", true, false, false},
		{map[string]string{"SSL_CERT_FILE": mine}, "CODEX_CA_CERTIFICATE", true, false, false},
		{map[string]string{"CURL_CA_BUNDLE": mine}, "REQUESTS_CA_BUNDLE", true, false, false},
		{map[string]string{"CURL_CA_BUNDLE": mine}, "CURL_CA_BUNDLE", true, false, false},
		{map[string]string{"GIT_SSL_CAINFO": mine}, "GIT_SSL_CAINFO", true, false, false},
		{map[string]string{"PIP_CERT": mine}, "PIP_CERT", true, false, false},
		{map[string]string{"REQUESTS_CA_BUNDLE": dir}, "REQUESTS_CA_BUNDLE", false, true, false},
		{nil, "NODE_EXTRA_CA_CERTS", false, false, false},
		{nil, "DENO_CERT", false, false, false},
		{nil, "CURL_CA_BUNDLE", false, true, false},
		{map[string]string{"NODE_EXTRA_CA_CERTS": "/no/such/file"}, "NODE_EXTRA_CA_CERTS", false, false, false},
	} {
		got, err := s.Environment(env(tt.set), t.TempDir())
		require.NoError(t, err)
		if tt.kept {
			assert.NotContains(t, got, tt.variable, "%v", tt.set)
			continue
		}
		text, err := os.ReadFile(got[tt.variable])
		require.NoError(t, err)
		assert.Equal(t, tt.mine, strings.Contains(string(text), string(certificate)), "%v", tt.set)
		assert.NotContains(t, string(text), "PRIVATE KEY")
		count := strings.Count(string(text), "BEGIN CERTIFICATE")
		assert.Equal(t, map[bool]int{true: 2, false: 1}[tt.mine], count, "%v %s", tt.set, tt.variable)
	}
	assert.Nil(t, tunnel.Roots(env(nil)))
	assert.NotNil(t, tunnel.Roots(env(map[string]string{"DENO_CERT": mine})))
}

func TestNamesThatNeedNoProxy(t *testing.T) {
	t.Parallel()
	s := open(t, says)
	for before, want := range map[string]string{
		"": "localhost,127.0.0.1,::1", ".corp, localhost": ".corp,localhost,127.0.0.1,::1", "*": "*,localhost,127.0.0.1,::1",
	} {
		for _, name := range []string{"NO_PROXY", "no_proxy"} {
			got, err := s.Environment(env(map[string]string{name: before}), t.TempDir())
			require.NoError(t, err)
			assert.Equal(t, want, got["NO_PROXY"])
			assert.Equal(t, want, got["no_proxy"])
			assert.Equal(t, got["HTTPS_PROXY"], got["https_proxy"])
			assert.NotContains(t, got, "HTTP_PROXY")
		}
	}
	assert.True(t, tunnel.Bypassed(env(map[string]string{"NO_PROXY": ".corp"}), "llm.corp"))
	assert.False(t, tunnel.Bypassed(env(map[string]string{"NO_PROXY": ".corp"}), "llm.example.com"))
}

func TestHostsThatNobodyCanAnswerFor(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"", "127.0.0.1", "::1", "a b", "*", "*.com", "https://a.example.com", "a.example.com:0", "a.example.com:x", "ä.example.com"} {
		require.Error(t, new(tunnel.Hosts).Add(host), host)
	}
	var hosts tunnel.Hosts
	require.NoError(t, hosts.Add("*.Example.com"))
	assert.True(t, hosts.Has("a.b.example.com", 443))
	assert.False(t, hosts.Has("example.com", 443))
	assert.False(t, hosts.Has("notexample.com", 443))
	assert.False(t, hosts.Has("a.example.com", 8443))
}
