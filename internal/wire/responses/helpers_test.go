package responses_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/middleware"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// playOver plays streams over a connection, one for each request, and returns
// what a client reads of the joined answer, and the error that ended it.
func playOver(t *testing.T, turns ...string) (string, error) {
	t.Helper()
	return playBody(t, responsesBody(true), turns...)
}

// playBody is playOver for a request of another kind.
func playBody(t *testing.T, body string, turns ...string) (string, error) {
	t.Helper()
	return play(t, body, wiretest.OneContinuation(wiretest.TwoTodos), turns...)
}

// playPaused is playBody for a request that offers todo_pause.
func playPaused(t *testing.T, turn string) string {
	t.Helper()
	got, err := play(t, responsesBody(true), wiretest.OneContinuation(wiretest.TwoTodos, middleware.WithPauseTool(middleware.PauseToolAlways)), turn)
	require.NoError(t, err)
	return got
}

func play(t *testing.T, body string, mw *middleware.Middleware, turns ...string) (string, error) {
	t.Helper()
	all := make([]fakellm.Turn, 0, len(turns))
	for _, turn := range turns {
		all = append(all, fakellm.Raw(turn))
	}
	last := all[len(all)-1]
	all = append(all, last, last) // a continuation that shows nothing is tried again
	server, base := fakellm.NewServer(t, all...), new(http.Transport)
	defer base.CloseIdleConnections()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL()+"/responses", strings.NewReader(body))
	require.NoError(t, err)
	got := wiretest.ReadReply(transport.New(base, mw).RoundTrip(r))
	require.Equal(t, http.StatusOK, got.Status)
	return got.Body, got.Err
}
