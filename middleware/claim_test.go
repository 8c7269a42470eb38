package middleware_test

import (
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/adapter/join"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/statetest"
	"github.com/carryon-go/carryon/middleware"
)

func TestDrainedMiddlewareBeginsNoContinuation(t *testing.T) {
	t.Parallel()
	s := newSetup([]sdkAnswer{says("One:")})
	require.NoError(t, s.mw.Drain(t.Context()))
	require.NoError(t, s.mw.Drain(t.Context()), "it may be called again")
	answer, outcome, err := s.answer(inSession(t, "s"))
	require.NoError(t, err)
	assert.Equal(t, "One:", answer.Text)
	assert.Equal(t, reasons.Shutdown, outcome.Reason)
	assert.Len(t, s.model.requests, 1)
}

// A continuation that is under way ends, and its call gives the session back.
func TestDrainEndsAContinuation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSetup(nil)
		ctx := inSession(t, "s")
		call := begin(ctx, s.mw, describe(fixTheBuild))
		drained := make(chan error, 1)
		answer, err := join.Unary(call, &answers{usageTotals: newUsageTotals()},
			func(ctx context.Context, k *adapter.Continuation) (sdkAnswer, error) {
				if k == nil {
					return says("One:"), nil
				}
				go func() { drained <- s.mw.Drain(context.WithoutCancel(ctx)) }()
				<-ctx.Done()
				synctest.Wait()
				assert.Empty(t, drained, "the session is still held")
				return sdkAnswer{}, ctx.Err()
			})
		require.NoError(t, err)
		assert.Equal(t, "One:", answer.Text)
		require.NoError(t, <-drained)
		outcome := call.Outcome()
		assert.Equal(t, reasons.Failed, outcome.Reason)
		require.ErrorIs(t, outcome.Err, middleware.ErrShutdown)
		requireReleased(ctx, t, s.mw)
	})
}

func TestDrainEndsAStreamedContinuation(t *testing.T) {
	t.Parallel()
	s := newSetup(nil)
	ctx := inSession(t, "s")
	call := begin(ctx, s.mw, describe(fixTheBuild))
	stream := join.NewStream(call, newChunks(), said(), func(ctx context.Context, _ *adapter.Continuation) (adapter.Source[sdkChunk], error) {
		return &drainedSource{ctx: ctx, mw: s.mw}, nil
	})
	got := drain(t, stream)
	assert.Equal(t, "One:\n\nTw", got.answer.Text, "text that was shown stays")
	assert.Equal(t, "stop", got.answer.Stop, "the finish reason of the first turn")
	require.ErrorIs(t, call.Outcome().Err, middleware.ErrShutdown)
	requireReleased(ctx, t, s.mw)
}

// drainedSource is a continuation during which Drain is called.
type drainedSource struct {
	ctx  context.Context
	mw   *middleware.Middleware
	read int
}

func (s *drainedSource) Recv() (sdkChunk, error) {
	s.read++
	if s.read == 1 {
		return sdkChunk{Text: "Tw"}, nil
	}
	over, cancel := context.WithCancel(context.WithoutCancel(s.ctx))
	cancel()
	_ = s.mw.Drain(over) // does not wait
	<-s.ctx.Done()
	return sdkChunk{}, s.ctx.Err()
}

func (*drainedSource) Close() error { return nil }

// A call that does not end in time loses its session.
func TestDrainTakesTheSessionOfWhoHangs(t *testing.T) {
	t.Parallel()
	s := newSetup(nil)
	ctx := inSession(t, "s")
	call := begin(ctx, s.mw, describe(fixTheBuild))
	_, err := join.Unary(call, &answers{usageTotals: newUsageTotals()},
		func(ctx context.Context, k *adapter.Continuation) (sdkAnswer, error) {
			if k == nil {
				return says("One:"), nil
			}
			over, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
			cancel(io.ErrClosedPipe)
			require.ErrorIs(t, s.mw.Drain(over), io.ErrClosedPipe)
			requireReleased(over, t, s.mw)
			return sdkAnswer{}, ctx.Err()
		})
	require.NoError(t, err)
}

// A wait for the interval is over at once.
func TestDrainEndsAWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSetup([]sdkAnswer{says("One:"), says("Two:"), says("Three:")},
			middleware.WithLimits(continuation.Limits{MinInterval: time.Hour}))
		time.AfterFunc(time.Minute, func() { assert.NoError(t, s.mw.Drain(context.Background())) }) //nolint:usetesting // as a program does
		began := time.Now()
		answer, outcome, err := s.answer(inSession(t, "s"))
		require.NoError(t, err)
		assert.Equal(t, "One:\n\nTwo:", answer.Text)
		assert.Equal(t, reasons.Shutdown, outcome.Reason)
		assert.Equal(t, time.Minute, time.Since(began))
	})
}

func requireReleased(ctx context.Context, t *testing.T, mw *middleware.Middleware) {
	t.Helper()
	state, err := statetest.State(context.WithoutCancel(ctx), mw)
	require.NoError(t, err)
	require.Zero(t, state.Claim)
}
