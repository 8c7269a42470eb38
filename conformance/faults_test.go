package conformance_test

import (
	"flag"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/testkit/faults"
	"github.com/carryon-go/carryon/middleware"
)

var sample = flag.Int("sample", 32, "break answers at one in this many offsets; 1: at every byte")

// Wherever and however one of two answers fails, openai-go gets a correct result, and no resource leaks.
func TestAnswersThatFailAnywhere(t *testing.T) {
	t.Parallel()
	for _, framing := range slices.Concat(faults.Streams(), faults.Wholes()) {
		t.Run(framing.Name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				offsets := 0
				for _, drill := range faults.Drills(framing) {
					offsets += failEverywhere(t, drill)
				}
				t.Log(offsets, "offsets")
			})
		})
	}
}

// failEverywhere runs a drill, and returns the number of offsets.
func failEverywhere(t *testing.T, d faults.Drill) int {
	t.Helper()
	understood := assert.ObjectsAreEqual(d.Means(), readOpenAIGo(t.Context(), d.Relayed(), d.Framing.Whole))
	offsets := d.Offsets(*sample)
	ctx := continuation.WithSession(t.Context(), "s")
	for _, at := range offsets {
		try := faults.Try{At: at, Understood: understood}
		if d.Turn == 1 {
			try.Without = readOpenAIGo(ctx, d.Alone(at), d.Framing.Whole)
		}
		mw := newMiddleware(middleware.WithLimits(continuation.Limits{MaxAttempts: 1, MinInterval: continuation.Off}))
		upstream := d.Upstream(at)
		try.Got = readOpenAIGo(ctx, transport.New(upstream, mw), d.Framing.Whole)
		synctest.Wait()
		require.NoError(t, d.JudgeAll(try, upstream))
		state, err := mw.State(ctx)
		require.NoError(t, err)
		require.False(t, state.Active, "the session is left active")
	}
	return len(offsets)
}
