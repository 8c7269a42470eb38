package chatcompletions_test

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/testkit/faults"
	"github.com/carryon-go/carryon/internal/testkit/quirks"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
)

// An answer may fail at any byte and in any way: every client reads a correct answer or an error, and nothing is left
// open. In a bubble, a client that waits forever and a goroutine that does not end are deadlocks.
func TestAnswersThatFailAnywhere(t *testing.T) {
	t.Parallel()
	for _, framing := range slices.Concat(faults.Streams(), faults.Wholes()) {
		for _, client := range quirkClients() {
			t.Run(framing.Name+"/"+client.Name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					offsets := 0
					for _, drill := range faults.Drills(framing) {
						offsets += failEverywhere(t, drill, client)
					}
					t.Log(offsets, "offsets")
				})
			})
		}
	}
}

// failEverywhere plays a drill at its offsets for a client, and returns their number.
func failEverywhere(t *testing.T, d faults.Drill, client quirks.Client) int {
	t.Helper()
	understood := assert.ObjectsAreEqual(d.Means(), client.Read(t.Context(), d.Relayed(), d.Framing.Whole))
	offsets := d.Offsets(*wiretest.Sample)
	ctx := continuation.WithSession(t.Context(), "s")
	for _, at := range offsets {
		try := faults.Try{At: at, Understood: understood}
		if d.Turn == 1 {
			try.Without = client.Read(ctx, d.Upstream(at), d.Framing.Whole)
		}
		upstream, mw := d.Upstream(at), onceMore()
		shown := &copied{base: transport.New(upstream, mw)}
		try.Got = client.Read(ctx, shown, d.Framing.Whole)
		synctest.Wait()
		require.NoError(t, d.JudgeAll(try, upstream), client.Name)
		require.NotContains(t, shown.String(), quirkTask, "the prompt is shown")
		state, err := mw.State(ctx)
		require.NoError(t, err)
		require.False(t, state.Active, "the session is left active")
	}
	return len(offsets)
}

// copied is an [http.RoundTripper] that records the bytes that were read of its answer.
type copied struct {
	strings.Builder

	base http.RoundTripper
}

func (c *copied) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := c.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	response.Body = struct {
		io.Reader
		io.Closer
	}{io.TeeReader(response.Body, c), response.Body}
	return response, nil
}
