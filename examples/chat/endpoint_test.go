package main

import (
	"bytes"
	"os"
	"os/exec"
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
	require.NoError(t, err, errs)
	assert.Contains(t, out, "! The endpoint "+url+"/chat/completions could not be asked: ")
}
