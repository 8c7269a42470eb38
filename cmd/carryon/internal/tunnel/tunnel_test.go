package tunnel_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/carryon-go/carryon/cmd/carryon/internal/tunnel"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// scene is a tunnel, and what answers the connections that it hands over.
type scene struct {
	*tunnel.Tunnel

	env map[string]string // of the command
}

// open starts a tunnel for these hosts of models. handler answers their requests.
func open(t *testing.T, handler http.Handler, hosts ...string) *scene {
	t.Helper()
	return openVia(t, func(string) string { return "" }, nil, handler, hosts...)
}

// openVia is open in an environment that may have the proxy of a company.
func openVia(t *testing.T, getenv func(string) string, roots *x509.CertPool, handler http.Handler, hosts ...string) *scene {
	t.Helper()
	var set tunnel.Hosts
	for _, host := range hosts {
		require.NoError(t, set.Add(host))
	}
	opened, err := tunnel.Start(t.Context(), tunnel.Options{
		Run: "test", Hosts: set, Via: tunnel.Proxies(getenv), Roots: roots, Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	server := &http.Server{Handler: handler, ConnContext: func(ctx context.Context, conn net.Conn) context.Context { //nolint:gosec // a test
		return context.WithValue(ctx, originKey{}, tunnel.Origin(conn))
	}}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(opened) })
	t.Cleanup(func() {
		_ = server.Close()
		assert.NoError(t, opened.Close())
		serving.Wait()
	})
	env, err := opened.Environment(func(string) string { return "" }, t.TempDir())
	require.NoError(t, err)
	return &scene{opened, env}
}

type originKey struct{}

// says answers every request with the host that it was for.
var says = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	_, _ = fmt.Fprint(w, r.Context().Value(originKey{}), " ", r.Host, r.URL)
})

// client is a client in the run.
func (s *scene) client(t *testing.T) *http.Client {
	t.Helper()
	via, err := url.Parse(s.env["HTTPS_PROXY"])
	require.NoError(t, err)
	transport := &http.Transport{
		Proxy: http.ProxyURL(via), TLSClientConfig: &tls.Config{RootCAs: poolOf(t, s.env["NODE_EXTRA_CA_CERTS"]), MinVersion: tls.VersionTLS12},
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func poolOf(t *testing.T, path string) *x509.CertPool {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(text))
	return pool
}

// get returns the answer to a request, or the error.
func get(t *testing.T, client *http.Client, address string) (string, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	require.NoError(t, err)
	answer, err := client.Do(r)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	return string(body), err
}

// dial opens a connection to the tunnel, and sends text.
func (s *scene) dial(t *testing.T, text string) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", s.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	_, err = io.WriteString(conn, text)
	require.NoError(t, err)
	return conn, bufio.NewReader(conn)
}

// connecting is the request for a connection to a host.
func (s *scene) connecting(target string) string {
	via, _ := url.Parse(s.env["HTTPS_PROXY"])
	password, _ := via.User.Password()
	r := http.Request{Header: make(http.Header)}
	r.SetBasicAuth(via.User.Username(), password)
	return "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\nProxy-Authorization: " + r.Header.Get("Authorization") + "\r\n\r\n"
}

// answer is what the tunnel answers to a CONNECT.
type answer struct {
	http.Response

	text string
}

// status reads an answer to a CONNECT. What follows one that agrees is the host's.
func status(t *testing.T, reader *bufio.Reader) answer {
	t.Helper()
	got, err := http.ReadResponse(reader, &http.Request{Method: http.MethodConnect})
	require.NoError(t, err)
	defer got.Body.Close()
	text := []byte{}
	if got.StatusCode != http.StatusOK {
		text, err = io.ReadAll(got.Body)
		require.NoError(t, err)
	}
	return answer{*got, string(text)}
}

