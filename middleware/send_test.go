package middleware_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/adapter/join"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/statetest"
	"github.com/carryon-go/carryon/middleware"
)

// overloaded is the answer of a provider that says when to try again.
func overloaded(status int, retry adapter.Retry) sdkAnswer {
	return fails(&adapter.StatusError{Status: status, Err: errOverloaded, Retry: retry})
}

// inASecond asks for no pause, so that only the interval applies.
var inASecond adapter.Retry

func pauseOf(d time.Duration) adapter.Retry { return adapter.Retry{After: d} }

// A continuation is sent once more after every failure that may be temporary, and
// after no other.
func TestWhichFailuresAreSentOnceMore(t *testing.T) {
	t.Parallel()
	type failure struct {
		err   error
		again bool
	}
	failures := map[string]failure{
		"transport":         {errLost, true},
		"unknown status":    {&adapter.StatusError{Err: errOverloaded}, true},
		"no finish":         {middleware.ErrIncomplete, true},
		"first byte":        {middleware.ErrFirstByteTimeout, false},
		"silence":           {middleware.ErrResponseTimeout, false},
		"deadline":          {middleware.ErrDeadlineNear, false},
		"shutdown":          {middleware.ErrShutdown, false},
		"asked not to":      {&adapter.StatusError{Status: 503, Err: errOverloaded, Retry: adapter.Retry{Never: true}}, false},
		"asked not to, 0":   {&adapter.StatusError{Err: errOverloaded, Retry: adapter.Retry{Never: true}}, false},
		"too long a pause":  {&adapter.StatusError{Status: 429, Err: errOverloaded, Retry: pauseOf(10*time.Second + 1)}, false},
		"an endless pause":  {&adapter.StatusError{Status: 429, Err: errOverloaded, Retry: pauseOf(1<<63 - 1)}, false},
		"a short pause":     {&adapter.StatusError{Status: 429, Err: errOverloaded, Retry: pauseOf(10 * time.Second)}, true},
		"a negative pause":  {&adapter.StatusError{Status: 429, Err: errOverloaded, Retry: pauseOf(-1 << 63)}, true},
		"behind other text": {fmt.Errorf("sdk: %w", &adapter.StatusError{Status: 413, Err: errOverloaded}), false},
	}
	for _, status := range []int{408, 409, 429, 500, 502, 503, 504, 529} {
		failures[strconv.Itoa(status)] = failure{&adapter.StatusError{Status: status, Err: errOverloaded}, true}
	}
	for _, status := range []int{204, 302, 400, 401, 402, 403, 404, 413, 422, 451} {
		failures[strconv.Itoa(status)] = failure{&adapter.StatusError{Status: status, Err: errOverloaded}, false}
	}
	for name, failure := range failures {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				turns := []sdkAnswer{says("One:"), fails(failure.err)}
				if failure.again {
					turns = append(turns, calls(edit("c1")))
				}
				s := newSetup(turns)
				answer, outcome, err := s.answer(inSession(t, "s"))
				require.NoError(t, err)
				assert.Equal(t, "One:", answer.Text)
				assert.Len(t, s.model.requests, len(turns))
				assert.Equal(t, len(turns), outcome.Turns)
				assert.Equal(t, len(turns)-1, outcome.Attempts)
				assert.Len(t, outcome.Usage, len(turns), "each turn has its own")
				assert.Len(t, carryontest.Recorded[middleware.Failed](s.events), 1, "the failure is reported in any case")
				if failure.again {
					require.NoError(t, outcome.Err)
					assert.Equal(t, reasons.ToolCalls, outcome.Reason)
				} else {
					require.ErrorIs(t, outcome.Err, failure.err)
					assert.Equal(t, reasons.Failed, outcome.Reason)
				}
			})
		})
	}
}

