package tunnel_test

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// firstMessage returns what a client sends first in TLS.
func firstMessage(t *testing.T, config *tls.Config) []byte {
	t.Helper()
	client, server := net.Pipe()
	done := make(chan error, 1)
	go func() { done <- tls.Client(client, config).HandshakeContext(t.Context()) }()
	message := make([]byte, 4096)
	n, err := server.Read(message)
	require.NoError(t, err)
	require.NoError(t, server.Close())
	require.Error(t, <-done)
	return message[:n]
}

// A client may break off anywhere in its handshake. Nothing of it stays behind, and the
// next one is served.
func TestTunnelClientThatBreaksOff(t *testing.T) {
	t.Parallel()
	s := open(t, says, "api.example.com")
	hello := firstMessage(t, &tls.Config{ServerName: "api.example.com", NextProtos: []string{"h2", "http/1.1"}, MinVersion: tls.VersionTLS12})
	step := 1
	if testing.Short() {
		step = 37
	}
	for at := 0; at <= len(hello); at += step {
		conn, reader := s.dial(t, s.connecting("api.example.com:443"))
		require.Equal(t, http.StatusOK, status(t, reader).StatusCode)
		_, err := conn.Write(hello[:at])
		require.NoError(t, err)
		require.NoError(t, conn.Close())
	}
	got, err := get(t, s.client(t), "https://api.example.com/")
	require.NoError(t, err)
	assert.Equal(t, "https://api.example.com api.example.com/", got)
}

// Who does not accept the certificate is remembered, for the sentence at the end.
func TestClientThatTrustsNobody(t *testing.T) {
	t.Parallel()
	s := open(t, says, "api.example.com")
	client := s.client(t)
	client.Transport.(*http.Transport).TLSClientConfig.RootCAs = nil
	_, err := get(t, client, "https://api.example.com/")
	var unknown *tls.CertificateVerificationError
	require.ErrorAs(t, err, &unknown)
	require.NoError(t, s.Close()) // its handshake has ended
	require.Len(t, s.Contacts(), 1)
	assert.True(t, s.Contacts()[0].Distrusted)
	assert.False(t, s.Contacts()[0].Answered)
}

// What carryon cannot answer reaches the host itself, from its first byte: a client that
// speaks nothing but HTTP/2, one that asks for another host within TLS, and one that
// speaks no TLS at all.
func TestWhatCannotBeAnsweredPasses(t *testing.T) {
	t.Parallel()
	for name, said := range map[string]string{
		"HTTP/2":       string(firstMessage(t, &tls.Config{ServerName: "localhost", NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12})),
		"another host": string(firstMessage(t, &tls.Config{ServerName: "else.example.com", MinVersion: tls.VersionTLS12})),
		"plain HTTP":   "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"garbage":      "\x00\xff\r\n\r\ngarbage" + strings.Repeat("x", 100),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			host := listen(t, func(conn net.Conn) {
				heard := make([]byte, len(said))
				_, _ = io.ReadFull(conn, heard)
				_, _ = conn.Write(append([]byte("heard "), heard...))
			})
			target := strings.Replace(host, "127.0.0.1", "localhost", 1)
			s := open(t, says, target)
			_, reader := s.dial(t, s.connecting(target)+said)
			require.Equal(t, http.StatusOK, status(t, reader).StatusCode)
			got, err := io.ReadAll(reader)
			require.NoError(t, err)
			assert.Equal(t, "heard "+said, string(got))
			assert.True(t, s.Contacts()[0].Unread)
		})
	}
}

// A tunnel that ends takes all connections with it, those that wait included.
func TestCloseEndsWhatWaits(t *testing.T) {
	t.Parallel()
	host := listen(t, func(conn net.Conn) { _, _ = io.ReadAll(conn) })
	s := open(t, says, "api.example.com")
	_, silent := s.dial(t, s.connecting("api.example.com:443")) // it never begins its handshake
	require.Equal(t, http.StatusOK, status(t, silent).StatusCode)
	_, relayed := s.dial(t, s.connecting(host))
	require.Equal(t, http.StatusOK, status(t, relayed).StatusCode)
	_, idle := s.dial(t, "CONNECT ")
	require.NoError(t, s.Close())
	for _, reader := range []io.Reader{silent, relayed, idle} {
		_, err := io.Copy(io.Discard, reader)
		assert.True(t, err == nil || errors.Is(err, net.ErrClosed) || strings.Contains(err.Error(), "reset"), err)
	}
}
