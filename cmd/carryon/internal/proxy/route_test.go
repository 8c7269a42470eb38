package proxy

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each request goes to the endpoint of the first route that it matches.
func TestRoutes(t *testing.T) {
	t.Parallel()
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.URL.RequestURI()) }))
	t.Cleanup(upstream.Close)
	routes := []Route{
		{Prefix: "/v1", Header: "Chatgpt-Account-Id", Base: upstream.URL + "/chatgpt"},
		{Prefix: "/to/zen", Base: upstream.URL + "/zen/v1"},
	}
	for _, tt := range []struct {
		rest               bool // there is a route for all paths
		path, header, want string
	}{
		{path: "/v1/responses", want: "/openai/responses"},
		{path: "/v1/responses", header: "acc", want: "/chatgpt/responses"},
		{path: "/v1", want: "/openai/"},
		{path: "/to/zen/chat/completions?a=b", want: "/zen/v1/chat/completions?a=b"},
		{path: "/to/zen", want: "/zen/v1/"},
		{path: "/to/zenith/models"},
		{path: "/v12/models"},
		{path: "/api/hello"},
		{rest: true, path: "/api/hello", want: "/rest/api/hello"},
		{rest: true, path: "/v1/messages", want: "/rest/v1/messages"},
		{rest: true, path: "/to/zen/models", want: "/zen/v1/models"},
		{rest: true, path: "/to/zen/a%2Fb/", want: "/zen/v1/a%2Fb/"},
		{rest: true, path: "/healthz", want: "ok\n"},
	} {
		c := parsed(t, "-upstream", upstream.URL+"/openai")
		c.Routes = append(c.Routes, routes...)
		if tt.rest {
			c.Routes = append(c.Routes, Route{Base: upstream.URL + "/rest"})
		}
		require.NoError(t, c.Check())
		base := newBase(c)
		t.Cleanup(base.CloseIdleConnections)
		proxy := httptest.NewServer(handlerOf(t, c, base, loggerTo(io.Discard)))
		t.Cleanup(proxy.Close)
		r := newRequest(t, http.MethodGet, proxy.URL+tt.path, "")
		if tt.header != "" {
			r.Header.Set("Chatgpt-Account-Id", tt.header)
		}
		got := (&scene{client: newClient(t)}).send(r)
		if tt.want == "" {
			assert.Equal(t, http.StatusNotFound, got.status, tt.path)
			continue
		}
		assert.Equal(t, tt.want, got.body, tt.path)
	}
}

func TestRoutesNameTheirSource(t *testing.T) {
	t.Parallel()
	c := parsed(t)
	c.Routes = []Route{{Prefix: "/to/mine", Base: "nothing", Source: "base_url of mine"}}
	assert.EqualError(t, c.Check(), "base_url of mine must be a URL such as https://api.openai.com/v1")
}

// Each client reads an error of the proxy's own as one of the API that it has asked.
func TestErrorsHaveTheFormOfTheirProtocol(t *testing.T) {
	t.Parallel()
	address := nobody(t)
	noAnswer := `"type":"proxy_error","message":"carryon: no answer from http://` + address + `: dial tcp ` + address + `: connect: connection refused"`
	misled := `"type":"proxy_error","message":"carryon: clients reach it by its IP address or as localhost, not at evil.example (-allow-host allows another name)"`
	openAI := func(members string) string { return `{"error":{` + members + `}}` }
	anthropic := func(members string) string { return `{"type":"error","error":{` + members + `}}` }
	for path, form := range map[string]func(string) string{
		"/chat/completions": openAI, "/responses": openAI, "/messages": anthropic, "/messages/count_tokens": anthropic, "/models": openAI,
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			s := sceneAt(t, "http://"+address+"/v1")
			got := s.send(newRequest(t, http.MethodPost, s.base+path, `{"stream":true,"max_tokens":1,"messages":[],"input":"Go on."}`))
			require.NoError(t, got.err)
			assert.Equal(t, http.StatusBadGateway, got.status)
			assert.Equal(t, "application/json", got.header.Get("Content-Type"))
			assert.JSONEq(t, form(noAnswer), got.body)

			r := newRequest(t, http.MethodPost, s.base+path, "{}")
			r.Host = "evil.example"
			got = s.send(r)
			require.NoError(t, got.err)
			assert.Equal(t, http.StatusForbidden, got.status)
			assert.JSONEq(t, form(misled), got.body)
		})
	}
}

// So does a client of Google's API, whose errors have a code and a status.
func TestErrorsOfGoogle(t *testing.T) {
	t.Parallel()
	address := nobody(t)
	s := sceneAt(t, "http://"+address)
	for _, path := range []string{"/v1beta/models/m:generateContent", "/v1/models/m:countTokens", "beta/models/m:streamGenerateContent"} {
		got := s.send(newRequest(t, http.MethodPost, s.base+path, "{}"))
		require.NoError(t, got.err)
		assert.Equal(t, http.StatusBadGateway, got.status, path)
		assert.JSONEq(t, `{"error":{"code":502,"status":"UNAVAILABLE","message":"carryon: no answer from http://`+address+`: dial tcp `+
			address+`: connect: connection refused"}}`, got.body, path)
	}
}
