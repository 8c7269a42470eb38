package quirks_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/testkit/quirks"
)

// ask sends a request to an upstream.
func ask(ctx context.Context, t *testing.T, u *quirks.Upstream, body string) (*http.Response, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://upstream.test/", strings.NewReader(body))
	require.NoError(t, err)
	return u.RoundTrip(r)
}

func TestUpstreamAnswersInOrder(t *testing.T) {
	t.Parallel()
	refused := errors.New("refused")
	u := &quirks.Upstream{Turns: []quirks.Turn{
		{Head: "one", Tail: "!"},
		{Head: "two", Type: "text/plain", Encoding: "gzip", Status: http.StatusTeapot, Length: true},
		{Fault: refused},
	}}
	r, err := ask(t.Context(), t, u, "a")
	require.NoError(t, err)
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	assert.Equal(t, "one!", string(b))
	assert.Equal(t, http.StatusOK, r.StatusCode)
	assert.Equal(t, http.Header{"Content-Type": {"text/event-stream"}, "X-Request-Id": {"request-1"}}, r.Header)
	assert.EqualValues(t, -1, r.ContentLength)

	r, err = ask(t.Context(), t, u, "b")
	require.NoError(t, err)
	defer r.Body.Close()
	assert.Equal(t, http.StatusTeapot, r.StatusCode)
	assert.Equal(t, http.Header{
		"Content-Type": {"text/plain"}, "Content-Encoding": {"gzip"}, "Content-Length": {"3"}, "X-Request-Id": {"request-2"},
	}, r.Header)
	assert.EqualValues(t, 3, r.ContentLength)

	_, err = ask(t.Context(), t, u, "c") //nolint:bodyclose // there is no answer
	require.ErrorIs(t, err, refused)
	_, err = ask(t.Context(), t, u, "d") //nolint:bodyclose // there is no answer
	require.ErrorIs(t, err, quirks.ErrNotAsked)
	assert.Equal(t, []string{"a", "b", "c", "d"}, u.Asked())
}

func TestUpstreamBodiesEndAsSaid(t *testing.T) {
	t.Parallel()
	body := func(turn quirks.Turn, readSize int) io.ReadCloser {
		r, err := ask(t.Context(), t, &quirks.Upstream{Turns: []quirks.Turn{turn}, ReadSize: readSize, Unary: true}, "")
		require.NoError(t, err)
		assert.Equal(t, "application/json", r.Header.Get("Content-Type"))
		t.Cleanup(func() { assert.NoError(t, r.Body.Close()) })
		return r.Body
	}
	n, err := body(quirks.Turn{Head: "four"}, 3).Read(make([]byte, 10))
	require.NoError(t, err)
	assert.Equal(t, 3, n)

	b, err := io.ReadAll(body(quirks.Turn{Head: "cut", Cut: true}, 0))
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	assert.Equal(t, "cut", string(b))

	open := body(quirks.Turn{Head: "open", Open: true}, 0)
	n, err = open.Read(make([]byte, 10))
	require.NoError(t, err)
	assert.Equal(t, 4, n)
	ended := make(chan error)
	go func() {
		_, err := open.Read(make([]byte, 10))
		ended <- err
	}()
	require.NoError(t, open.Close())
	assert.Error(t, <-ended)
}
