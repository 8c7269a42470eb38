package conformance_test

import (
	"context"
	"flag"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	carryopenai "github.com/carryon-go/carryon/adapters/openai"
	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/faults"
	"github.com/carryon-go/carryon/internal/quirks"
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

// way is a client with carryon in it.
type way struct {
	name    string
	bare    quirks.Client
	onWire  bool // it reads turn 2 in the framing that the transport gives it, and else as it came
	carried func(ctx context.Context, upstream http.RoundTripper, mw *middleware.Middleware, unary bool) quirks.Reading
}

func ways() []way {
	return []way{
		{"openai-go", openaiGo, true, func(
			ctx context.Context, upstream http.RoundTripper, mw *middleware.Middleware, unary bool,
		) quirks.Reading {
			return readOpenAIGo(ctx, transport.New(upstream, mw), unary)
		}},
		{"decorator of go-openai", goOpenAI, false, func(
			ctx context.Context, upstream http.RoundTripper, mw *middleware.Middleware, unary bool,
		) quirks.Reading {
			return askTyped(ctx, carryopenai.Wrap(goOpenAIClient(carryontest.BaseURL, upstream), mw), unary)
		}},
	}
}

// Wherever and however one of two answers fails, the client reads what it may rely on, and nothing is left behind.
func TestAnswersThatFailAnywhere(t *testing.T) {
	t.Parallel()
	for _, framing := range slices.Concat(faults.Streams(), faults.Wholes()) {
		for _, w := range ways() {
			t.Run(framing.Name+"/"+w.name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					places := 0
					for _, drill := range faults.Drills(framing) {
						places += w.failEverywhere(t, drill)
					}
					t.Log(places, "places")
				})
			})
		}
	}
}

// failEverywhere plays a drill, and returns at how many places.
func (w way) failEverywhere(t *testing.T, d faults.Drill) int {
	t.Helper()
	alone := d.Untouched()
	if w.onWire && d.Turn == 2 {
		alone = d.Plain()
	}
	understood := assert.ObjectsAreEqual(d.Means(), w.bare.Read(t.Context(), alone, d.Framing.Whole))
	places := d.Places(sample())
	ctx := continuation.WithSession(t.Context(), "s")
	for _, at := range places {
		try := faults.Try{At: at, Understood: understood}
		if d.Turn == 1 {
			try.Bare = w.bare.Read(ctx, d.Upstream(at), d.Framing.Whole)
		}
		mw := newMiddleware(middleware.WithLimits(continuation.Limits{MaxAttempts: 1, MinInterval: continuation.Off}))
		upstream, began := d.Upstream(at), time.Now()
		try.Got = w.carried(ctx, upstream, mw, d.Framing.Whole)
		try.Asked = upstream.Asked()
		synctest.Wait()
		require.NoError(t, d.Judge(try), w.name)
		require.Zero(t, upstream.Open(), "bodies left open")
		require.False(t, d.Turn == 2 && time.Since(began) > patience, "%s, after %d bytes: %v", d.Name, at, time.Since(began))
		state, err := mw.State(ctx)
		require.NoError(t, err)
		require.Zero(t, state.Claim, "the session is left active")
	}
	return len(places)
}
