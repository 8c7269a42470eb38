package transport_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
)

// onVertex sends requests for Vertex AI to the scripted server's Messages.
func onVertex(server *fakellm.Server) roundTrip {
	return func(r *http.Request) (*http.Response, error) {
		r = r.Clone(r.Context())
		r.URL.Path = "/v1/messages"
		return server.Transport().RoundTrip(r)
	}
}

// Claude on Vertex AI takes Messages without a model, at a path that names the model.
func TestMessagesOnVertexAreContinued(t *testing.T) {
	t.Parallel()
	inBothWays(t, func(t *testing.T, w way) {
		t.Helper()
		server := fakellm.NewServer(t, fakellm.Text(plan), edit())
		s := sceneOf(t, server, onVertex(server), fakellm.BaseURL, twoTodos)
		verb, stream := ":rawPredict", ""
		if w.stream {
			verb, stream = ":streamRawPredict", `,"stream":true`
		}
		r := s.request(t, `{"anthropic_version":"vertex-2023-10-16","max_tokens":100,"messages":[{"role":"user","content":"Go."}],`+
			`"tools":[{"name":"edit_file","input_schema":{"type":"object"}}]`+stream+`}`)
		r.URL.Path = "/v1/projects/p/locations/global/publishers/anthropic/models/claude-opus-5-5" + verb
		got := s.send(t, r)
		assert.Equal(t, 2, got.Outcome.Turns)
		assert.Contains(t, got.Body, "edit_file")
		assert.Contains(t, s.wire.bodies()[1], `"anthropic_version":"vertex-2023-10-16"`)
	})
}

// Other publishers' models have the same paths, and other requests.
func TestOtherModelsOnVertexPass(t *testing.T) {
	t.Parallel()
	server := fakellm.NewServer(t, fakellm.Text(plan))
	s := sceneOf(t, server, onVertex(server), fakellm.BaseURL, twoTodos)
	r := s.request(t, `{"messages":[{"role":"user","content":"Go."}],"tools":[{"type":"function","function":{"name":"f"}}]}`)
	r.URL.Path = "/v1/projects/p/locations/global/publishers/mistralai/models/m:rawPredict"
	assert.Equal(t, continuation.ReasonPath, s.send(t, r).Outcome.Reason)
}
