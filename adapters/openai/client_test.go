package openai_test

import (
	"errors"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"testing"
	"time"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	carryopenai "github.com/carryon-go/carryon/adapters/openai"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/scenario"
	"github.com/carryon-go/carryon/middleware"
)

// configWith returns the configuration of a client that calls the server with an HTTP client.
func configWith(server *fakellm.Server, client openai.HTTPDoer) openai.ClientConfig {
	config := scenario.HTTPConfig(server)
	config.HTTPClient = client
	return config
}

// requireContinued checks that the calls of a client are continued.
func requireContinued(t *testing.T, client *openai.Client, server *fakellm.Server) {
	t.Helper()
	for _, m := range []scenario.Mode{scenario.WireUnary, scenario.WireStream} {
		server.Append(fakellm.Text(scenario.Plan), scenario.Edit())
		before := len(server.Requests())
		got := m.Call(t.Context(), scenario.ClientOf(client), scenario.Request())
		scenario.RequireComplete(t, m, got, scenario.Plan, "tool_calls")
		require.Len(t, server.Requests(), before+2)
	}
}

// countingDoer is an HTTP client of the program's own, which counts requests.
type countingDoer struct{ calls int }

func (d *countingDoer) Do(r *http.Request) (*http.Response, error) {
	d.calls++
	return http.DefaultTransport.RoundTrip(r)
}

func TestNewClientWithConfigTakesAnyHTTPClient(t *testing.T) {
	t.Parallel()
	doer := new(countingDoer)
	for name, client := range map[string]openai.HTTPDoer{
		"none": nil, "nil client": (*http.Client)(nil), "zero client": &http.Client{}, "another": doer,
	} {
		server := fakellm.NewServer(t)
		config := configWith(server, client)
		before := config
		mw := middleware.New(scenario.TwoTodos(), scenario.NoInterval())
		continued := carryopenai.NewClientWithConfig(config, mw)
		assert.Equal(t, before, config, name)
		requireContinued(t, continued, server)
	}
	assert.Equal(t, 4, doer.calls)
}

// Timeout, Jar and CheckRedirect of the program's client apply, and the client itself is not changed.
func TestNewClientWithConfigKeepsWhatTheClientIs(t *testing.T) {
	t.Parallel()
	server := fakellm.NewServer(t)
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	home, err := url.Parse(server.URL())
	require.NoError(t, err)
	jar.SetCookies(home, []*http.Cookie{{Name: "session", Value: "1"}})
	redirected := errors.New("no further")
	base := &countedTripper{}
	client := &http.Client{
		Transport: base, Jar: jar, Timeout: time.Hour,
		CheckRedirect: func(*http.Request, []*http.Request) error { return redirected },
	}
	continued := carryopenai.NewClientWithConfig(configWith(server, client),
		middleware.New(scenario.TwoTodos(), scenario.NoInterval()))
	requireContinued(t, continued, server)
	assert.Equal(t, 4, base.calls)
	assert.Same(t, base, client.Transport)
	assert.Equal(t, 4, base.deadlines, "the client's timeout holds for all")
	for _, r := range server.Requests() {
		assert.Equal(t, "session=1", r.Header.Get("Cookie"))
	}
	server.Append(fakellm.Status(http.StatusTemporaryRedirect, "{}").Header("Location", "/elsewhere"))
	_, err = continued.CreateChatCompletion(t.Context(), scenario.Request())
	require.ErrorIs(t, err, redirected)
}

// countedTripper counts requests, and the ones with a deadline.
type countedTripper struct{ calls, deadlines int }

func (c *countedTripper) RoundTrip(r *http.Request) (*http.Response, error) {
	c.calls++
	if _, ok := r.Context().Deadline(); ok {
		c.deadlines++
	}
	return http.DefaultTransport.RoundTrip(r)
}

// A request that is no chat completion goes through the same client, unchanged.
func TestNewClientWithConfigLeavesOtherCallsAlone(t *testing.T) {
	t.Parallel()
	server := fakellm.NewServer(t)
	continued := carryopenai.NewClientWithConfig(configWith(server, nil), middleware.New(scenario.TwoTodos()))
	_, err := continued.ListModels(t.Context())
	var api *openai.APIError
	require.ErrorAs(t, err, &api)
	assert.Equal(t, http.StatusNotFound, api.HTTPStatusCode)
}

// Errors of the HTTP client reach the caller in every mode.
func TestNewClientWithConfigReturnsTheClientsErrors(t *testing.T) {
	t.Parallel()
	gone := errors.New("no route")
	config := openai.DefaultConfig("no key")
	config.HTTPClient = failingDoer{gone}
	client := scenario.ClientOf(carryopenai.NewClientWithConfig(config, middleware.New(scenario.TwoTodos())))
	for _, m := range []scenario.Mode{scenario.WireUnary, scenario.WireStream} {
		got := m.Call(t.Context(), client, scenario.Request())
		require.ErrorIs(t, got.Err, gone)
		require.ErrorIs(t, got.Outcome.Err, gone)
	}
}

type failingDoer struct{ err error }

func (d failingDoer) Do(*http.Request) (*http.Response, error) { return nil, d.err }

func TestNewClientWithConfigNeedsAMiddleware(t *testing.T) {
	t.Parallel()
	assert.PanicsWithValue(t, "carryon/adapters/openai: nil middleware", func() {
		carryopenai.NewClientWithConfig(openai.DefaultConfig("no key"), nil)
	})
}
