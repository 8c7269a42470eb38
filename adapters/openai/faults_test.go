package openai_test

import (
	"context"
	"flag"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	carryopenai "github.com/carryon-go/carryon/adapters/openai"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/faults"
	"github.com/carryon-go/carryon/internal/quirks"
	"github.com/carryon-go/carryon/middleware"
)

var sample = flag.Int("sample", 16, "have answers fail at one in so many places; 1 is every byte")

// Wherever and however one of two answers fails, a program reads what it may rely on, and nothing is left behind.
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
	understood := understands(t, d)
	places := d.Places(*sample)
	ctx := continuation.WithSession(t.Context(), "s")
	for _, at := range places {
		try := faults.Try{At: at, Understood: understood}
		if d.Turn == 1 {
			try.Bare = readAs(ctx, d, bare(configOf(carryontest.BaseURL, d.Alone(at))))
		}
		mw := middleware.New(twoTodos, atMost(1))
		upstream := d.Upstream(at)
		try.Got = readAs(ctx, d, wrapped(configOf(carryontest.BaseURL, upstream), mw))
		synctest.Wait()
		require.NoError(t, d.JudgeAll(try, upstream))
		requireIdle(ctx, t, mw)
	}
	return len(places)
}

// On a real connection, a reset is one of TCP's.
func TestConnectionsThatAreReset(t *testing.T) {
	t.Parallel()
	for _, drills := range faults.Resets() {
		t.Run(drills[0].Framing.Name, func(t *testing.T) {
			t.Parallel()
			base := new(http.Transport)
			t.Cleanup(base.CloseIdleConnections)
			for _, drill := range drills {
				understood := understands(t, drill)
				for _, at := range drill.Places(8) {
					resetAt(t, drill, base, faults.Try{At: at, Understood: understood})
				}
			}
		})
	}
}

// resetAt plays a drill over HTTP.
func resetAt(t *testing.T, d faults.Drill, base http.RoundTripper, try faults.Try) {
	t.Helper()
	upstream, mw := d.Upstream(try.At), middleware.New(twoTodos, atMost(1))
	server := httptest.NewServer(upstream)
	defer server.Close()
	ctx := continuation.WithSession(t.Context(), "s")
	try.Got = readAs(ctx, d, wrapped(configOf(server.URL, base), mw))
	try.Asked = upstream.Asked()
	require.NoError(t, d.JudgeReset(try, nil))
	requireIdle(ctx, t, mw)
}

// understands reports whether the SDK reads the answer that fails as it is meant, when it does not fail.
func understands(t *testing.T, d faults.Drill) bool {
	t.Helper()
	return assert.ObjectsAreEqual(d.Means(), readAs(t.Context(), d, bare(configOf(carryontest.BaseURL, d.Untouched()))))
}

func requireIdle(ctx context.Context, t *testing.T, mw *middleware.Middleware) {
	t.Helper()
	state, err := mw.State(ctx)
	require.NoError(t, err)
	require.Zero(t, state.Claim, "the session is left active")
}

// wrapped returns a client that Wrap makes.
func wrapped(config openai.ClientConfig, mw *middleware.Middleware) client {
	return clientOf(carryopenai.Wrap(openai.NewClientWithConfig(config), mw))
}

// readAs has a client read answers of the kind that is drilled.
func readAs(ctx context.Context, d faults.Drill, c client) quirks.Reading {
	a := mode{streamed: !d.Framing.Whole}.call(ctx, c, ask())
	r := quirks.Reading{Text: a.Text, Finish: a.Finish, Err: quirks.Problem(a.Err)}
	if a.Usage != nil {
		r.Usage = quirks.Usage{
			Prompt: int64(a.Usage.PromptTokens), Completion: int64(a.Usage.CompletionTokens), Total: int64(a.Usage.TotalTokens),
		}
	}
	for _, call := range a.Calls {
		r.Calls = append(r.Calls, quirks.Call{
			ID: call.ID, Type: string(call.Type), Name: call.Function.Name, Arguments: call.Function.Arguments,
		})
	}
	return r
}
