package main

import (
	"context"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/examples/internal/upstream"
)

// realEndpoint sets the environment so that a server is the real endpoint.
func realEndpoint(t *testing.T, turns ...carryontest.Turn) *carryontest.Server {
	t.Helper()
	server := carryontest.NewServer(t, turns...)
	setEnv(t, "sk-secret", server.URL()+"/", "some-model")
	return server
}

func setEnv(t *testing.T, key, url, model string) {
	t.Helper()
	t.Setenv("OPENAI_API_KEY", key)
	t.Setenv("OPENAI_BASE_URL", url)
	t.Setenv("OPENAI_MODEL", model)
}

// runFromEnv does what main does, and returns what it prints.
func runFromEnv(ctx context.Context, t *testing.T) (string, error) {
	t.Helper()
	s, err := setupFromEnv(os.Getenv)
	if err != nil {
		return "", err
	}
	return compare(ctx, s)
}

func TestRealEndpointIsAskedInBothRuns(t *testing.T) {
	plan := list(0, "Write index.html")
	stall := carryontest.Text("Next I will write index.html.")
	server := realEndpoint(t,
		plan, stall, // without carryon
		plan, stall, list(1, "Write index.html"), carryontest.Text("Done."))
	got, err := runFromEnv(t.Context(), t)
	require.NoError(t, err)

	requireSafe(t, got)
	assert.Contains(t, got, "The model is some-model.")
	assert.Equal(t, []string{"pending", "completed"}, row(t, got, "Write index.html"))
	assert.Equal(t, []string{"2", "3"}, row(t, got, "requests by the agent"))
	assert.Equal(t, []string{"0", "1"}, row(t, got, "requests added by carryon"))
	assert.NotContains(t, got, "sk-secret")

	requests := server.Requests()
	require.Len(t, requests, 6, "as many as the report says")
	for _, r := range requests {
		assert.Equal(t, "some-model", r.Model)
		assert.Equal(t, "Bearer sk-secret", r.Header.Get("Authorization"))
		assert.Equal(t, "/v1/chat/completions", r.Path)
		assert.Contains(t, r.Messages[1].Content, "style.css", "the prompt tells a real model the files")
	}
	assert.True(t, requests[4].HasTool("todo_pause"))
	for _, line := range strings.Split(requests[4].Last().Content, "\n")[:maxPrompt] {
		assert.Contains(t, got, strings.TrimRight("| "+line, " "), "what carryon has sent")
	}
}

func TestModelAndEndpointHaveDefaults(t *testing.T) {
	t.Parallel()
	s, err := setupFromEnv(func(name string) string {
		return map[string]string{"OPENAI_API_KEY": "sk-secret"}[name]
	})
	require.NoError(t, err)
	assert.Equal(t, "gpt-4o-mini", s.model)
	assert.Equal(t, "https://api.openai.com/v1", s.dial().url)
}

func TestWithoutAKeyTheModelIsScripted(t *testing.T) {
	setEnv(t, "", "http://localhost:1/v1", "some-model")
	s, err := setupFromEnv(os.Getenv)
	require.NoError(t, err)
	assert.Equal(t, "scripted", s.model)
}

func TestErrorsAreSentences(t *testing.T) {
	tests := map[string]struct {
		turn carryontest.Turn
		want string
	}{
		"wrong key": {
			carryontest.Status(401, `{"error":{"message":"Incorrect API key provided.\u001b[2J"}}`),
			"The endpoint answered HTTP 401: Incorrect API key provided.",
		},
		"no JSON":   {carryontest.Status(502, `<html>`), "The endpoint answered HTTP 502, with a body that could not be read."},
		"not it":    {carryontest.Status(200, `<html>`), "The endpoint answered with something that is not a chat completion."},
		"no answer": {carryontest.Status(200, `{}`), "The model gave no answer."},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			realEndpoint(t, test.turn)
			_, err := runFromEnv(t.Context(), t)
			require.Error(t, err)
			assert.Equal(t, test.want, upstream.Explain(err))
		})
	}
}

func TestUnreachableEndpointIsASentence(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // to find a port at which nothing listens
	require.NoError(t, err)
	url := "http://" + listener.Addr().String() + "/v1"
	require.NoError(t, listener.Close())
	setEnv(t, "sk-secret", url, "")
	_, err = runFromEnv(t.Context(), t)
	require.Error(t, err)
	assert.Contains(t, upstream.Explain(err), "The endpoint "+url+"/chat/completions could not be reached: ")
	assert.NotContains(t, upstream.Explain(err), "sk-secret")
}

func TestBadURLIsASentence(t *testing.T) {
	for _, url := range []string{"localhost:8080/v1", "ftp://example.com", "http://", "://"} {
		setEnv(t, "sk-secret", url, "")
		_, err := runFromEnv(t.Context(), t)
		require.Error(t, err, url)
		assert.Contains(t, upstream.Explain(err), "OPENAI_BASE_URL is not a URL that begins with http:// or https://")
	}
}

func TestInterruptEndsTheRun(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	realEndpoint(t, carryontest.Func(func(carryontest.Request) carryontest.Turn {
		cancel() // as Ctrl-C does
		return carryontest.Text("").Hang()
	}))
	_, err := runFromEnv(ctx, t)
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, "Interrupted.", upstream.Explain(err))
}
