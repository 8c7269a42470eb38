package fakellm_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/testkit/fakellm"
)

func send(ctx context.Context, t *testing.T, s *fakellm.Server, body string) (*http.Response, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, fakellm.BaseURL+"/chat/completions", strings.NewReader(body))
	require.NoError(t, err)
	return s.Transport().RoundTrip(r)
}

func TestTransportAnswersLikeANetwork(t *testing.T) {
	s := fakellm.NewServer(t, fakellm.Text("hi").NoUsage(), fakellm.Text("hi"))
	response, err := send(t.Context(), t, s, `{"model":"m"}`)
	require.NoError(t, err)
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())

	assert.Equal(t, "200 OK", response.Status)
	assert.Equal(t, "HTTP/1.1", response.Proto)
	assert.EqualValues(t, len(body), response.ContentLength)
	assert.Equal(t, "/v1/chat/completions", response.Request.URL.Path)
	_, err = response.Body.Read(make([]byte, 1))
	require.ErrorIs(t, err, http.ErrBodyReadAfterClose)
	require.NoError(t, response.Body.Close())

	response, err = send(t.Context(), t, s, `{"stream":true}`)
	require.NoError(t, err)
	defer response.Body.Close()
	assert.EqualValues(t, -1, response.ContentLength)
	assert.Equal(t, "/v1/chat/completions", s.Requests()[1].Path)
}

func TestTransportWritesAsTheClientReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		s := fakellm.NewServer(t, fakellm.Raw("first", "second").GateAfter(2, gate))
		response, err := send(t.Context(), t, s, "{}")
		require.NoError(t, err)

		buffer := make([]byte, 3)
		for _, want := range []string{"fir", "st", "sec", "ond"} {
			n, err := response.Body.Read(buffer)
			require.NoError(t, err)
			assert.Equal(t, want, string(buffer[:n]))
		}
		close(gate)
		_, err = response.Body.Read(buffer)
		require.ErrorIs(t, err, io.EOF)
		require.NoError(t, response.Body.Close())
	})
}

func TestTransportGivesTheCauseOfTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("the user left")
		s := fakellm.NewServer(t, fakellm.Text("x").Hang(), fakellm.Text("x").HangAfter(0))
		for range 2 {
			ctx, cancel := context.WithCancelCause(t.Context())
			go func() {
				synctest.Wait()
				cancel(cause)
			}()
			response, err := send(ctx, t, s, `{"stream":true}`)
			if err == nil {
				_, err = io.ReadAll(response.Body)
				require.NoError(t, response.Body.Close())
			}
			require.ErrorIs(t, err, cause)
		}
	})
}

func TestTransportWithABodyReadByNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fakellm.NewServer(t, fakellm.Text("x"), fakellm.Text("x"))
		response, err := send(t.Context(), t, s, "{}")
		require.NoError(t, err)
		synctest.Wait()
		require.NoError(t, response.Body.Close())

		response, err = send(t.Context(), t, s, "{}")
		require.NoError(t, err)
		s.Close()
		_, err = io.ReadAll(response.Body)
		require.ErrorContains(t, err, "carryontest: server closed")
		require.NoError(t, response.Body.Close())
	})
}

func TestTransportNoticesAnAnswerShorterThanDeclared(t *testing.T) {
	s := fakellm.NewServer(t, fakellm.Text("x").Header("Content-Length", "9999"))
	response, err := send(t.Context(), t, s, "{}")
	require.NoError(t, err)
	assert.EqualValues(t, 9999, response.ContentLength)
	_, err = io.ReadAll(response.Body)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.NoError(t, response.Body.Close())
}

func TestTransportAfterTheContext(t *testing.T) {
	s := fakellm.NewServer(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	response, err := send(ctx, t, s, "{}") //nolint:bodyclose // there is none
	assert.Nil(t, response)
	require.ErrorIs(t, err, context.Canceled)
}

func TestTransportSurvivesAPanicOfTheScript(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fakellm.NewServer(t,
			fakellm.Func(func(fakellm.Request) fakellm.Turn { panic("oops") }),
			fakellm.Func(func(fakellm.Request) fakellm.Turn { runtime.Goexit(); return fakellm.Turn{} }),
		)
		response, err := send(t.Context(), t, s, "{}") //nolint:bodyclose // there is none
		assert.Nil(t, response)
		require.ErrorContains(t, err, "carryontest: handler panicked: oops")
		response, err = send(t.Context(), t, s, "{}") //nolint:bodyclose // there is none
		assert.Nil(t, response)
		require.ErrorIs(t, err, io.EOF)
	})
}

func TestTransportClosesTheRequest(t *testing.T) {
	s := fakellm.NewServer(t, fakellm.Text("x"))
	broken := &brokenBody{}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, fakellm.BaseURL+"/chat/completions", broken)
	require.NoError(t, err)
	response, err := s.Transport().RoundTrip(r) //nolint:bodyclose // there is none
	assert.Nil(t, response)
	require.ErrorIs(t, err, errBroken)
	assert.True(t, broken.closed)
	assert.Empty(t, s.Requests())
}

func TestTransportWithoutABody(t *testing.T) {
	s := fakellm.NewServer(t)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fakellm.BaseURL+"/models", http.NoBody)
	require.NoError(t, err)
	r.Body = nil
	response, err := s.Transport().RoundTrip(r)
	require.NoError(t, err)
	assert.Equal(t, http.StatusNotFound, response.StatusCode)
	require.NoError(t, response.Body.Close())
}

var errBroken = errors.New("broken body")

type brokenBody struct{ closed bool }

func (*brokenBody) Read([]byte) (int, error) { return 0, errBroken }

func (b *brokenBody) Close() error {
	b.closed = true
	return nil
}
