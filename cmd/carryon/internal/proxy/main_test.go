package proxy

import (
	"bufio"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// baseURL reads the greeting of the proxy and returns the base URL for clients.
func baseURL(t *testing.T, said *bufio.Reader) string {
	t.Helper()
	_, base, ok := strings.Cut(readUntil(t, said, "base URL"), ": ")
	require.True(t, ok)
	readUntil(t, said, "recent activity")
	return strings.TrimSpace(base)
}

// readUntil reads lines up to one that contains a text, and returns that line.
func readUntil(t *testing.T, r *bufio.Reader, text string) string {
	t.Helper()
	for {
		line, err := r.ReadString('\n')
		require.NoError(t, err, "before %q", text)
		if strings.Contains(line, text) {
			return line
		}
	}
}

// newClient returns a client whose connections end with the test.
func newClient(t *testing.T) *http.Client {
	t.Helper()
	base := &http.Transport{DisableCompression: true}
	t.Cleanup(base.CloseIdleConnections)
	return &http.Client{Transport: base}
}
