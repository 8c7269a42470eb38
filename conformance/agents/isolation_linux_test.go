package main

import (
	"net"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const inside = "CARRYON_TEST_NETWORK_IS_CUT_OFF"

// An agent that ignores its variables must not reach anybody either.
func TestOnlyNetworkIsALoopback(t *testing.T) {
	t.Parallel()
	if os.Getenv(inside) == "" {
		c := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestOnlyNetworkIsALoopback$", "-test.count=1", "-test.v")
		c.Env = append(os.Environ(), inside+"=1")
		require.True(t, cutOff(c))
		out, err := c.CombinedOutput()
		if err != nil && len(out) == 0 {
			t.Skipf("this system makes no networks: %v", err)
		}
		require.NoError(t, err, string(out))
		assert.Contains(t, string(out), "--- PASS: TestOnlyNetworkIsALoopback")
		return
	}
	require.NoError(t, enableLoopback())
	interfaces, err := net.Interfaces()
	require.NoError(t, err)
	require.Len(t, interfaces, 1)
	assert.NotZero(t, interfaces[0].Flags&net.FlagLoopback)
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", listener.Addr().String())
	require.NoError(t, err)
	assert.NoError(t, conn.Close())
}