// Another try waits for the interval and asks the gate, as each continuation does. A try
// that fails gives its attempt back, and uses the other budgets.
func TestAnotherTryKeepsTheRules(t *testing.T) {
	t.Parallel()
	const off = continuation.Off
	busy, edits := overloaded(503, inASecond), calls(edit("c1"))
	for name, tt := range map[string]struct {
		turns  []sdkAnswer // after the first
		limits continuation.Limits
		took   time.Duration
		reason continuation.Reason
	}{
		"at once":                       {[]sdkAnswer{busy, edits}, continuation.Limits{MinInterval: off}, 0, reasons.ToolCalls},
		"after the interval":            {[]sdkAnswer{busy, edits}, continuation.Limits{}, time.Second, reasons.ToolCalls},
		"after the pause":               {[]sdkAnswer{overloaded(429, pauseOf(7*time.Second)), edits}, continuation.Limits{}, 7 * time.Second, reasons.ToolCalls},
		"after the longer of both":      {[]sdkAnswer{overloaded(429, pauseOf(2*time.Second)), edits}, continuation.Limits{MinInterval: 5 * time.Second}, 5 * time.Second, reasons.ToolCalls},
		"fails too":                     {[]sdkAnswer{busy, busy, busy}, continuation.Limits{MinInterval: off}, 0, reasons.Failed},
		"the third one later":           {[]sdkAnswer{busy, busy, edits}, continuation.Limits{}, 6 * time.Second, reasons.ToolCalls},
		"for each continuation":         {[]sdkAnswer{busy, says("Two:"), busy, edits}, continuation.Limits{MinInterval: off, MaxAttempts: 4}, 0, reasons.ToolCalls},
		"after a blank turn":            {[]sdkAnswer{says("Two:"), says(" "), busy, edits}, continuation.Limits{MinInterval: off, MaxAttempts: 4}, 0, reasons.ToolCalls},
		"with the only attempt":         {[]sdkAnswer{busy, edits}, continuation.Limits{MinInterval: off, MaxAttempts: 1}, 0, reasons.ToolCalls},
		"not beyond the other cap":      {[]sdkAnswer{busy}, continuation.Limits{MinInterval: off, MaxWithoutProgress: 1}, 0, reasons.Failed},
		"with the last attempt":         {[]sdkAnswer{busy, says("Two:"), busy, edits}, continuation.Limits{MinInterval: off, MaxAttempts: 2}, 0, reasons.ToolCalls},
		"not beyond the token budget":   {[]sdkAnswer{says("Two:"), busy}, continuation.Limits{MinInterval: off, TokenBudget: 15}, 0, reasons.TokenBudget},
		"but within the token budget":   {[]sdkAnswer{says("Two:"), busy, edits}, continuation.Limits{MinInterval: off, TokenBudget: 16}, 0, reasons.ToolCalls},
		"and the next may fail as well": {[]sdkAnswer{busy, says("Two:"), busy, busy, busy}, continuation.Limits{MinInterval: off, MaxAttempts: 9}, 0, reasons.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				gates := 0
				turns := append([]sdkAnswer{says("One:")}, tt.turns...)
				if tt.reason == reasons.TokenBudget {
					turns = turns[:2]
				}
				s := newSetup(turns, middleware.WithLimits(tt.limits), middleware.WithGate(func(context.Context, middleware.NextTurn) error { gates++; return nil }))
				began := time.Now()
				ctx := inSession(t, "s")
				_, outcome, err := s.answer(ctx)
				require.NoError(t, err)
				assert.Equal(t, tt.took, time.Since(began))
				assert.Len(t, s.model.requests, len(turns))
				assert.Equal(t, len(turns)-1, outcome.Attempts)
				assert.Equal(t, len(turns)-1, gates)
				assert.Equal(t, tt.reason, outcome.Reason)
				assert.Equal(t, tt.reason == reasons.Failed, outcome.Err != nil, "%v", outcome.Err)
				state, err := statetest.State(ctx, s.mw)
				require.NoError(t, err)
				assert.Equal(t, len(turns)-1, state.Continuations)
				requireReleased(ctx, t, s.mw)
			})
		})
	}
}

// The second prompt is about the same answer and the same todo.
func TestSecondTryFollowsTheSameTurn(t *testing.T) {
	t.Parallel()
	s := newSetup([]sdkAnswer{says("One:"), overloaded(503, inASecond), says("Two:"), fails(errLost), calls(edit("c1"))},
		middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off, MaxAttempts: 9}))
	answer, outcome, err := s.answer(inSession(t, "s"))
	require.NoError(t, err)
	assert.Equal(t, "One:\n\nTwo:", answer.Text)
	assert.Equal(t, sdkUsage{In: 10, Out: 18}, answer.Usage, "the usage of the turns that ended well")
	assert.Equal(t, 5, outcome.Turns)
	assert.Equal(t, s.model.requests[1], s.model.requests[2], "the model has seen nothing of the first try")
	first, second := s.model.requests[3].Messages, s.model.requests[4].Messages
	require.Len(t, second, len(first))
	assert.Equal(t, first[:len(first)-1], second[:len(second)-1])
	assert.Contains(t, second[len(second)-1].Text, "Previous attempt: it failed (transport)")
	var events []int
	for _, turn := range carryontest.Recorded[middleware.TurnEnded](s.events) {
		events = append(events, turn.Turn)
	}
	assert.Equal(t, []int{1, 2, 3, 4, 5}, events, "observers see each of them")
}

