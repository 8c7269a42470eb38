package transport_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/scope"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/middleware"
)

// Capture gets an outcome of every exchange, including those that carryon does
// not read.
func TestExchangeThatIsLeftAloneHasAnOutcome(t *testing.T) {
	t.Parallel()
	const path = "https://api.example.com/v1/chat/completions"
	post := func(t *testing.T, url, body string, header ...string) *http.Request {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/json")
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		return r
	}
	for name, c := range map[string]struct {
		request func(t *testing.T) *http.Request
		want    continuation.Reason
		code    string
		text    string
	}{
		"path": {
			func(t *testing.T) *http.Request { return post(t, "https://api.example.com/v1/embeddings", "{}") },
			reasons.Path, "path", "The path is of no protocol that carryon speaks",
		},
		"method": {
			func(t *testing.T) *http.Request {
				r := post(t, path, "{}")
				r.Method = http.MethodPut
				return r
			},
			reasons.Method, "method", "The request is not a POST",
		},
		"no body": {
			func(t *testing.T) *http.Request {
				r := post(t, path, "")
				r.Body = http.NoBody
				return r
			},
			reasons.NoBody, "no_body", "The request has no body",
		},
		"content type": {
			func(t *testing.T) *http.Request { return post(t, path, "{}", "Content-Type", "text/plain") },
			reasons.ContentType, "content_type", "The content type of the request is not JSON",
		},
		"encoding": {
			func(t *testing.T) *http.Request { return post(t, path, "{}", "Content-Encoding", "gzip") },
			reasons.Encoded, "encoded", "The body of the request is encoded",
		},
		"announced as too large": {
			func(t *testing.T) *http.Request {
				r := post(t, path, "{}")
				r.ContentLength = transport.MaxBody + 1
				return r
			},
			reasons.TooLarge, "too_large", "The body of the request is too large",
		},
		"too large": {
			func(t *testing.T) *http.Request {
				r := post(t, path, "")
				r.Body, r.GetBody, r.ContentLength = io.NopCloser(&endless{' ', transport.MaxBody + 1}), nil, -1
				return r
			},
			reasons.TooLarge, "too_large", "The body of the request is too large",
		},
		"signed": {
			func(t *testing.T) *http.Request {
				return post(t, path, "{}", "Authorization", "AWS4-HMAC-SHA256 Credential=x")
			},
			reasons.Signed, "signed", "The request carries a signature of its body",
		},
		"not JSON": {
			func(t *testing.T) *http.Request { return post(t, path, `{"model":`) },
			reasons.Unreadable, "unreadable", "The body of the request could not be read",
		},
		"a body that fails": {
			func(t *testing.T) *http.Request {
				r := post(t, path, "")
				r.Body, r.GetBody, r.ContentLength = io.NopCloser(iotest.ErrReader(errors.New("torn"))), nil, -1
				return r
			},
			reasons.Unreadable, "unreadable", "The body of the request could not be read",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			events := carryontest.NewRecorder()
			rt := transport.New(answering{}, middleware.New(wiretest.TwoTodos, middleware.WithObserver(events.Observer())))
			request := c.request(t)
			ctx, outcomes := middleware.Capture(continuation.WithSession(request.Context(), "s"))
			response, err := rt.RoundTrip(request.WithContext(ctx))
			if err == nil {
				require.NoError(t, response.Body.Close())
			}

			require.Len(t, outcomes.All(), 1)
			assert.Equal(t, middleware.Outcome{Session: "s", Turns: 1, Reason: c.want, Ended: true}, outcomes.Last())
			assert.Equal(t, c.code, outcomes.Last().Reason.Code())
			assert.Equal(t, "1 turn, 0 continuations: "+c.text, outcomes.Last().String())
			assert.Empty(t, events.Events(), "events are about calls of models")
		})
	}
}

// The outer layer reports calls inside it.
func TestExchangeInsideAnotherLayerHasNoOutcome(t *testing.T) {
	t.Parallel()
	ctx, outcomes := middleware.Capture(t.Context())
	request, err := http.NewRequestWithContext(scope.EnterLayer(ctx), http.MethodGet, "https://api.example.com/v1/models", nil)
	require.NoError(t, err)
	response, err := transport.New(answering{}, middleware.New(wiretest.TwoTodos)).RoundTrip(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	assert.Empty(t, outcomes.All())
}

// answering is a transport that reads nothing and answers.
type answering struct{}

func (answering) RoundTrip(r *http.Request) (*http.Response, error) {
	return wiretest.Answered(r, stalled), nil
}
