package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
)

// runProgram runs the chat as a process that reads the input from a pipe.
func runProgram(t *testing.T, input string, env ...string) (out, errs string, err error) {
	t.Helper()
	p := exec.CommandContext(t.Context(), os.Args[0], "-dir", t.TempDir()) //nolint:gosec // this very binary
	p.Env = append(os.Environ(), asProgram+"=1", "OPENAI_API_KEY=", "OPENAI_BASE_URL=", "OPENAI_MODEL=")
	p.Env = append(p.Env, env...)
	var stdout, stderr bytes.Buffer
	p.Stdin, p.Stdout, p.Stderr = strings.NewReader(input), &stdout, &stderr
	err = p.Run()
	return stdout.String(), stderr.String(), err
}

func TestRealEndpointIsAskedIfThereIsAKey(t *testing.T) {
	t.Parallel()
	server := carryontest.NewServer(t, carryontest.Text("Hello, Ada."))
	out, errs, err := runProgram(t, "Hello.\n",
		"OPENAI_API_KEY=sk-secret", "OPENAI_BASE_URL="+server.URL()+"/", "OPENAI_MODEL=some-model")
	require.NoError(t, err, errs)
	assert.Contains(t, out, "* The model is some-model.\n")
	assert.Contains(t, out, "\n> Hello.\nHello, Ada.\n")
	assert.NotContains(t, out, "sk-secret")
	r := server.Requests()[0]
	assert.Equal(t, "some-model", r.Model)
	assert.Equal(t, "Bearer sk-secret", r.Header.Get("Authorization"))
	assert.True(t, r.Stream)
}

func TestWithoutAKeyTheModelIsTheScript(t *testing.T) {
	t.Parallel()
	out, errs, err := runProgram(t, "Hello.\n/quit\nnever read\n")
	require.NoError(t, err, errs)
	assert.Contains(t, out, "* The model is scripted: no key is set. Try: "+request+"\n")
	assert.Contains(t, out, "I am a small script")
	assert.NotContains(t, out, "never read")
}

func TestProgramFailsWithASentence(t *testing.T) {
	t.Parallel()
	out, errs, err := runProgram(t, "Hello.\n", "OPENAI_API_KEY=sk-secret", "OPENAI_BASE_URL=localhost")
	require.Error(t, err)
	assert.Equal(t, "OPENAI_BASE_URL is not a URL that begins with http:// or https://: \"localhost\".\n", errs)
	assert.Empty(t, out)
}

func TestEndpointHasDefaults(t *testing.T) {
	t.Parallel()
	e, err := endpointFromEnv(func(name string) string {
		return map[string]string{"OPENAI_API_KEY": "sk-secret"}[name]
	}, 0)
	require.NoError(t, err)
	assert.Equal(t, "gpt-4o-mini", e.model)
}

func TestUnreachableEndpointIsASentence(t *testing.T) {
	t.Parallel()
	server := carryontest.Start()
	url := server.URL()
	server.Close()
	out, errs, err := runProgram(t, "Hello.\n", "OPENAI_API_KEY=sk-secret", "OPENAI_BASE_URL="+url)
	assert.Contains(t, out, "! The endpoint "+url+"/chat/completions could not be reached: ")
	failsWith(t, err, 1)
	assert.Equal(t, "A turn has failed.\n", errs)
}

func failsWith(t *testing.T, err error, code int) {
	t.Helper()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	assert.Equal(t, code, exit.ExitCode())
}

// The error for a base URL without /v1 says what is missing.
func TestNotFoundHintsAtThePath(t *testing.T) {
	t.Parallel()
	server := carryontest.NewServer(t)
	out, _, err := runProgram(t, "Hello.\n", "OPENAI_API_KEY=sk-secret", "OPENAI_BASE_URL="+strings.TrimSuffix(server.URL(), "/v1")+"/nowhere/at/all?")
	assert.Contains(t, out, "! The endpoint answered HTTP 404")
	assert.Contains(t, out, "Does OPENAI_BASE_URL end in /v1, and is there a model OPENAI_MODEL?\n")
	failsWith(t, err, 1)
}

// A folder that the program has made is named at the end, or removed if it is empty.
func TestNoFolderIsLeftBehindUnmentioned(t *testing.T) {
	t.Parallel()
	for input, left := range map[string]bool{"/todos\n": false, "Write a note.\n": true} {
		temporary := t.TempDir()
		server := carryontest.NewServer(t, carryontest.Call("write_file", `{"path":"note.md","content":"Hello."}`), carryontest.Text("Done."))
		p := exec.CommandContext(t.Context(), os.Args[0]) //nolint:gosec // this very binary
		p.Env = append(os.Environ(), asProgram+"=1", "OPENAI_API_KEY=sk-secret", "OPENAI_BASE_URL="+server.URL(), "TMPDIR="+temporary)
		p.Stdin = strings.NewReader(input)
		out, err := p.Output()
		require.NoError(t, err, "%s", out)
		folders, err := os.ReadDir(temporary)
		require.NoError(t, err)
		if !left {
			assert.Empty(t, folders)
			assert.NotContains(t, string(out), "The files stay in")
			continue
		}
		require.Len(t, folders, 1)
		assert.Contains(t, string(out), "* The files stay in "+filepath.Join(temporary, folders[0].Name())+"\n")
	}
}
