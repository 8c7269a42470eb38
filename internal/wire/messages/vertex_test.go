package messages_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
)

// onVertex sends requests for Vertex AI to the scripted server's Messages.
func onVertex(server *fakellm.Server) wiretest.RoundTrip {
	return func(r *http.Request) (*http.Response, error) {
		r = r.Clone(r.Context())
		r.URL.Path = "/v1/messages"
		return server.Transport().RoundTrip(r)
	}
}

// Claude on Vertex AI takes Messages without a model, at a path that names the model.
func TestMessagesOnVertexAreContinued(t *testing.T) {
	t.Parallel()
	wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) {
		t.Helper()
		server := fakellm.NewServer(t, fakellm.Text(wiretest.Plan), wiretest.Edit())
		s := wiretest.Upstream{Server: server, Base: onVertex(server), URL: fakellm.BaseURL}.NewScene(t, wiretest.TwoTodos)
		verb, stream := ":rawPredict", ""
		if w.Stream {
			verb, stream = ":streamRawPredict", `,"stream":true`
		}
		r := s.Request(t, `{"anthropic_version":"vertex-2023-10-16","max_tokens":100,"messages":[{"role":"user","content":"Go."}],`+
			`"tools":[{"name":"edit_file","input_schema":{"type":"object"}}]`+stream+`}`)
		r.URL.Path = "/v1/projects/p/locations/global/publishers/anthropic/models/claude-opus-5-5" + verb
		got := s.Send(t, r)
		assert.Equal(t, 2, got.Outcome.Turns)
		assert.Contains(t, got.Body, "edit_file")
		assert.Contains(t, s.Wire.Bodies()[1], `"anthropic_version":"vertex-2023-10-16"`)
	})
}

// Other publishers' models have the same paths, and other requests.
func TestOtherModelsOnVertexPass(t *testing.T) {
	t.Parallel()
	server := fakellm.NewServer(t, fakellm.Text(wiretest.Plan))
	s := wiretest.Upstream{Server: server, Base: onVertex(server), URL: fakellm.BaseURL}.NewScene(t, wiretest.TwoTodos)
	r := s.Request(t, `{"messages":[{"role":"user","content":"Go."}],"tools":[{"type":"function","function":{"name":"f"}}]}`)
	r.URL.Path = "/v1/projects/p/locations/global/publishers/mistralai/models/m:rawPredict"
	assert.Equal(t, reasons.Path, s.Send(t, r).Outcome.Reason)
}
