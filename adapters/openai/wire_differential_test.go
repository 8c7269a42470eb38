package openai_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/internal/quirks"
	"github.com/carryon-go/carryon/middleware"
)

func TestWrapAndTheWireGiveTheSameOfFailures(t *testing.T) {
	t.Parallel()
	for _, tt := range slices.Concat(failingTurns, failingStreams) {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, streamed := range []bool{true, false} {
				sameOnTheWire(t, streamed, playing(draft, tt.turn), atMost(1))
			}
		})
	}
}

func TestWrapAndTheWireGiveTheSameOfAnyScript(t *testing.T) {
	t.Parallel()
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 2)) //nolint:gosec // repeatable is what it has to be
			turns, _ := randomScript(r)
			for _, streamed := range []bool{true, false} {
				sameOnTheWire(t, streamed, playing(turns...), middleware.WithPauseTool(middleware.PauseToolMode(r.IntN(2))))
			}
		})
	}
}

func TestWrapAndTheWireGiveTheSameOfQuirks(t *testing.T) {
	t.Parallel()
	rows, compared := quirks.All(), 0
	for _, q := range rows {
		if strings.HasPrefix(q.Name, "Q60 audio") || !isReadable(t, q) {
			continue // the SDK knows nothing of audio
		}
		compared++
		t.Run(q.Slug(), func(t *testing.T) {
			t.Parallel()
			sameOnTheWire(t, !q.Unary, func(*testing.T) (http.RoundTripper, func() []string) {
				up := q.Upstream()
				return up, up.Asked
			}, atMost(1))
		})
	}
	assert.Greater(t, compared, len(rows)*4/5, "the SDK reads most of them")
}

// isReadable reports whether the SDK reads each of the row's answers as it is
// meant, but for the calls, which are the program's to put together.
func isReadable(t *testing.T, q quirks.Quirk) bool {
	t.Helper()
	turns, m := []quirks.Turn{q.First, q.Second}, typedStream
	if q.Effect == quirks.Relayed {
		turns = turns[:1]
	}
	if q.Unary {
		m = typedUnary
	}
	return !slices.ContainsFunc(turns, func(turn quirks.Turn) bool {
		var got answer
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // some turns never end
			defer cancel()
			up := &quirks.Upstream{Turns: []quirks.Turn{turn}, Unary: q.Unary}
			got = m.call(ctx, bare(configOf(carryontest.BaseURL, up)), ask())
		})
		var tokens int
		if got.Usage != nil {
			tokens = got.Usage.TotalTokens
		}
		means := turn.Means
		return got.Text != means.Text || got.Finish != means.Finish || tokens != int(means.Usage.Total) ||
			(got.Err == nil) != (means.Err == "")
	})
}