// A rejected pause is answered once more, too.
func TestAnswerToARejectedPauseIsSentOnceMore(t *testing.T) {
	t.Parallel()
	s := newSetup([]sdkAnswer{says("One:"), calls(pauses("stuck")).saying("Hm."), fails(errLost), calls(pauses(blocked))})
	answer, outcome, err := s.answer(inSession(t, "s"))
	require.NoError(t, err)
	assert.Equal(t, reasons.Paused, outcome.Reason)
	assert.Equal(t, blocked, outcome.Paused.Reason)
	assert.Contains(t, answer.Text, "One:\n\nHm.\n\n")
	assert.Equal(t, s.model.requests[2].Messages, s.model.requests[3].Messages)
	assert.Len(t, rejections(s.events), 1, "it was rejected once")
}

// Text of a failed stream that was shown is not shown again.
func TestStreamIsSentOnceMoreIfNothingOfItWasShown(t *testing.T) {
	t.Parallel()
	half := sdkCall{ID: "c9", Name: "todo_"}
	for name, tt := range map[string]struct {
		chunks []sdkChunk
		again  bool
		shown  string // if it is not sent once more
	}{
		"nothing":                   {nil, true, ""},
		"chunks that add nothing":   {[]sdkChunk{{}, {}, {Usage: &sdkUsage{In: 7, Out: 7}}}, true, ""},
		"what may be a pause":       {pieces("todo_pau"), true, ""},
		"what may become a pause":   {append([]sdkChunk{fragment(half)}, pieces("Two:")...), true, ""},
		"a call of todo_pause":      {[]sdkChunk{fragment(pauses("stuck"))}, true, ""},
		"a letter":                  {pieces("A"), false, "\n\nA"},
		"a letter, and what may be": {pieces("A. ", "todo_pause("), false, "\n\nA. todo_pause("},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sources := []*list{said(), {chunks: tt.chunks, err: errLost}}
			if tt.again {
				sources = append(sources, &list{chunks: append(pieces("Three:"), sdkChunk{Stop: "length", Usage: &sdkUsage{In: 20, Out: 3}})})
			}
			s := newSetup(nil)
			call, sent := begin(inSession(t, "s"), s.mw, describe(fixTheBuild)), 0
			stream := join.NewStream(call, newChunks(), sources[0], func(context.Context, *adapter.Continuation) (adapter.Source[sdkChunk], error) {
				sent++
				return sources[sent], nil
			})
			got := drain(t, stream)
			require.NoError(t, got.err)
			assert.Empty(t, got.answer.Calls)
			for i, source := range sources {
				assert.Equal(t, 1, source.closed, "source %d is closed", i)
			}
			if tt.again {
				assert.Equal(t, "One:\n\nThree:", got.answer.Text)
				assert.Equal(t, "length", got.answer.Stop)
				require.NoError(t, call.Outcome().Err)
			} else {
				assert.Equal(t, "One:"+tt.shown, got.answer.Text)
				assert.Equal(t, "stop", got.answer.Stop)
				require.ErrorIs(t, call.Outcome().Err, errLost)
			}
		})
	}
}

// A callback does not get the same text twice.
func TestAnswerWithACallbackIsSentOnceMoreIfItWasGivenNothing(t *testing.T) {
	t.Parallel()
	for _, given := range []string{"", "Two"} {
		s := newSetup(nil)
		var heard string
		filter := join.NewFilter(texts{}, func(text string) error { heard += text; return nil })
		sent := 0
		call := begin(inSession(t, "s"), s.mw, describe(fixTheBuild))
		answer, err := join.Unary(call, &answers{usageTotals: newUsageTotals()},
			func(context.Context, *adapter.Continuation) (sdkAnswer, error) {
				switch sent++; sent {
				case 1:
					return says("One:"), filter.Chunk("One:")
				case 2:
					require.NoError(t, filter.Chunk(given))
					return sdkAnswer{}, errLost
				}
				return calls(edit("c1")).saying("Three:"), filter.Chunk("Three:")
			}, filter)
		require.NoError(t, err)
		if given == "" {
			assert.Equal(t, "One:\n\nThree:", answer.Text)
			assert.Equal(t, "One:\n\nThree:", heard)
			assert.Equal(t, 3, sent)
			continue
		}
		assert.Equal(t, "One:", answer.Text)
		assert.Equal(t, "One:\n\nTwo", heard)
		assert.Equal(t, 2, sent)
		require.ErrorIs(t, call.Outcome().Err, errLost)
	}
}

