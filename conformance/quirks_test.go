package conformance_test

import (
	"flag"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/testkit/quirks"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

var updateGoldens = flag.Bool("update", false, "write the goldens of the quirk table")

// carryOnce puts the transport in front of an upstream. Every call is continued once, without waiting.
func carryOnce(base http.RoundTripper) http.RoundTripper {
	return transport.New(base, newMiddleware(middleware.WithLimits(
		continuation.Limits{MaxAttempts: 1, MinInterval: continuation.Off})))
}

// newMiddleware returns a middleware with a todo that is never done, no interval between prompts, and nobody who watches:
// it does not matter how a text ends.
func newMiddleware(opts ...middleware.Option) *middleware.Middleware {
	todos := todo.Static(todo.Todo{ID: "1", Content: "Write the parser", Status: todo.Pending})
	unhurried := middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off, MaxAttempts: 3})
	unattended := middleware.WithApprovalMode(continuation.ApprovalYOLO)
	return middleware.New(todos, append([]middleware.Option{unhurried, unattended}, opts...)...)
}

// For every row of the quirk table, the SDK reads what the row says.
func TestQuirksAreReadWell(t *testing.T) {
	t.Parallel()
	goldens := quirks.Goldens{Dir: filepath.Join("..", "internal", "testkit", "quirks", "testdata"), Update: *updateGoldens}
	for _, q := range quirks.All() {
		t.Run(q.Slug(), func(t *testing.T) {
			t.Parallel()
			readings := q.Read(t.Context(), openaiGo, carryOnce)
			require.NoError(t, q.Judge(quirks.OpenAIGo, readings))
			require.NoError(t, goldens.Check(q.Slug()+"."+quirks.OpenAIGo+".txt", q.Golden(readings)))
		})
	}
	stale, err := goldens.Stale("." + quirks.OpenAIGo + ".txt")
	require.NoError(t, err)
	assert.Empty(t, stale, "goldens without a row")
}

// The accumulator silently drops chunks that do not fit the earlier ones. It refuses no more chunks of a joined stream
// than of the two streams alone.
func TestNoChunkOfAJoinedStreamIsRefused(t *testing.T) {
	t.Parallel()
	for _, q := range quirks.All() {
		if q.Unary {
			continue
		}
		t.Run(q.Slug(), func(t *testing.T) {
			t.Parallel()
			alone := refused(t, &quirks.Upstream{Turns: []quirks.Turn{q.First}})
			if q.Effect != quirks.Relayed {
				alone += refused(t, &quirks.Upstream{Turns: []quirks.Turn{q.Second}})
			}
			assert.LessOrEqual(t, refused(t, carryOnce(q.Upstream())), alone)
		})
	}
}

// refused returns how many chunks of a stream the accumulator refuses.
func refused(t *testing.T, rt http.RoundTripper) int {
	t.Helper()
	_, chunks, _ := accumulate(t.Context(), official(rt)) // whatever error ends the stream
	return chunks
}
