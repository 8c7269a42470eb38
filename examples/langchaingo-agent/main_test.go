package main

import (
	"flag"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/carryon-go/carryon/carryontest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var update = flag.Bool("update", false, "rewrite testdata/output.txt")

const golden = "testdata/output.txt"

// inMemory returns the scripted endpoint in memory.
func inMemory(turns ...carryontest.Turn) endpoint {
	return scripted(func() (*carryontest.Server, string, http.RoundTripper) {
		server := carryontest.Start(turns...)
		return server, carryontest.BaseURL, server.Transport()
	})
}

// output returns what the program prints. It runs in a synctest bubble, where the
// interval between two prompts takes no time.
func output(t *testing.T, turns ...carryontest.Turn) (text string, err error) {
	t.Helper()
	var b strings.Builder
	synctest.Test(t, func(t *testing.T) { err = compare(t.Context(), &b, inMemory(turns...)) })
	return b.String(), err
}

func TestOutput(t *testing.T) {
	t.Parallel()
	got, err := output(t, script()...)
	require.NoError(t, err)
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(got), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}

func TestTheListIsFinishedWithCarryonOnly(t *testing.T) {
	t.Parallel()
	got, err := output(t, script()...)
	require.NoError(t, err)
	without, with, found := strings.Cut(got, "2. WITH CARRYON")
	require.True(t, found)
	assert.Contains(t, without, "STOPPED  todos open: 2 of 3; files written: 1")
	assert.NotContains(t, without, "carryon  asks")
	assert.Contains(t, with, "DONE     todos open: 0 of 3; files written: 3")
	assert.Equal(t, 2, strings.Count(with, "asks the model to carry on with "))
}

func TestAFailureIsReturned(t *testing.T) {
	t.Parallel()
	_, err := output(t, carryontest.Status(401, `{"error":{"message":"Incorrect API key provided."}}`))
	require.ErrorContains(t, err, "Incorrect API key provided.")
}

func TestWithAKeyARealEndpointIsAsked(t *testing.T) {
	t.Parallel()
	server := carryontest.NewServer(t, carryontest.Text("Hello."), carryontest.Text("Hello."))
	env := map[string]string{"OPENAI_API_KEY": "sk-secret", "OPENAI_BASE_URL": server.URL(), "OPENAI_MODEL": "some-model"}
	var b strings.Builder
	e, err := endpointFromEnv(func(name string) string { return env[name] })
	require.NoError(t, err)
	require.NoError(t, compare(t.Context(), &b, e))
	assert.Contains(t, b.String(), "The model is some-model.")
	assert.NotContains(t, b.String(), "sk-secret")
	requests := server.Requests()
	require.Len(t, requests, 2)
	for _, request := range requests {
		assert.Equal(t, "some-model", request.Model)
		assert.Equal(t, "Bearer sk-secret", request.Header.Get("Authorization"))
	}
}

func TestToolsAnswerBadInput(t *testing.T) {
	t.Parallel()
	files := &fileTool{written: map[string]string{}}
	for input, want := range map[string]string{
		"":           "Error: the first line must be a path.",
		" \nx":       "Error: the first line must be a path.",
		"a.txt\ntea": "Wrote a.txt, 3 bytes.",
		"b.txt":      "Wrote b.txt, 0 bytes.",
	} {
		got, err := files.Call(t.Context(), input)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
}
