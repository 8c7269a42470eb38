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
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/middleware"
)

// configWith returns the configuration of a client of the server that has the HTTP client.
func configWith(server *carryontest.Server, client openai.HTTPDoer) openai.ClientConfig {
	config := configOf(server.URL(), nil)
	config.HTTPClient = client
	return config
}

// requireContinued checks that a client's calls are continued.
func requireContinued(t *testing.T, client *openai.Client, server *carryontest.Server) {
	t.Helper()
	for _, m := range []mode{wireUnary, wireStream} {
		server.Append(carryontest.Text(plan), edit())
		before := len(server.Requests())
		got := m.call(t.Context(), clientOf(client), ask())
		requireComplete(t, m, got, plan, "tool_calls")
		require.Len(t, server.Requests(), before+2)
	}
}

// countingDoer is an HTTP client that is not net/http's.
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
		server := carryontest.NewServer(t)
		config := configWith(server, client)
		before := config
		mw := middleware.New(twoTodos, unhurried)
		continued := carryopenai.NewClientWithConfig(config, mw)
		assert.Equal(t, before, config, name)
		requireContinued(t, continued, server)
	}
	assert.Equal(t, 4, doer.calls)
}

// Timeout, Jar and CheckRedirect of the program's client hold, and the client itself stays as it is.
func TestNewClientWithConfigKeepsWhatTheClientIs(t *testing.T) {
	t.Parallel()
	server := carryontest.NewServer(t)
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
	continued := carryopenai.NewClientWithConfig(configWith(server, client), middleware.New(twoTodos, unhurried))
	requireContinued(t, continued, server)
	assert.Equal(t, 4, base.calls)
	assert.Same(t, base, client.Transport)
	assert.Equal(t, 4, base.deadlines, "the client's timeout holds for all")
	for _, r := range server.Requests() {
		assert.Equal(t, "session=1", r.Header.Get("Cookie"))
	}
	server.Append(carryontest.Status(http.StatusTemporaryRedirect, "{}").Header("Location", "/elsewhere"))
	_, err = continued.CreateChatCompletion(t.Context(), ask())
	require.ErrorIs(t, err, redirected)
}

// countedTripper counts requests, and those that have a deadline.
type countedTripper struct{ calls, deadlines int }

func (c *countedTripper) RoundTrip(r *http.Request) (*http.Response, error) {
	c.calls++
	if _, ok := r.Context().Deadline(); ok {
		c.deadlines++
	}
	return http.DefaultTransport.RoundTrip(r)
}

// What is no chat completion goes through the same client, as it is.
func TestNewClientWithConfigLeavesOtherCallsAlone(t *testing.T) {
	t.Parallel()
	server := carryontest.NewServer(t)
	continued := carryopenai.NewClientWithConfig(configWith(server, nil), middleware.New(twoTodos))
	_, err := continued.ListModels(t.Context())
	var api *openai.APIError
	require.ErrorAs(t, err, &api)
	assert.Equal(t, http.StatusNotFound, api.HTTPStatusCode)
}

// An HTTP client's own errors come through, whichever call they belong to.
func TestNewClientWithConfigReturnsTheClientsErrors(t *testing.T) {
	t.Parallel()
	gone := errors.New("no route")
	config := openai.DefaultConfig("no key")
	config.HTTPClient = failingDoer{gone}
	client := clientOf(carryopenai.NewClientWithConfig(config, middleware.New(twoTodos)))
	for _, m := range []mode{wireUnary, wireStream} {
		got := m.call(t.Context(), client, ask())
		require.ErrorIs(t, got.Err, gone)
		require.ErrorIs(t, got.Outcome.Err, gone)
	}
}

type failingDoer struct{ err error }

func (d failingDoer) Do(*http.Request) (*http.Response, error) { return nil, d.err }

func TestNewClientWithConfigNeedsAMiddleware(t *testing.T) {
	t.Parallel()
	assert.PanicsWithValue(t, "openai: nil middleware", func() {
		carryopenai.NewClientWithConfig(openai.DefaultConfig("no key"), nil)
	})
}
