package scenarios_test

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/scenario"
	"github.com/carryon-go/carryon/internal/testkit/statetest"
	"github.com/carryon-go/carryon/middleware"
)

func TestCloseFromAnotherGoroutineEndsWhateverRuns(t *testing.T) {
	t.Parallel()
	longInterval := middleware.WithLimits(continuation.Limits{MinInterval: time.Hour})
	for name, c := range map[string]struct {
		turns   []fakellm.Turn
		options []middleware.Option
	}{
		"the first turn":             {turns: []fakellm.Turn{draft.HangAfter(1)}},
		"the rest of the first turn": {turns: []fakellm.Turn{draft.HangAfter(3)}},
		"opening a continuation":     {turns: pair(draft, done().Hang())},
		"a continuation's first":     {turns: pair(draft, done().HangAfter(0))},
		"a continuation":             {turns: pair(draft, done().HangAfter(2))},
		"the rest of a continuation": {turns: pair(draft, done().HangAfter(3))},
		"a call":                     {turns: pair(draft, fakellm.Call("edit_file", `{"path":"parser.go"}`).HangAfter(3))},
		"the wait before the second": {turns: pair(draft, done()), options: []middleware.Option{longInterval}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scenario.InBubbles(t, scenario.StreamModes(), func(t *testing.T, m scenario.Mode) {
				server := fakellm.Start(c.turns...)
				t.Cleanup(server.Close)
				mw := middleware.New(scenario.TwoTodos(), append([]middleware.Option{scenario.Unattended(), scenario.AtMost(2)}, c.options...)...)
				ctx := continuation.WithSession(t.Context(), "s")
				s, err := scenario.Open(ctx, m.MemoryClient(server, mw), scenario.RequestWithUsage())
				require.NoError(t, err)
				ended := make(chan error, 1)
				go func() {
					for {
						if _, err := s.Recv(); err != nil {
							ended <- err
							return
						}
					}
				}()
				synctest.Wait()
				began := time.Now()
				require.NoError(t, s.Close())
				require.NotErrorIs(t, <-ended, io.EOF)
				assert.Zero(t, time.Since(began))
				assert.True(t, s.Outcome().Ended)
				state, err := statetest.State(ctx, mw)
				require.NoError(t, err)
				assert.Zero(t, state.Claim)
			})
		})
	}
}

// unlimited allows any number of continuations.
var unlimited = middleware.WithLimits(continuation.Limits{
	MaxAttempts: continuation.Off, MaxWithoutProgress: continuation.Off, MinInterval: continuation.Off,
})

// draftThenCall answers the first turn with draft, and a continuation with a tool
// call.
func draftThenCall(r fakellm.Request) fakellm.Turn {
	if r.HasTool("todo_pause") {
		return fakellm.Text("So. ").AndCall("edit_file", `{"path":"parser.go"}`)
	}
	return draft
}

func TestManyStreamsOnOneSession(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.StreamModes(), func(t *testing.T, m scenario.Mode) {
		const streams, rounds = 16, 8
		turns := make([]fakellm.Turn, 2*streams*rounds)
		for i := range turns {
			turns[i] = fakellm.Func(draftThenCall)
		}
		server := fakellm.NewServer(t, turns...)
		mw := middleware.New(scenario.TwoTodos(), scenario.Unattended(), unlimited)
		client := m.MemoryClient(server, mw)
		ctx := continuation.WithSession(t.Context(), "s")
		answers := make([]scenario.Answer, streams*rounds)
		var wait sync.WaitGroup
		for i := range streams {
			wait.Go(func() {
				for j := range rounds {
					answers[i*rounds+j] = scenario.ReadStream(ctx, client, scenario.Request())
				}
			})
		}
		wait.Wait()
		for _, got := range answers {
			require.NoError(t, got.Err)
			requireWellFormedEnd(t, got.Chunks)
			if got.Finish == "stop" {
				assert.Equal(t, "Plan.", got.Text)
				assert.Empty(t, got.Calls)
				continue
			}
			assert.Equal(t, "Plan.\n\nSo. ", got.Text)
			assert.Len(t, got.Calls, 1)
		}
		state, err := statetest.State(ctx, mw)
		require.NoError(t, err)
		assert.Zero(t, state.Claim)
	})
}

func TestStreamsOfOneSessionClosedAtAnyPoint(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.StreamModes(), func(t *testing.T, m scenario.Mode) {
		const streams, rounds = 8, 16
		const whole = "Plan.\n\nSo. "
		turns := make([]fakellm.Turn, 2*streams*rounds)
		for i := range turns {
			turns[i] = fakellm.Func(draftThenCall)
		}
		server := fakellm.NewServer(t, turns...)
		mw := middleware.New(scenario.TwoTodos(), scenario.Unattended(), unlimited)
		client := m.MemoryClient(server, mw)
		ctx := continuation.WithSession(t.Context(), "s")
		answers := make([]closedAnswer, streams*rounds)
		var wait sync.WaitGroup
		for i := range streams {
			wait.Go(func() {
				random := rand.New(rand.NewPCG(1, uint64(i)))
				for j := range rounds {
					answers[i*rounds+j] = readUntilClosed(ctx, client, random.IntN(12))
				}
			})
		}
		wait.Wait()
		for _, got := range answers {
			require.Error(t, got.err)
			assert.True(t, strings.HasPrefix(whole, textOf(got.chunks)), textOf(got.chunks))
			assert.True(t, got.ended)
			if errors.Is(got.err, io.EOF) {
				requireWellFormedEnd(t, got.chunks)
			}
		}
		state, err := statetest.State(ctx, mw)
		require.NoError(t, err)
		assert.Zero(t, state.Claim)
	})
}

// closedAnswer is the part of a stream that was read before it was closed.
type closedAnswer struct {
	chunks []chunk
	err    error
	ended  bool // of the outcome
}

// readUntilClosed reads a stream that another goroutine closes when n chunks
// have been read.
func readUntilClosed(ctx context.Context, c scenario.Client, n int) (got closedAnswer) {
	s, err := scenario.Open(ctx, c, scenario.RequestWithUsage())
	if err != nil {
		return closedAnswer{err: err}
	}
	reached, closed := make(chan struct{}), make(chan struct{})
	go func() {
		<-reached
		_ = s.Close()
		close(closed)
	}()
	for got.err == nil {
		if len(got.chunks) == n {
			close(reached)
			n = -1
		}
		var next chunk
		next, got.err = s.Recv()
		if got.err == nil {
			got.chunks = append(got.chunks, next)
		}
	}
	if n >= 0 {
		close(reached)
	}
	<-closed
	got.ended = s.Outcome().Ended
	return got
}
