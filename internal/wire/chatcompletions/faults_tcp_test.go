package chatcompletions_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/testkit/faults"
	"github.com/carryon-go/carryon/internal/testkit/quirks"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
)

// On a real connection, a reset is a reset of TCP.
func TestConnectionsThatAreReset(t *testing.T) {
	t.Parallel()
	for _, drills := range faults.Resets() {
		for _, client := range quirkClients() {
			t.Run(drills[0].Framing.Name+"/"+client.Name, func(t *testing.T) {
				t.Parallel()
				base := new(http.Transport)
				t.Cleanup(base.CloseIdleConnections)
				for _, drill := range drills {
					understood := assert.ObjectsAreEqual(drill.Means(), client.Read(t.Context(), drill.Relayed(), drill.Framing.Whole))
					for _, at := range drill.Offsets(8) {
						resetAt(t, drill, client, base, faults.Try{At: at, Understood: understood})
					}
				}
			})
		}
	}
}

// resetAt plays a drill over HTTP.
func resetAt(t *testing.T, d faults.Drill, client quirks.Client, base http.RoundTripper, try faults.Try) {
	t.Helper()
	upstream, mw := d.Upstream(try.At), onceMore()
	server := httptest.NewServer(upstream)
	defer server.Close()
	counted := &wiretest.Tap{Base: to(base, server)}
	ctx := continuation.WithSession(t.Context(), "s")
	try.Got = client.Read(ctx, transport.New(counted, mw), d.Framing.Whole)
	try.Asked = upstream.Asked()
	require.NoError(t, d.JudgeReset(try, nil), client.Name)
	state, err := mw.State(ctx)
	require.NoError(t, err)
	require.False(t, state.Active, "the session is left active")
	require.Zero(t, counted.Open(), "bodies left open")
}

// to sends everything to a server.
func to(base http.RoundTripper, server *httptest.Server) http.RoundTripper {
	return wiretest.RoundTrip(func(r *http.Request) (*http.Response, error) {
		out := r.Clone(r.Context())
		out.URL.Host = server.Listener.Addr().String()
		return base.RoundTrip(out)
	})
}
