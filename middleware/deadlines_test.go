package middleware_test

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/adapter/join"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/testkit/testclock"
	"github.com/carryon-go/carryon/middleware"
)

// Limits of these tests.
const (
	firstByteIn = 5 * time.Minute
	silenceFor  = 30 * time.Second
)

// step is a wait, and then a chunk or a part of one. The part has no text.
type step struct {
	after time.Duration
	text  string
}

// empty is the text of a step with a chunk that has none.
const empty = "-"

// afterMany returns steps of the same kind, and then others.
func afterMany(n int, s step, then ...step) []step {
	return append(slices.Repeat([]step{s}, n), then...)
}

// paced is a source that waits before its chunks, and obeys its ctx as SDKs do.
type paced struct {
	ctx   context.Context
	clock *testclock.Clock
	alive func()
	steps []step
}

func (p *paced) Recv() (sdkChunk, error) {
	for len(p.steps) > 0 {
		next := p.steps[0]
		p.steps = p.steps[1:]
		p.clock.Advance(next.after)
		if err := p.ctx.Err(); err != nil {
			return sdkChunk{}, err
		}
		if next.text == empty {
			return sdkChunk{}, nil
		}
		if next.text != "" {
			return sdkChunk{Text: next.text}, nil
		}
		p.alive()
	}
	return sdkChunk{}, io.EOF
}

func (p *paced) Close() error { return nil }

func TestSilenceIsMeasuredWhereSomebodyWaits(t *testing.T) {
	t.Parallel()
	const soon, late = silenceFor - time.Second, silenceFor + time.Second
	for name, test := range map[string]struct {
		steps []step
		reads time.Duration // what the consumer takes between two chunks
		err   error
	}{
		"the first chunk may take longer": {[]step{{late, "One:"}, {soon, "Two:"}}, 0, nil},
		"but not for ever":                {[]step{{firstByteIn, "One:"}}, 0, middleware.ErrFirstByteTimeout},
		"the second may not":              {[]step{{0, "One:"}, {late, "Two:"}}, 0, middleware.ErrResponseTimeout},
		"nor a later one":                 {[]step{{0, "One:"}, {soon, "Two:"}, {late, "Three:"}}, 0, middleware.ErrResponseTimeout},
		"each has all the time":           {[]step{{0, "One:"}, {soon, "Two:"}, {soon, "Three:"}}, 0, nil},
		"the reader's own time":           {[]step{{0, "One:"}, {0, "Two:"}, {0, "Three:"}}, time.Hour, nil},
		"a part of a chunk is a sign":     {[]step{{0, "One:"}, {soon, ""}, {soon, ""}, {soon, "Two:"}}, 0, nil},
		"and the last one counts":         {[]step{{0, "One:"}, {soon, ""}, {late, "Two:"}}, 0, middleware.ErrResponseTimeout},
		"also of the first":               {[]step{{firstByteIn - 1, ""}, {soon, "One:"}}, 0, nil},
		"signs of life without a word":    {afterMany(11, step{soon, ""}, step{soon, ""}, step{0, "One:"}), 0, middleware.ErrResponseTimeout},
		"chunks that say nothing":         {afterMany(11, step{soon, empty}, step{soon, empty}, step{0, "One:"}), 0, middleware.ErrResponseTimeout},
		"a word in time":                  {afterMany(10, step{soon, empty}, step{0, "One:"}), 0, nil},
		"and another":                     {append(afterMany(9, step{soon, ""}, step{0, "One:"}), afterMany(9, step{soon, ""}, step{0, "Two:"})...), 0, nil},
		"after which silence counts":      {[]step{{soon, ""}, {late, "One:"}}, 0, middleware.ErrResponseTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock := testclock.New()
			s := newSetup(nil, middleware.WithClock(clock), middleware.WithLimits(continuation.Limits{
				MinInterval: continuation.Off, FirstByteTimeout: firstByteIn, ResponseTimeout: silenceFor, MaxAttempts: 1,
			}))
			request := describe(fixTheBuild)
			request.NoFinish = true
			call := begin(t.Context(), s.mw, request)
			stream := join.NewStream(call, newChunks(), &list{chunks: pieces("Zero.")},
				func(ctx context.Context, k *adapter.Continuation) (adapter.Source[sdkChunk], error) {
					return &paced{ctx, clock, k.Touch, test.steps}, nil
				})
			for {
				if _, err := stream.Recv(); err != nil {
					require.ErrorIs(t, err, io.EOF)
					break
				}
				clock.Advance(test.reads)
			}
			require.NoError(t, stream.Close())
			assert.Equal(t, test.err, call.Outcome().Err)
			assert.Zero(t, clock.Waiters())
		})
	}
}

