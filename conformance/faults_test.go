package conformance_test

import (
	"flag"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/faults"
	"github.com/carryon-go/carryon/middleware"
)

var everywhere = flag.Bool("everywhere", false, "have answers fail at every byte, and not only at a sample of them")

// sample is one in how many places that answers fail at.
func sample() int {
	if *everywhere {
		return 1
	}
	return 32
}

// patience is how long a continuation may cost that is silent: the longest of carryon's timeouts, and a little more.
const patience = continuation.DefaultFirstByteTimeout + 10*time.Second

// Wherever and however one of two answers fails, openai-go reads what it may rely on, and nothing is left behind.
func TestAnswersThatFailAnywhere(t *testing.T) {
	t.Parallel()
	for _, framing := range slices.Concat(faults.Streams(), faults.Wholes()) {
		t.Run(framing.Name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				places := 0
				for _, drill := range faults.Drills(framing) {
					places += failEverywhere(t, drill)
				}
				t.Log(places, "places")
			})
		})
	}
}

// failEverywhere plays a drill, and returns at how many places.
func failEverywhere(t *testing.T, d faults.Drill) int {
	t.Helper()
	alone := d.Plain() // the transport gives turn 2 the framing of its own
	if d.Turn == 1 {
		alone = d.Untouched()
	}
	understood := assert.ObjectsAreEqual(d.Means(), readOpenAIGo(t.Context(), alone, d.Framing.Whole))
	places := d.Places(sample())
	ctx := continuation.WithSession(t.Context(), "s")
	for _, at := range places {
		try := faults.Try{At: at, Understood: understood}
		if d.Turn == 1 {
			try.Bare = readOpenAIGo(ctx, d.Alone(at), d.Framing.Whole)
		}
		mw := newMiddleware(middleware.WithLimits(continuation.Limits{MaxAttempts: 1, MinInterval: continuation.Off}))
		upstream, began := d.Upstream(at), time.Now()
		try.Got = readOpenAIGo(ctx, transport.New(upstream, mw), d.Framing.Whole)
		try.Asked = upstream.Asked()
		synctest.Wait()
		require.NoError(t, d.Judge(try))
		require.Zero(t, upstream.Open(), "bodies left open")
		require.False(t, d.Turn == 2 && time.Since(began) > patience, "%s, after %d bytes: %v", d.Name, at, time.Since(began))
		state, err := mw.State(ctx)
		require.NoError(t, err)
		require.Zero(t, state.Claim, "the session is left active")
	}
	return len(places)
}
