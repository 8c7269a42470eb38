//go:build unix

package main

import (
	"io"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
)

// A proxy without descriptors says so, and accepts connections again once it has
// some.
func TestFewDescriptors(t *testing.T) {
	t.Parallel()
	const few = 40
	upstream := carryontest.NewServer(t, carryontest.Call("write_file", `{}`))
	p := program(t, "proxy", "-listen", "127.0.0.1:0", "-upstream", upstream.URL())
	limited := exec.CommandContext(t.Context(), "/bin/sh", append([]string{"-c", `ulimit -n 40 && exec "$@"`, "sh"}, p.Args...)...)
	limited.Env = p.Env
	said, base := started(t, limited)
	address := strings.TrimSuffix(strings.TrimPrefix(base, "http://"), "/v1")

	taken := make([]net.Conn, 0, few)
	for range few {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
		require.NoError(t, err)
		taken = append(taken, conn)
	}
	line := readUntil(t, said, "http: Accept error") // the check of the upstream may fail for the same reason before
	assert.Contains(t, line, "level=WARN")
	assert.Contains(t, line, "too many open files")
	for _, conn := range taken {
		require.NoError(t, conn.Close())
	}

	client := &http.Client{Transport: new(http.Transport)}
	defer client.CloseIdleConnections()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/chat/completions", strings.NewReader(stalled))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/json")
	response, err := client.Do(r)
	require.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	assert.Equal(t, http.StatusOK, response.StatusCode)
	assert.Contains(t, string(body), "data: [DONE]")

	require.NoError(t, limited.Process.Signal(syscall.SIGTERM))
	_, err = io.ReadAll(said)
	require.NoError(t, err)
	require.NoError(t, limited.Wait())
}
