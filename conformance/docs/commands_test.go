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

// Every block of commands in the README runs. Where a command would use the network, only its address is replaced.
func TestCommandsOfTheReadmeRun(t *testing.T) {
	t.Parallel()
	var proxy *proxied
	for _, block := range readme(t).fences("sh") {
		name, _, _ := strings.Cut(block, "\n")
		t.Run(name, func(s *testing.T) {
			switch {
			case block == "make demo\nmake test\n":
				demoRuns(s, block)
			case strings.HasPrefix(block, "go get "):
				modulesGetIt(s, block)
			case strings.Contains(block, "\ncarryon proxy "):
				proxy = proxyStarts(t, block) // runs until the test ends
			case strings.HasPrefix(block, "curl "):
				proxy.answers(s, block)
			default:
				require.Fail(s, "nobody runs this")
			}
		})
	}
}

// demoRuns runs the demo, which prints what docs/demo.md quotes. It does not run the tests: they are running now.
func demoRuns(t *testing.T, block string) {
	t.Helper()
	demo, test, _ := strings.Cut(block, "\n")
	out, err := shell(t.Context(), root, demo, "OPENAI_API_KEY=").Output()
	require.NoError(t, err)
	assert.Contains(t, read(t, "docs/demo.md").fences("text"), string(out))
	dry, err := shell(t.Context(), root, test, "MAKEFLAGS=n").Output()
	require.NoError(t, err)
	assert.Contains(t, string(dry), "go test -short  ./...")
}

// The error for an unknown demo lists the demos.
func TestAnUnknownDemoListsWhatThereIs(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"nope", "internal", ""} {
		out, err := shell(t.Context(), root, "make demo DEMO="+name).Output()
		require.Error(t, err)
		assert.Contains(t, string(out), `There is no example "`+name+`". Try one of: chat langchaingo-agent quickstart replicas`)
	}
}

// modulesGetIt adds carryon to a new module.
func modulesGetIt(t *testing.T, block string) {
	t.Helper()
	dir := t.TempDir()
	root, err := filepath.Abs(root)
	require.NoError(t, err)
	out, err := shell(t.Context(), dir, "go mod init newcomer && go mod edit -replace github.com/carryon-go/carryon='"+root+"' && "+block,
		"GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off").CombinedOutput()
	require.NoError(t, err, "%s", out)
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	require.NoError(t, err)
	assert.Contains(t, string(mod), "require github.com/carryon-go/carryon ")
}

// proxied is a running proxy with its upstream.
type proxied struct {
	base     string // URL for clients
	upstream *fakellm.Server
}

// proxyStarts starts the proxy, at an address that is free.
func proxyStarts(t *testing.T, block string) *proxied {
	t.Helper()
	upstream := fakellm.NewServer(t, fakellm.Text("Next, I will write style.css."), fakellm.Call("write_file", `{"path":"style.css"}`))
	require.Contains(t, block, "https://api.openai.com/v1")
	block = strings.Replace(block, "https://api.openai.com/v1", upstream.URL()+" -listen 127.0.0.1:0", 1)
	// The command is installed from this repository instead of a release.
	install, start, _ := strings.Cut(block, "\n")
	require.Equal(t, "go install github.com/carryon-go/carryon/cmd/carryon@latest", install)
	arguments, ok := strings.CutPrefix(strings.TrimSpace(start), "carryon proxy ")
	require.True(t, ok, start)
	base := listens(t, carryonCommand(t), arguments)
	return &proxied{base, upstream}
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

// answers sends the README's request to the proxy.
func (p *proxied) answers(t *testing.T, block string) {
	t.Helper()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("there is no curl here")
	}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "request.json"), []byte(stalledRequest), 0o600))
	require.Contains(t, block, "http://127.0.0.1:8787/v1/")
	answer, err := shell(t.Context(), dir, strings.Replace(block, "http://127.0.0.1:8787/v1", p.base, 1), "OPENAI_API_KEY=no-key").Output()
	require.NoError(t, err)
	assert.Contains(t, string(answer), "Next, I will write style.css.")
	assert.Contains(t, string(answer), `{\"path\":\"style.css\"}`)
	sent := p.upstream.Requests()
	require.Len(t, sent, 2)
	assert.True(t, sent[1].HasTool("todo_pause"))
	assert.Equal(t, "Bearer no-key", sent[0].Header.Get("Authorization"))
	assert.NotContains(t, sent[0].Header, "X-Carryon-Session")
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
