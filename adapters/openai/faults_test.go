package openai_test

import (
	"context"
	"flag"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/faults"
	"github.com/carryon-go/carryon/internal/testkit/quirks"
	"github.com/carryon-go/carryon/internal/testkit/scenario"
	"github.com/carryon-go/carryon/middleware"
)

var sample = flag.Int("sample", 16, "have answers fail at one in so many offsets; 1 is every byte")

// An answer may fail at any byte and in any way: a program reads what it may rely on, and nothing is left open.
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

// failEverywhere plays a drill and returns at how many offsets.
func failEverywhere(t *testing.T, d faults.Drill) int {
	t.Helper()
	understood := understands(t, d)
	offsets := d.Offsets(*sample)
	ctx := continuation.WithSession(t.Context(), "s")
	for _, at := range offsets {
		try := faults.Try{At: at, Understood: understood}
		if d.Turn == 1 {
			try.Without = readAs(ctx, d, scenario.SDKClient(scenario.Config(fakellm.BaseURL, d.Alone(at))))
		}
		mw := middleware.New(scenario.TwoTodos(), scenario.AtMost(1))
		upstream := d.Upstream(at)
		try.Got = readAs(ctx, d, scenario.TypedStream.Client(scenario.Config(fakellm.BaseURL, upstream), mw))
		synctest.Wait()
		require.NoError(t, d.JudgeAll(try, upstream))
		requireIdle(ctx, t, mw)
	}
	return len(offsets)
}

// On a real connection, a reset is a reset of TCP.
func TestConnectionsThatAreReset(t *testing.T) {
	t.Parallel()
	for _, drills := range faults.Resets() {
		t.Run(drills[0].Framing.Name, func(t *testing.T) {
			t.Parallel()
			base := new(http.Transport)
			t.Cleanup(base.CloseIdleConnections)
			for _, drill := range drills {
				understood := understands(t, drill)
				for _, at := range drill.Offsets(8) {
					resetAt(t, drill, base, faults.Try{At: at, Understood: understood})
				}
			}
		})
	}
}

// resetAt plays a drill over HTTP.
func resetAt(t *testing.T, d faults.Drill, base http.RoundTripper, try faults.Try) {
	t.Helper()
	upstream, mw := d.Upstream(try.At), middleware.New(scenario.TwoTodos(), scenario.AtMost(1))
	server := httptest.NewServer(upstream)
	defer server.Close()
	ctx := continuation.WithSession(t.Context(), "s")
	try.Got = readAs(ctx, d, scenario.TypedStream.Client(scenario.Config(server.URL, base), mw))
	try.Asked = upstream.Asked()
	require.NoError(t, d.JudgeReset(try, nil))
	requireIdle(ctx, t, mw)
}

// understands reports whether the SDK reads the answer of a drill as it was sent if it does not fail.
func understands(t *testing.T, d faults.Drill) bool {
	t.Helper()
	sdk := scenario.SDKClient(scenario.Config(fakellm.BaseURL, d.Untouched()))
	return assert.ObjectsAreEqual(d.Means(), readAs(t.Context(), d, sdk))
}

func requireIdle(ctx context.Context, t *testing.T, mw *middleware.Middleware) {
	t.Helper()
	state, err := mw.State(ctx)
	require.NoError(t, err)
	require.False(t, state.Active, "the session is still claimed")
}

// readAs has a client read the answers of a drill.
func readAs(ctx context.Context, d faults.Drill, c scenario.Client) quirks.Reading {
	m := scenario.TypedStream
	if d.Framing.Whole {
		m = scenario.TypedUnary
	}
	a := m.Call(ctx, c, scenario.Request())
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