func TestLimitsThatAreOffAreNotWatched(t *testing.T) {
	t.Parallel()
	clock := testclock.New()
	s := newSetup(nil, middleware.WithClock(clock), middleware.WithLimits(continuation.Limits{
		MinInterval: continuation.Off, FirstByteTimeout: continuation.Off, ResponseTimeout: continuation.Off, MaxAttempts: 1,
	}))
	var waiting []int
	stream := join.NewStream(begin(t.Context(), s.mw, describe(fixTheBuild)), newChunks(), said(),
		func(ctx context.Context, _ *adapter.Continuation) (adapter.Source[sdkChunk], error) {
			waiting = append(waiting, clock.Waiters())
			return &closer{list{chunks: append(pieces("Two:", "Three:"), stop())}, func() {
				waiting = append(waiting, clock.Waiters())
			}}, nil
		})
	drain(t, stream)
	require.NoError(t, stream.Outcome().Err)
	assert.Equal(t, []int{0, 0, 0, 0}, waiting[:4], "as it opens, and for each chunk")
}

// An SDK may return what it has, and no error, when its ctx ends. A continuation that took all its time is not sent
// again.
func TestLimitIsKnownThoughTheSDKReportsNoError(t *testing.T) {
	t.Parallel()
	t.Run("unary", func(t *testing.T) {
		t.Parallel()
		clock := testclock.New()
		call := begin(t.Context(), newSetup(nil, middleware.WithClock(clock)).mw, describe(fixTheBuild))
		sent := 0
		answer, err := join.Unary(call, &answers{usageTotals: newUsageTotals()},
			func(ctx context.Context, k *adapter.Continuation) (sdkAnswer, error) {
				sent++
				if k == nil {
					return says("One:"), nil
				}
				clock.Advance(time.Hour)
				require.Error(t, ctx.Err())
				return sdkAnswer{Text: "Tw"}, nil
			})
		require.NoError(t, err)
		assert.Equal(t, "One:", answer.Text)
		assert.Equal(t, middleware.ErrFirstByteTimeout, call.Outcome().Err)
		assert.Equal(t, 2, sent)
	})
	t.Run("stream", func(t *testing.T) {
		t.Parallel()
		clock := testclock.New()
		call := begin(t.Context(), newSetup(nil, middleware.WithClock(clock)).mw, describe(fixTheBuild))
		sent := 0
		stream := join.NewStream(call, newChunks(), &list{chunks: append(pieces("One:"), sdkChunk{Stop: "stop"})},
			func(context.Context, *adapter.Continuation) (adapter.Source[sdkChunk], error) {
				sent++
				clock.Advance(time.Hour)
				return &list{}, nil
			})
		var text strings.Builder
		var err error
		for err == nil {
			var chunk sdkChunk
			chunk, err = stream.Recv()
			text.WriteString(chunk.Text)
		}
		require.ErrorIs(t, err, io.EOF)
		assert.Equal(t, "One:", text.String())
		assert.Equal(t, middleware.ErrFirstByteTimeout, call.Outcome().Err)
		assert.Equal(t, 1, sent)
	})
}

func TestCallersDeadlineIsAnticipated(t *testing.T) {
	t.Parallel()
	for left, cut := range map[time.Duration]time.Duration{
		10 * time.Second: 9 * time.Second,  // a tenth before
		40 * time.Second: 38 * time.Second, // two seconds at most
	} {
		clock := testclock.New()
		call := begin(hurried{t.Context(), clock.Now().Add(left)}, newSetup(nil, middleware.WithClock(clock)).mw, describe(fixTheBuild))
		answer, err := join.Unary(call, &answers{usageTotals: newUsageTotals()},
			func(ctx context.Context, k *adapter.Continuation) (sdkAnswer, error) {
				if k == nil {
					return says("One:"), nil
				}
				clock.Advance(cut - 1)
				require.NoError(t, ctx.Err(), "%v", left)
				clock.Advance(1)
				return sdkAnswer{}, ctx.Err()
			})
		require.NoError(t, err)
		assert.Equal(t, "One:", answer.Text)
		assert.Equal(t, middleware.ErrDeadlineNear, call.Outcome().Err, "%v", left)
	}
}
