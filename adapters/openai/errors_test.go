package openai_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/scenario"
)

// reportedIn returns what the provider reported. The error is the SDK's, or the transport's where no SDK reads the
// continuation.
func reportedIn(t *testing.T, m scenario.Mode, err error) (message, code string) {
	t.Helper()
	if m.OnWire() {
		var reported *transport.ProviderError
		require.ErrorAs(t, err, &reported)
		return reported.Message, reported.Code
	}
	var reported *openai.APIError
	require.ErrorAs(t, err, &reported)
	code, _ = reported.Code.(string)
	return reported.Message, code
}

func TestErrorOfAContinuationCanBeInspected(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.AllModes(), func(t *testing.T, m scenario.Mode) {
		t.Run("of the provider", func(t *testing.T) {
			t.Parallel()
			s := scenario.New(t, m, scenario.TwoTodos())
			failure := scenario.Failure(http.StatusServiceUnavailable)
			got := s.Ask(fakellm.Text("One:"), failure, failure, failure)
			message, code := reportedIn(t, m, got.Outcome.Err)
			assert.Equal(t, "the secret of the provider", message)
			assert.Equal(t, "oops", code)
			var status *adapter.StatusError
			require.ErrorAs(t, got.Outcome.Err, &status)
			assert.Equal(t, http.StatusServiceUnavailable, status.Status)
		})
		t.Run("of a proxy", func(t *testing.T) {
			t.Parallel()
			s := scenario.New(t, m, scenario.TwoTodos())
			failure := fakellm.Status(http.StatusBadGateway, "<html>")
			got := s.Ask(fakellm.Text("One:"), failure, failure, failure)
			var status *adapter.StatusError
			require.ErrorAs(t, got.Outcome.Err, &status)
			assert.Equal(t, http.StatusBadGateway, status.Status)
			if m.OnWire() {
				return
			}
			var request *openai.RequestError
			require.ErrorAs(t, got.Outcome.Err, &request)
			assert.Equal(t, http.StatusBadGateway, request.HTTPStatusCode)
		})
		t.Run("of the transport", func(t *testing.T) {
			t.Parallel()
			gone := errors.New("no route")
			s := scenario.New(t, m, scenario.TwoTodos())
			s.Transport.Base = scenario.RoundTripFunc(func(r *http.Request) (*http.Response, error) {
				if _, ok := continuation.FromContext(r.Context()); ok {
					return nil, gone
				}
				return http.DefaultTransport.RoundTrip(r)
			})
			got := s.Ask(fakellm.Text("One:"))
			scenario.RequireComplete(t, m, got, "One:", "stop")
			require.ErrorIs(t, got.Outcome.Err, gone)
			assert.Equal(t, decision.ResultTransport, s.State(t).LastResult)
		})
	})
}

func TestErrorEventOfAContinuationCanBeInspected(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.StreamModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos())
		got := s.Ask(fakellm.Text("One:"), fakellm.Text("Two:").ErrorAfter(2, "overloaded"))
		message, _ := reportedIn(t, m, got.Outcome.Err)
		assert.Equal(t, "overloaded", message)
	})
}

func TestErrorEventInTheCallersToolCallIsReturned(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.StreamModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos())
		got := s.Ask(fakellm.Text("One:"), scenario.Edit().ErrorAfter(3, "overloaded"))
		var reported *openai.APIError // the SDK reads the provider's own words
		require.ErrorAs(t, got.Err, &reported)
		assert.Equal(t, "overloaded", reported.Message)
		assert.Empty(t, got.Finish)
	})
}
