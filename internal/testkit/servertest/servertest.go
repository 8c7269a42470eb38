// Package servertest starts real servers for tests, where they are installed.
package servertest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/testkit/syncbuf"
)

// requireServers is the environment variable that makes a test fail if its
// server is not installed. Without it, the test is skipped.
const requireServers = "CARRYON_REQUIRE_SERVERS"

// find returns the program of one of these names, or "" if there is none. With
// -short it skips the test.
func find(tb testing.TB, names, folders []string) string {
	tb.Helper()
	if testing.Short() {
		tb.Skip("-short leaves out real servers")
	}
	return lookUp(names, folders)
}

// Program returns a program that is quick enough for -short. The test is skipped if it is
// not installed.
func Program(tb testing.TB, name string) string {
	tb.Helper()
	program := lookUp([]string{name}, []string{"/usr/sbin"})
	if program == "" {
		missing(tb, name)
	}
	return program
}

// lookUp returns the program of one of these names, in the PATH or in one of these
// folders, or "" if there is none.
func lookUp(names, folders []string) string {
	for _, name := range names {
		if file, err := exec.LookPath(name); err == nil {
			return file
		}
		for _, pattern := range folders {
			if found, _ := filepath.Glob(filepath.Join(pattern, name)); len(found) > 0 {
				return slices.Max(found)
			}
		}
	}
	return ""
}

// missing fails or skips a test whose server is not installed.
func missing(tb testing.TB, what string) {
	tb.Helper()
	if os.Getenv(requireServers) != "" { //nolint:forbidigo // it is how .ci/run says that nothing may be left out
		require.Fail(tb, what+" is not installed, and "+requireServers+" is set")
	}
	tb.Skip(what + " is not installed: not tested with a real server")
}

// Server is a server that a test has started.
type Server struct {
	URL string

	cmd    *exec.Cmd
	output syncbuf.Buffer
	ended  chan struct{}
}

// start starts a server that ends with the test.
func start(tb testing.TB, cmd *exec.Cmd) *Server {
	tb.Helper()
	s := &Server{cmd: cmd, ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &s.output, &s.output
	require.NoError(tb, cmd.Start())
	go func() {
		defer close(s.ended)
		_ = cmd.Wait() // what it said is in the output
	}()
	tb.Cleanup(s.Kill)
	return s
}

// Kill ends the server at once, as a crash does.
func (s *Server) Kill() {
	_ = s.cmd.Process.Kill() // it may have ended
	<-s.ended
}

// waitFor waits until the server answers.
func (s *Server) waitFor(tb testing.TB, answers func(context.Context) error) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), 2*time.Minute)
	defer cancel()
	retry := time.NewTicker(20 * time.Millisecond)
	defer retry.Stop()
	for {
		err := answers(ctx)
		if err == nil {
			return
		}
		select {
		case <-retry.C:
		case <-s.ended:
			require.Fail(tb, "the server has ended", "%v\n%s", err, s.output.String())
		case <-ctx.Done():
			require.Fail(tb, "the server does not answer", "%v\n%s", err, s.output.String())
		}
	}
}

// shortDir returns a folder with a path short enough for a socket, which everybody
// may enter.
func shortDir(tb testing.TB) string {
	tb.Helper()
	dir, err := os.MkdirTemp("", "carryon") //nolint:usetesting // with the name of the test in it, the path is too long
	require.NoError(tb, err)
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	require.NoError(tb, os.Chmod(dir, 0o755)) //nolint:gosec // the server may run as somebody else
	return dir
}
