package docs_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/testkit/fakellm"
)

// shell returns a command that runs a block in a folder, as a reader would.
func shell(ctx context.Context, dir, block string, env ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, "sh", "-e", "-c", block)
	command.Dir = dir
	// If make runs the tests, its variables must not reach the make of a block.
	command.Env = append(append(command.Environ(), "MAKEFLAGS=", "MAKELEVEL=0"), env...)
	return command
}

// The README installs the command and the module, before a release from a clone and after it from the module proxy. Each
// block runs as a reader would copy it, in an empty folder. Only addresses are replaced: the repository's leads to this
// one, and the module proxy to one that is made of it.
func TestTheReadmeInstalls(t *testing.T) {
	t.Parallel()
	installed := 0
	for name, way := range map[string]struct{ command, module string }{
		"from a clone": {"git clone ", "go mod init "},
		"a release":    {"go install ", "go get "},
	} {
		var command, module string
		for _, block := range readme(t).fences("sh") {
			switch {
			case strings.HasPrefix(block, way.command):
				command = block
			case strings.HasPrefix(block, way.module):
				module = block
			}
		}
		if command == "" { // a release has no block for what is not released
			continue
		}
		installed++
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := t.TempDir()
			program := filepath.Join(base, "program")
			require.NoError(t, os.Mkdir(program, 0o755))
			env := readersEnvironment(t, base)
			if way.module == "go get " {
				env = append(env, "GOPROXY=file://"+moduleProxy(t)+",file://"+cachedModules(t))
				module = "go mod init agent\n" + module
			}
			run := func(dir, block string) string {
				out, err := shell(t.Context(), dir, block, env...).CombinedOutput()
				require.NoError(t, err, "%s", out)
				return string(out)
			}
			run(base, command)
			assert.Contains(t, run(base, "bin/carryon version"), "carryon ")
			run(program, module)
			mod, err := os.ReadFile(filepath.Join(program, "go.mod"))
			require.NoError(t, err)
			assert.Contains(t, string(mod), "require github.com/carryon-go/carryon ")
		})
	}
	assert.Positive(t, installed)
}

// readersEnvironment returns the variables with which the go command leaves everything outside of a folder alone, and git
// finds the repository here.
func readersEnvironment(t *testing.T, base string) []string {
	t.Helper()
	repository, err := filepath.Abs(root)
	require.NoError(t, err)
	return []string{
		"GOBIN=" + filepath.Join(base, "bin"), "GOMODCACHE=" + filepath.Join(base, "modules"), "GOFLAGS=-modcacherw -trimpath", "CGO_ENABLED=0",
		"GOPROXY=file://" + cachedModules(t), "GOSUMDB=off",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url." + repository + ".insteadOf", "GIT_CONFIG_VALUE_0=https://github.com/carryon-go/carryon",
	}
}

// The README's program prints what the README quotes. A script is in the provider's place.
func TestTheProgramOfTheReadmeRuns(t *testing.T) {
	t.Parallel()
	upstream := fakellm.NewServer(t, fakellm.Text("Next, I will write style.css."), fakellm.Call("write_file", `{"path":"style.css"}`))
	const provider = `openai.NewClient("YOUR-API-KEY")`
	programs := readme(t).fences("go")
	require.Contains(t, programs[0], provider)
	main := strings.Replace(programs[0], provider, "openai.NewClientWithConfig(script())", 1)
	main += "\nfunc script() openai.ClientConfig {\n\tc := openai.DefaultConfig(\"\")\n\tc.BaseURL = \"" + upstream.URL() + "\"\n\treturn c\n}\n"
	file := filepath.Join(t.TempDir(), "main.go")
	require.NoError(t, os.WriteFile(file, []byte(main), 0o600))
	out, err := shell(t.Context(), filepath.Join(root, "conformance"), "go run "+file, "CGO_ENABLED=0").CombinedOutput()
	require.NoError(t, err, "%s", out)
	outcome := strings.TrimSpace(string(out))
	assert.Contains(t, strings.Join(strings.Fields(readme(t).text), " "), "`"+outcome+"`", "%s", out)
}

// moduleProxy returns a module proxy that is made of the working tree.
func moduleProxy(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	out, err := shell(t.Context(), root, "go run ./internal/testkit/modproxy -version v0.0.0-docs -o "+dir, "CGO_ENABLED=0").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return dir
}

// cachedModules returns the machine's module cache, which is a module proxy too.
func cachedModules(t *testing.T) (dir string) {
	t.Helper()
	out, err := shell(t.Context(), root, "go env GOMODCACHE").Output()
	require.NoError(t, err)
	return filepath.Join(strings.TrimSpace(string(out)), "cache", "download")
}

// The demo prints what it has recorded, which is what the README's picture shows.
func TestTheDemoRuns(t *testing.T) {
	t.Parallel()
	recorded, err := os.ReadFile(filepath.Join(root, "examples", "comparison", "testdata", "output.txt"))
	require.NoError(t, err)
	out, err := shell(t.Context(), root, "make demo", "OPENAI_API_KEY=").Output()
	require.NoError(t, err)
	assert.Equal(t, string(recorded), string(out))
}

// The error for an unknown demo lists the demos.
func TestAnUnknownDemoListsWhatThereIs(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"nope", "internal", ""} {
		out, err := shell(t.Context(), root, "make demo DEMO="+name).Output()
		require.Error(t, err)
		assert.Contains(t, string(out), `There is no example "`+name+`". Try one of: chat check comparison langchaingo-agent quickstart replicas`)
	}
}

// listens starts a proxy that runs until the test ends, and returns its base URL for clients.
func listens(t *testing.T, bin, arguments string) (base string) {
	t.Helper()
	command := shell(t.Context(), root, "exec "+bin+"/carryon proxy "+arguments)
	said, err := command.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait() // which reports that
	})
	for lines := bufio.NewScanner(said); base == "" && lines.Scan(); {
		_, base, _ = strings.Cut(lines.Text(), "base URL for clients: ")
	}
	require.NotEmpty(t, base)
	return base
}

// stalledRequest is a conversation whose list has work on it.
const stalledRequest = `{"model": "some-model", "messages": [
	{"role": "user", "content": "Build a small web page about tea."},
	{"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "todo_write",
		"arguments": "{\"todos\": [{\"content\": \"Write style.css\", \"status\": \"in_progress\"}]}"}}]},
	{"role": "tool", "tool_call_id": "c1", "content": "ok"}
], "tools": [
	{"type": "function", "function": {"name": "todo_write"}}, {"type": "function", "function": {"name": "write_file"}}
]}`