func TestAHostOfModelsIsAnswered(t *testing.T) {
	t.Parallel()
	s := open(t, says, "api.example.com", "*.example.org", "llm.example.com:8443")
	for address, want := range map[string]string{
		"https://api.example.com/v1/messages?a=b": "https://api.example.com api.example.com/v1/messages?a=b",
		"https://API.example.com./x":              "https://api.example.com API.example.com./x",
		"https://eu.models.example.org/":          "https://eu.models.example.org eu.models.example.org/",
		"https://llm.example.com:8443/":           "https://llm.example.com:8443 llm.example.com:8443/",
	} {
		got, err := get(t, s.client(t), address)
		require.NoError(t, err, address)
		assert.Equal(t, want, got)
	}
	assert.Contains(t, s.Contacts(), tunnel.Contact{Host: "llm.example.com:8443", Answered: true})
}

// What is no host of models passes unread, under its own certificate.
func TestEveryOtherHostPasses(t *testing.T) {
	t.Parallel()
	s := open(t, says, "api.example.com")
	other := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "other") }))
	t.Cleanup(other.Close)
	_, err := get(t, s.client(t), other.URL)
	require.ErrorContains(t, err, "certificate", "carryon must not stand for it")
	client := s.client(t)
	client.Transport.(*http.Transport).TLSClientConfig.RootCAs.AddCert(other.Certificate())
	got, err := get(t, client, other.URL)
	require.NoError(t, err)
	assert.Equal(t, "other", got)
}

// Each end may end its direction alone: a client that has sent everything still gets the
// whole answer.
func TestHalfClosedConnections(t *testing.T) {
	t.Parallel()
	host := listen(t, func(conn net.Conn) {
		all, _ := io.ReadAll(conn)
		_, _ = conn.Write([]byte(strings.Repeat(string(all), 1000)))
	})
	s := open(t, says)
	conn, reader := s.dial(t, s.connecting(host)+"early ") // in the packet of the request
	assert.Equal(t, http.StatusOK, status(t, reader).StatusCode)
	_, err := io.WriteString(conn, "late")
	require.NoError(t, err)
	require.NoError(t, conn.(*net.TCPConn).CloseWrite())
	got, err := io.ReadAll(reader)
	require.NoError(t, err)
	assert.Equal(t, strings.Repeat("early late", 1000), string(got))
	require.NoError(t, s.Close())
	assert.Equal(t, int64(len("early late")), s.Contacts()[0].Sent)
}

// listen serves one connection after another.
func listen(t *testing.T, serve func(net.Conn)) (address string) {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			serve(conn)
			_ = conn.Close()
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		serving.Wait()
	})
	return listener.Addr().String()
}

// Another user of the machine gets nothing, and no hint either. git sends its password
// only after the first answer, on the same connection.
func TestThePassword(t *testing.T) {
	t.Parallel()
	s := open(t, says, "api.example.com")
	right := s.connecting("api.example.com:443")
	for _, header := range []string{"", "Proxy-Authorization: Basic Y2FycnlvbjpndWVzcw==\r\n", "Proxy-Authorization: Bearer x\r\n"} {
		_, reader := s.dial(t, "CONNECT api.example.com:443 HTTP/1.1\r\nHost: api.example.com:443\r\n"+header+"\r\n"+right)
		answer := status(t, reader)
		assert.Equal(t, http.StatusProxyAuthRequired, answer.StatusCode)
		assert.Equal(t, `Basic realm="carryon"`, answer.Header.Get("Proxy-Authenticate"))
		assert.False(t, answer.Close)
		assert.Equal(t, http.StatusOK, status(t, reader).StatusCode, "the second request of the same connection")
	}
	_, reader := s.dial(t, "GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n")
	assert.Equal(t, http.StatusProxyAuthRequired, status(t, reader).StatusCode)
}

