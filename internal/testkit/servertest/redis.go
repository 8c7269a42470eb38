package servertest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"testing"
)

// StartRedis starts a Redis, or a Valkey, that writes nothing to disk, with
// further arguments of its command line. The test is skipped if neither is
// installed.
func StartRedis(tb testing.TB, args ...string) *Server {
	tb.Helper()
	program := find(tb, []string{"redis-server", "valkey-server"}, []string{"/usr/sbin", "/usr/local/bin", "/opt/homebrew/bin"})
	if program == "" {
		missing(tb, "redis-server")
	}
	socket := filepath.Join(shortDir(tb), "redis.sock")
	args = append([]string{"--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "no", "--dir", filepath.Dir(socket)}, args...)
	s := start(tb, exec.CommandContext(context.WithoutCancel(tb.Context()), program, args...)) //nolint:gosec // as found
	s.URL = "unix://" + socket
	s.waitFor(tb, func(ctx context.Context) error { return ping(ctx, socket) })
	return s
}

// ping checks that a Redis answers at all.
func ping(ctx context.Context, socket string) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // it has served
	if _, err := fmt.Fprint(conn, "PING\r\n"); err != nil {
		return err
	}
	answer := make([]byte, 16)
	n, err := conn.Read(answer)
	if err != nil {
		return err
	}
	if n == 0 {
		return errors.New("no answer")
	}
	return nil
}
