package conformance_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/testkit/fakellm"
)

// maxChanged is how many lines of code a newcomer has to change, or add.
const maxChanged = 5

// From an empty directory to the first continuation: a newcomer's program, first as it is, then with the changes that
// the README describes.
func TestNewcomersPath(t *testing.T) {
	t.Parallel()
	for _, sdk := range []string{"go-openai", "openai-go", "langchaingo"} {
		t.Run(sdk, func(t *testing.T) {
			before, after := program(t, sdk, "before"), program(t, sdk, "after")
			assert.LessOrEqual(t, len(changed(before, after)), maxChanged, "%q", changed(before, after))

			dir := emptyModule(t)
			stalls := fakellm.Text("Next, I will write style.css.")
			writes := fakellm.Call("write_file", `{"path":"style.css"}`)
			assert.Equal(t, "Next, I will write style.css.\n", run(t, dir, before, stalls, writes))
			assert.Equal(t, "Next, I will write style.css.\nwrite_file {\"path\":\"style.css\"}\n", run(t, dir, after, stalls, writes))
		})
	}
}

func program(t *testing.T, sdk, version string) string {
	t.Helper()
	code, err := os.ReadFile(filepath.Join("testdata", "newcomer", sdk, version, "main.go"))
	require.NoError(t, err)
	return string(code)
}

// changed returns the lines of code in a program that are not in the earlier one. Blank lines and imports of the
// standard library do not count.
func changed(before, after string) (lines []string) {
	had := make(map[string]int)
	for line := range strings.Lines(before) {
		had[line]++
	}
	for line := range strings.Lines(after) {
		had[line]--
		if had[line] < 0 && strings.TrimSpace(line) != "" && strings.TrimSpace(line) != `"net/http"` {
			lines = append(lines, line)
		}
	}
	return lines
}

// emptyModule returns the folder of a module that requires what this one does,
// and carryon from this repository.
func emptyModule(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	own, err := os.ReadFile("go.mod")
	require.NoError(t, err)
	root, err := filepath.Abs("..")
	require.NoError(t, err)
	mod := strings.Replace(string(own), "module github.com/carryon-go/carryon/conformance", "module newcomer", 1)
	mod = strings.ReplaceAll(mod, "=> ../", "=> "+root+"/")
	require.NotEqual(t, string(own), mod)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte(mod), 0o600))
	sum, err := os.ReadFile("go.sum")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.sum"), sum, 0o600))
	return dir
}

// run runs a program against a scripted endpoint and returns what it prints.
func run(t *testing.T, dir, code string, turns ...fakellm.Turn) string {
	t.Helper()
	server := fakellm.NewServer(t, turns...)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(code), 0o600))
	command := exec.CommandContext(t.Context(), "go", "run", ".")
	command.Dir = dir
	command.Env = append(command.Environ(), "OPENAI_API_KEY=no key", "OPENAI_BASE_URL="+server.URL(), "GOFLAGS=-mod=mod", "CGO_ENABLED=0")
	var failed strings.Builder
	command.Stderr = &failed
	out, err := command.Output()
	require.NoError(t, err, failed.String())
	return string(out)
}