func TestBadTargets(t *testing.T) {
	t.Parallel()
	s := open(t, says, "api.example.com")
	_, own, _ := net.SplitHostPort(s.Addr().String())
	for target, want := range map[string]int{
		"api.example.com:0": http.StatusBadRequest, "api.example.com:70000": http.StatusBadRequest, "api.example.com:x": http.StatusBadRequest,
		"api.example.com": http.StatusBadRequest, "ex_ä.example.com:443": http.StatusBadRequest, "a..b:443": http.StatusBadRequest,
		"exa\x01mple.com:443": http.StatusBadRequest, ":443": http.StatusBadRequest, "[::1%25lo]:x": http.StatusBadRequest,
		strings.Repeat("a", 300) + ":443": http.StatusBadRequest,
		"127.0.0.1:" + own:                http.StatusForbidden, "localhost:" + own: http.StatusForbidden, "0.0.0.0:" + own: http.StatusForbidden,
		"[::ffff:127.0.0.1]:" + own: http.StatusForbidden, "LOCALHOST.:" + own: http.StatusForbidden,
		"nobody.invalid:443": http.StatusBadGateway,
	} {
		_, reader := s.dial(t, s.connecting(target))
		assert.Equal(t, want, status(t, reader).StatusCode, "%q", target)
	}
	for _, text := range []string{
		"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\r\n\r\n", "\x00\x01garbage\r\n\r\n",
	} {
		_, reader := s.dial(t, text)
		assert.Equal(t, http.StatusBadRequest, status(t, reader).StatusCode, "%q", text)
	}
}

// A certificate of the authority for any other name is worthless, whoever has the key.
func TestTheAuthorityStandsForItsHostsAlone(t *testing.T) {
	t.Parallel()
	s := open(t, says, "api.example.com", "*.example.org")
	text, err := os.ReadFile(s.env["NODE_EXTRA_CA_CERTS"])
	require.NoError(t, err)
	assert.NotContains(t, string(text), "KEY")
	info, err := os.Stat(s.env["NODE_EXTRA_CA_CERTS"])
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	block, _ := pem.Decode(text)
	require.NotNil(t, block)
	cert, err := x509.ParseCertificate(block.Bytes)
	require.NoError(t, err)
	assert.True(t, cert.PermittedDNSDomainsCritical)
	assert.Equal(t, []string{"api.example.com", "example.org"}, cert.PermittedDNSDomains)
	assert.Len(t, cert.ExcludedIPRanges, 2)
	assert.True(t, cert.IsCA && cert.MaxPathLenZero)
	assert.Equal(t, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, cert.ExtKeyUsage)
	assert.Equal(t, x509.KeyUsageCertSign, cert.KeyUsage)
}

func TestTwoHundredHostsAtOnce(t *testing.T) {
	t.Parallel()
	s := open(t, says, "*.example.com")
	client := s.client(t)
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() {
			host := "https://h" + strconv.Itoa(i) + ".example.com"
			got, err := get(t, client, host+"/")
			assert.NoError(t, err) //nolint:testifylint // of a goroutine
			assert.True(t, strings.HasPrefix(got, host+" "), got)
		})
	}
	all.Wait()
}

// A client that leaves cancels its request at once.
func TestAClientThatLeaves(t *testing.T) {
	t.Parallel()
	asked, left := make(chan struct{}), make(chan struct{})
	s := open(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(asked)
		<-r.Context().Done()
		close(left)
	}), "api.example.com")
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://api.example.com/", nil)
	require.NoError(t, err)
	go func() {
		<-asked
		cancel()
	}()
	answer, err := s.client(t).Do(r)
	if err == nil {
		_ = answer.Body.Close()
	}
	require.ErrorIs(t, err, context.Canceled)
	<-left
}

func TestPlainHTTPPasses(t *testing.T) {
	t.Parallel()
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprint(w, r.Method, " ", r.RequestURI, " ", r.Header["Proxy-Authorization"], r.Header["X-Forwarded-For"])
	}))
	t.Cleanup(host.Close)
	s := open(t, says)
	got, err := get(t, s.client(t), host.URL+"/a%2Fb?c;d")
	require.NoError(t, err)
	assert.Equal(t, "GET /a%2Fb?c;d [] []", got)
	got, err = get(t, s.client(t), "http://"+s.Addr().String()+"/")
	require.NoError(t, err)
	assert.Equal(t, "carryon: that is carryon itself\n", got)
}
