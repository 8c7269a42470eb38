package protocols_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/wire/protocols"
)

// Exactly one protocol matches each endpoint, and other paths have none.
func TestEndpoints(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/v1/chat/completions": "/chat/completions", "/v1/responses": "/responses", "/v1/messages": "/messages",
		"/v1/projects/p/locations/l/publishers/anthropic/models/m:streamRawPredict": ":streamRawPredict",
		"/v1/projects/p/locations/l/publishers/anthropic/models/m:rawPredict":       ":rawPredict",
		"/v1beta/models/m:generateContent":                                          ":generateContent",
		"/v1internal:streamGenerateContent":                                         ":streamGenerateContent",
	} {
		matched := 0
		for _, p := range protocols.New() {
			if p.Match(&url.URL{Path: path}) {
				matched++
			}
		}
		assert.Equal(t, 1, matched, path)
		assert.Equal(t, want, protocols.Endpoint(path))
	}
	for _, path := range []string{"", "/", "/v1/models", "/v1/messages/count_tokens", "/v1beta/models/m:countTokens", "/v1internal:loadCodeAssist"} {
		assert.Empty(t, protocols.Endpoint(path), path)
	}
}

// Clients ask for these paths below their base URL, which ends in a version for most APIs.
func TestKnownPaths(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		"/chat/completions": true, "/responses": true, "/responses/r1/input_items": true, "/messages": true, "/messages/count_tokens": true,
		"/models": true, "/models/m": true, "/v1beta/models/m:generateContent": true, "/v1internal:loadCodeAssist": true,
		"": false, "/": false, "/v1/models": false, "/modelsx": false, "/chat": false, "/x/messages": false, "/x:rawPredict": false,
	} {
		assert.Equal(t, want, protocols.IsKnown(path), path)
	}
}

// An error has the form of the API that the path belongs to.
func TestErrors(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/chat/completions": `{"error":{"type":"proxy_error","message":"no"}}`, "/models": `{"error":{"type":"proxy_error","message":"no"}}`,
		"/messages/count_tokens":       `{"type":"error","error":{"type":"proxy_error","message":"no"}}`,
		"/v1beta/models/m:countTokens": `{"error":{"code":404,"status":"NOT_FOUND","message":"no"}}`,
		"/v1internal:loadCodeAssist":   `{"error":{"code":404,"status":"NOT_FOUND","message":"no"}}`,
	} {
		got := protocols.Error(path, http.StatusNotFound, "no")
		require.True(t, json.Valid(got))
		assert.JSONEq(t, want, string(got), path)
	}
	for status, word := range map[int]string{403: "PERMISSION_DENIED", 408: "DEADLINE_EXCEEDED", 500: "UNKNOWN", 502: "UNAVAILABLE"} {
		assert.Contains(t, string(protocols.Error("/v1internal:loadCodeAssist", status, "no")), `"status":"`+word+`"`)
	}
}