// The wait for the second try ends like any other wait.
func TestWaitForTheSecondTryEnds(t *testing.T) {
	t.Parallel()
	cause := errors.New("the user has left")
	for name, tt := range map[string]struct {
		end    func(t *testing.T, s *setup, cancel context.CancelCauseFunc, stream *join.Stream[sdkChunk])
		err    error
		reason continuation.Reason
	}{
		"with the ctx": {func(_ *testing.T, _ *setup, cancel context.CancelCauseFunc, _ *join.Stream[sdkChunk]) {
			cancel(cause)
		}, cause, reasons.BrokeOff},
		"with Close": {func(t *testing.T, _ *setup, _ context.CancelCauseFunc, stream *join.Stream[sdkChunk]) {
			t.Helper()
			assert.NoError(t, stream.Close())
		}, middleware.ErrClosed, reasons.BrokeOff},
		"with the program": {func(t *testing.T, s *setup, _ context.CancelCauseFunc, _ *join.Stream[sdkChunk]) {
			t.Helper()
			assert.NoError(t, s.mw.Drain(t.Context()))
		}, io.EOF, reasons.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newSetup(nil)
				ctx, cancel := context.WithCancelCause(inSession(t, "s"))
				defer cancel(nil)
				call, sent := begin(ctx, s.mw, describe(fixTheBuild)), 0
				stream := join.NewStream(call, newChunks(), said(), func(context.Context, *adapter.Continuation) (adapter.Source[sdkChunk], error) {
					sent++
					return nil, &adapter.StatusError{Status: 429, Err: errOverloaded, Retry: pauseOf(9 * time.Second)}
				})
				ended := make(chan struct{})
				time.AfterFunc(3*time.Second, func() {
					defer close(ended)
					tt.end(t, s, cancel, stream)
				})
				began := time.Now()
				var err error
				for err == nil {
					_, err = stream.Recv()
				}
				<-ended
				require.ErrorIs(t, err, tt.err)
				assert.Equal(t, 3*time.Second, time.Since(began))
				assert.Equal(t, 1, sent)
				assert.Equal(t, tt.reason, call.Outcome().Reason)
				require.NoError(t, stream.Close())
				requireReleased(context.WithoutCancel(ctx), t, s.mw)
			})
		})
	}
}

// A near deadline costs the second try, but not the answer.
func TestDeadlineLeavesNoTimeForASecondTry(t *testing.T) {
	t.Parallel()
	for wait, sent := range map[time.Duration]int{3*time.Second - 1: 3, 3 * time.Second: 2} {
		synctest.Test(t, func(t *testing.T) {
			s := newSetup(nil)
			ctx, cancel := context.WithTimeout(inSession(t, "s"), 7*time.Second)
			defer cancel()
			call, asked := begin(ctx, s.mw, describe(fixTheBuild)), 0
			answer, err := join.Unary(call, &answers{usageTotals: newUsageTotals()},
				func(context.Context, *adapter.Continuation) (sdkAnswer, error) {
					switch asked++; asked {
					case 1:
						time.Sleep(2 * time.Second) //nolint:forbidigo // of the bubble
						return says("One:"), nil
					case 2:
						return sdkAnswer{}, &adapter.StatusError{Status: 503, Err: errOverloaded, Retry: pauseOf(wait)}
					}
					return calls(edit("c1")), nil
				})
			require.NoError(t, err)
			assert.Equal(t, "One:", answer.Text)
			assert.Equal(t, sent, asked, wait)
			if sent == 2 {
				assert.Equal(t, reasons.Failed, call.Outcome().Reason)
				require.ErrorIs(t, call.Outcome().Err, errOverloaded)
			}
		})
	}
}

// What happens during the wait counts for the second try.
func TestSecondTryIsDecidedAnew(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSetup([]sdkAnswer{says("One:"), overloaded(429, pauseOf(5*time.Second))})
		ctx := inSession(t, "s")
		time.AfterFunc(time.Second, func() { assert.NoError(t, s.mw.Pause(ctx, "not now")) })
		answer, outcome, err := s.answer(ctx)
		require.NoError(t, err)
		assert.Equal(t, "One:", answer.Text)
		assert.Len(t, s.model.requests, 2)
		assert.Equal(t, reasons.Failed, outcome.Reason)
		require.ErrorIs(t, outcome.Err, errOverloaded)
	})
}

// A failed first try does not use up a turn of an executor's loop.
func TestSecondTryIsMadeInAShortLoop(t *testing.T) {
	t.Parallel()
	for _, turns := range [][]error{{errLost, nil}, {errLost, errLost, errLost}, {nil}} {
		s := newSetup(nil, defaultAttempts)
		request := describe(fixTheBuild)
		request.ShortLoop = true
		asked := 0
		call := begin(inSession(t, "s"), s.mw, request)
		_, err := join.Unary(call, &answers{usageTotals: newUsageTotals()},
			func(context.Context, *adapter.Continuation) (sdkAnswer, error) {
				asked++
				if asked == 1 {
					return says("One:"), nil
				}
				require.LessOrEqual(t, asked, len(turns)+1)
				return says("Two:"), turns[asked-2]
			})
		require.NoError(t, err)
		assert.Equal(t, len(turns)+1, asked)
	}
}
