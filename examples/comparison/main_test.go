package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/carryon-go/carryon/carryontest"
)

// asProgram in the environment makes the test binary run as the program.
const asProgram = "COMPARISON_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	goleak.VerifyTestMain(m)
}

// program is the comparison as a separate process.
type program struct {
	*exec.Cmd

	out, err strings.Builder
}

func newProgram(t *testing.T, env ...string) *program {
	t.Helper()
	p := &program{Cmd: exec.CommandContext(t.Context(), os.Args[0])} //nolint:gosec // this very binary
	p.Env = append(os.Environ(), asProgram+"=1", "OPENAI_API_KEY=", "OPENAI_BASE_URL=", "OPENAI_MODEL=")
	p.Env = append(p.Env, env...)
	p.Stdout, p.Stderr = &p.out, &p.err
	return p
}

// exitCode returns the exit code of an ended process.
func exitCode(t *testing.T, err error) int {
	t.Helper()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	return exit.ExitCode()
}

func TestProgramPrintsTheGoldenOutput(t *testing.T) {
	t.Parallel()
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	p := newProgram(t)
	require.NoError(t, p.Run())
	assert.Equal(t, string(want), p.out.String())
	assert.Empty(t, p.err.String())
}

func TestProgramFailsWithASentence(t *testing.T) {
	t.Parallel()
	p := newProgram(t, "OPENAI_API_KEY=sk-secret", "OPENAI_BASE_URL=localhost")
	assert.Equal(t, 1, exitCode(t, p.Run()))
	assert.Equal(t, "OPENAI_BASE_URL is not a URL that begins with http:// or https://: \"localhost\".\n", p.err.String())
	assert.Empty(t, p.out.String())
}

func TestInterruptEndsTheProgram(t *testing.T) {
	t.Parallel()
	arrived := make(chan struct{})
	server := carryontest.NewServer(t, carryontest.Func(func(carryontest.Request) carryontest.Turn {
		close(arrived)
		return carryontest.Text("").Hang()
	}))
	p := newProgram(t, "OPENAI_API_KEY=sk-secret", "OPENAI_BASE_URL="+server.URL())
	require.NoError(t, p.Start())
	<-arrived
	require.NoError(t, p.Process.Signal(os.Interrupt))
	assert.Equal(t, 1, exitCode(t, p.Wait()))
	assert.Equal(t, "Interrupted.\n", p.err.String())
}
