package transport_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/scope"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// slowStore is a store that answers only once the model has the request.
type slowStore struct {
	continuation.Store

	sent chan struct{}
}

func (s slowStore) Update(ctx context.Context, key string, f func(continuation.State) continuation.State) error {
	<-s.sent
	return s.Store.Update(ctx, key, f)
}

// forwarded is a request in scope as a proxy forwards it: without GetBody.
func forwarded(t *testing.T, ctx context.Context, w way) *http.Request { //nolint:revive // t comes first in tests
	t.Helper()
	r := newRequest(t, continuation.WithSession(ctx, "s"), "http://test/v1", "")
	r.GetBody = nil
	r.Body, r.ContentLength = io.NopCloser(strings.NewReader(bodyOf(w.stream))), int64(len(bodyOf(w.stream)))
	return r
}

// The model gets the request before the store has answered. The result of the
// call is the same, and so is the time at which its first turn began.
func TestRequestIsSentEarly(t *testing.T) {
	t.Parallel()
	inBothWays(t, func(t *testing.T, w way) {
		synctest.Test(t, func(t *testing.T) {
			server := fakellm.NewServer(t, fakellm.Text(plan), edit())
			store := slowStore{continuation.NewMemoryStore(), make(chan struct{})}
			sent, start := 0, time.Now()
			base := roundTrip(func(r *http.Request) (*http.Response, error) {
				assert.True(t, scope.InLayer(r.Context()))
				if sent++; sent == 1 {
					<-time.After(100 * time.Millisecond)
					close(store.sent)
				}
				return server.Transport().RoundTrip(r)
			})
			var began []time.Duration
			mw := middleware.New(twoTodos, unhurried, middleware.WithEarlySend(), middleware.WithStore(store), middleware.WithObserver(
				middleware.Observer{TurnEnded: func(_ context.Context, e middleware.TurnEnded) {
					began = append(began, e.Times.Began.Sub(start))
				}}))
			ctx, outcomes := middleware.Capture(t.Context())
			got := readReply(transport.New(base, mw).RoundTrip(forwarded(t, ctx, w)))
			require.NoError(t, got.Err)
			assert.Equal(t, []string{`edit_file {"path":"parser.go"}`}, got.reading(t).Calls)
			assert.Equal(t, bodyOf(w.stream), string(server.Requests()[0].Body))
			outcome := outcomes.Last()
			assert.Equal(t, 1, outcome.Attempts)
			assert.True(t, outcome.Ended)
			assert.Equal(t, []time.Duration{0, 100 * time.Millisecond}, began)
		})
	})
}

// The time that the caller gives the answer begins when the request is sent, even if
// carryon looks at the request later: here too little is left for a continuation.
func TestTimeoutCountsFromAnEarlySend(t *testing.T) {
	t.Parallel()
	inBothWays(t, func(t *testing.T, w way) {
		synctest.Test(t, func(t *testing.T) {
			server := fakellm.NewServer(t, fakellm.Text(plan))
			sent := make(chan struct{})
			release := sync.OnceFunc(func() { close(sent) })
			base := roundTrip(func(r *http.Request) (*http.Response, error) {
				<-time.After(400 * time.Millisecond)
				release()
				<-time.After(200 * time.Millisecond)
				return server.Transport().RoundTrip(r)
			})
			mw := middleware.New(twoTodos, unhurried, middleware.WithEarlySend(), middleware.WithSessionKey(func(context.Context) string {
				<-sent
				return "s"
			}))
			ctx, outcomes := middleware.Capture(t.Context())
			r := forwarded(t, ctx, w)
			r.Header.Set("X-Stainless-Timeout", "1")
			require.NoError(t, readReply(transport.New(base, mw).RoundTrip(r)).Err)
			assert.Equal(t, continuation.ReasonDeadline, outcomes.Last().Reason)
		})
	})
}

// A call that carryon leaves alone, and one that fails, end in the same way.
func TestWhatComesOfARequestThatWasSentEarly(t *testing.T) {
	t.Parallel()
	failure := errors.New("the model is away")
	inBothWays(t, func(t *testing.T, w way) {
		for name, c := range map[string]struct {
			body string
			want continuation.Reason
			err  error
		}{
			"no tools":   {`{"model":"m","messages":[{"role":"user","content":"Hi"}]}`, continuation.ReasonNoTools, nil},
			"unreadable": {`{"model":`, continuation.ReasonUnreadable, nil},
			"failure":    {bodyOf(w.stream), continuation.ReasonBrokeOff, failure},
		} {
			base := roundTrip(func(r *http.Request) (*http.Response, error) {
				body, err := io.ReadAll(r.Body)
				require.NoError(t, err)
				assert.Equal(t, c.body, string(body), name)
				if c.err != nil {
					return nil, c.err
				}
				return answered(r, stalled), nil
			})
			ctx, outcomes := middleware.Capture(t.Context())
			r := newRequest(t, ctx, "http://test/v1", c.body)
			got := readReply(transport.New(base, middleware.New(twoTodos, middleware.WithEarlySend())).RoundTrip(r))
			require.ErrorIs(t, got.Err, c.err, name)
			if c.err == nil {
				assert.Equal(t, stalled, got.Body, name)
			}
			assert.Equal(t, c.want, outcomes.Last().Reason, name)
			assert.True(t, outcomes.Last().Ended, name)
		}
	})
}

// carryon must know its additions to the caller's own request before it sends
// the request.
func TestRequestWithAdditionsIsNotSentEarly(t *testing.T) {
	t.Parallel()
	inBothWays(t, func(t *testing.T, w way) {
		server := fakellm.NewServer(t, edit())
		mw := middleware.New(twoTodos, middleware.WithEarlySend(), middleware.WithPauseTool(middleware.PauseToolAlways))
		got := readReply(transport.New(server.Transport(), mw).RoundTrip(forwarded(t, t.Context(), w)))
		require.NoError(t, got.Err)
		assert.Contains(t, string(server.Requests()[0].Body), `"todo_pause"`)
	})
}

// A todo source that asks a model with a ctx of its own is known by its goroutine.
func TestRequestOfATodoSourceIsNotSentEarly(t *testing.T) {
	t.Parallel()
	server := fakellm.NewServer(t, fakellm.Text(plan), fakellm.Text(plan))
	var client http.RoundTripper
	asked := 0
	todos := todo.ProviderFunc(func(context.Context) ([]todo.Todo, error) {
		asked++
		ctx, outcomes := middleware.Capture(t.Context())
		got := readReply(client.RoundTrip(forwarded(t, ctx, way{})))
		assert.Empty(t, outcomes.All()) // it is nested, and the outer call is the one that is reported
		return nil, got.Err
	})
	client = transport.New(server.Transport(), middleware.New(todos, middleware.WithEarlySend()))
	require.NoError(t, readReply(client.RoundTrip(forwarded(t, t.Context(), way{}))).Err)
	assert.Equal(t, 1, asked)
}
