package main

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/carryon-go/carryon/carryontest"
)

// asProgram in the environment makes the test binary the program itself.
const asProgram = "PROXY_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	goleak.VerifyTestMain(m)
}

// program is the proxy as a process of its own.
func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	p := exec.CommandContext(t.Context(), os.Args[0], args...)
	p.Env = append(os.Environ(), asProgram+"=1")
	return p
}

// exitCode returns the exit code of an ended process.
func exitCode(t *testing.T, err error) int {
	t.Helper()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	return exit.ExitCode()
}

func TestProgramExplainsItself(t *testing.T) {
	t.Parallel()
	out, err := program(t, "-h").CombinedOutput()
	require.NoError(t, err)
	for _, flag := range []string{
		"listen", "upstream", "yolo", "max-attempts", "min-interval", "dry-run", "content", "v",
	} {
		assert.Contains(t, string(out), "\n  -"+flag)
	}
	assert.Contains(t, string(out), "http://127.0.0.1:8787/v1")
}

func TestProgramRefusesAWrongCommandLine(t *testing.T) {
	t.Parallel()
	out, err := program(t, "-max-attempts", "0").CombinedOutput()
	assert.Equal(t, 2, exitCode(t, err))
	assert.Equal(t, "proxy: -max-attempts 0 is neither 1 or more nor -1 (-dry-run continues nothing)\n", string(out))
}

func TestProgramSaysWhenItsAddressIsTaken(t *testing.T) {
	t.Parallel()
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	out, err := program(t, "-listen", taken.Addr().String()).CombinedOutput()
	assert.Equal(t, 1, exitCode(t, err))
	assert.Equal(t, "proxy: listen tcp "+taken.Addr().String()+
		": bind: address already in use (-listen sets the address)\n", string(out))
}

// An interrupt ends the program, but first the current answer and its
// continuation come to their end.
func TestInterruptLetsAnAnswerEnd(t *testing.T) {
	t.Parallel()
	open := make(chan struct{})
	upstream := carryontest.NewServer(t, carryontest.Text("Hello again").GateAfter(2, open), edit())
	p := program(t, "-listen", "127.0.0.1:0", "-upstream", upstream.URL())
	stderr, err := p.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, p.Start())
	said := bufio.NewReader(stderr)
	base := baseURL(t, said)
	client := newClient(t)

	response, err := client.Do(post(t, base, conversation{stream: true}))
	require.NoError(t, err)
	defer response.Body.Close()
	body := bufio.NewReader(response.Body)
	readUntil(t, body, `"Hello "`)
	require.NoError(t, p.Process.Signal(os.Interrupt))
	assert.Equal(t, "Stopping. Open answers have 10s to finish.\n", readUntil(t, said, "Stopping"))
	close(open)
	rest, err := io.ReadAll(body)

	require.NoError(t, err)
	assert.Contains(t, string(rest), "edit_file")
	assert.Contains(t, string(rest), "data: [DONE]")
	last, err := io.ReadAll(said)
	require.NoError(t, err)
	assert.Empty(t, string(last))
	require.NoError(t, p.Wait())
}

// baseURL reads the greeting of the proxy and returns the base URL for clients.
func baseURL(t *testing.T, said *bufio.Reader) string {
	t.Helper()
	_, base, ok := strings.Cut(readUntil(t, said, "base URL"), ": ")
	require.True(t, ok)
	readUntil(t, said, pagePath)
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
