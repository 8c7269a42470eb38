package proxy

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each client reads an error of the proxy's own as one of the API that it has asked.
func TestErrorsHaveTheFormOfTheirProtocol(t *testing.T) {
	t.Parallel()
	address := nobody(t)
	noAnswer := `"type":"proxy_error","message":"carryon: no answer from http://` + address + `: dial tcp ` + address + `: connect: connection refused"`
	misled := `"type":"proxy_error","message":"carryon: clients reach it at http://127.0.0.1 or http://localhost, not at evil.example (-allow-host allows another name)"`
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
