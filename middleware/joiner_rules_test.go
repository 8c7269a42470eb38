package middleware_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/adapter/join"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/session"
	"github.com/carryon-go/carryon/internal/testkit/statetest"
	"github.com/carryon-go/carryon/internal/testkit/testclock"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/records"
	"github.com/carryon-go/carryon/todo"
)

var errLost = errors.New("sdk: connection lost")

func TestConnectionThatIsLostAfterTheFinish(t *testing.T) {
	t.Parallel()
	one, more := sdkChunk{ID: "a", Text: "One:"}, sdkChunk{ID: "a", Text: "Two:"}
	for name, test := range map[string]struct {
		first, second *list
		err, recorded error
		told          []string // the failures that are events
	}{
		"of the caller's own turn": {
			first: &list{chunks: []sdkChunk{one, stop()}, err: errLost}, err: errLost, recorded: errLost,
		},
		"of a continuation, which had ended well": {
			first: said(), second: &list{chunks: []sdkChunk{more, stop()}, err: errLost}, told: []string{"tail"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSetup(nil)
			stream := joined(t.Context(), s, newChunks(),
				adapter.Source[sdkChunk](test.first), test.second, said())
			got := drain(t, stream)

			assert.Equal(t, test.err, got.err)
			assert.Equal(t, "stop", got.answer.Stop)
			outcome := stream.Outcome()
			assert.Equal(t, reasons.BrokeOff, outcome.Reason, "no continuation is sent over a lost connection")
			assert.Equal(t, test.recorded, outcome.Err)
			var told []string
			for _, failure := range carryontest.Recorded[middleware.Failed](s.events) {
				require.ErrorIs(t, failure.Err, errLost)
				told = append(told, failure.Op)
			}
			assert.Equal(t, test.told, told)
		})
	}
}

func TestContinuationThatFailedIsClosedBeforeTheCallerKnows(t *testing.T) {
	t.Parallel()
	source := &list{chunks: pieces("Two:"), err: errLost}
	stream := continued(t.Context(), newSetup(nil), source)
	for {
		if _, err := stream.Recv(); err != nil {
			require.ErrorIs(t, err, io.EOF)
			break
		}
	}
	assert.Equal(t, 1, source.closed, "because many callers never close a stream that they have read to its end")
}

// hurried is a ctx whose deadline is on another clock than the system's.
type hurried struct {
	context.Context

	deadline time.Time
}

func (h hurried) Deadline() (time.Time, bool) { return h.deadline, true }

func TestDeadlineHasToLeaveTheTimeThatTheCallersOwnTurnTook(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		takes []time.Duration // the turns, but for the last
		turns int
	}{
		"and does":     {[]time.Duration{2 * time.Second, 5 * time.Second}, 3}, // 3 s are left then
		"and does not": {[]time.Duration{2 * time.Second, 6 * time.Second}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock := testclock.New()
			ctx := hurried{t.Context(), clock.Now().Add(10 * time.Second)}
			call := begin(ctx, newSetup(nil, middleware.WithClock(clock)).mw, describe(fixTheBuild))
			turns, texts := 0, []string{"One:", "Two:", ""}
			_, err := join.Unary(call, &answers{usageTotals: newUsageTotals()},
				func(context.Context, *adapter.Continuation) (sdkAnswer, error) {
					turns++
					if turns > len(test.takes) {
						return calls(edit("c1")), nil
					}
					clock.Advance(test.takes[turns-1])
					return says(texts[turns-1]), nil
				})
			require.NoError(t, err)
			assert.Equal(t, test.turns, turns)
		})
	}
}

func TestNoTimerOutlivesAnAnswer(t *testing.T) {
	t.Parallel()
	clock := testclock.New()
	ctx := hurried{t.Context(), clock.Now().Add(time.Hour)}
	call := begin(ctx, newSetup(nil, middleware.WithClock(clock)).mw, describe(fixTheBuild))
	watched := 0
	_, err := join.Unary(call, &answers{usageTotals: newUsageTotals()},
		func(_ context.Context, k *adapter.Continuation) (sdkAnswer, error) {
			if k == nil {
				return says("One:"), nil
			}
			watched = clock.Waiters()
			return calls(edit("c1")), nil
		})
	require.NoError(t, err)
	assert.Equal(t, 2, watched, "for the first byte, and the caller's deadline")
	assert.Zero(t, clock.Waiters())
}

func TestNoTimerOutlivesAStream(t *testing.T) {
	t.Parallel()
	for _, turns := range [][]sdkAnswer{
		{says("One:"), calls(edit("c1"))}, {says("One:"), fails(errors.New("overloaded"))}, {says("One:"), says("Two:"), calls(edit("c1"))},
	} {
		clock := testclock.New()
		s := newSetup(turns, middleware.WithClock(clock))
		stream, err := s.agent.Stream(hurried{inSession(t, "s"), clock.Now().Add(time.Hour)}, fixTheBuild)
		require.NoError(t, err)
		require.NoError(t, drain(t, stream).err)
		assert.Zero(t, clock.Waiters())
	}
}

func TestStreamThatIsClosedInTheCallersOwnTurn(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		turn   []sdkChunk
		reads  int
		reason continuation.Reason
	}{
		"in its text":      {pieces("One:", "Two:"), 1, reasons.BrokeOff},
		"after its finish": {[]sdkChunk{fragment(edit("c1")), {Stop: "tools"}, {}}, 2, reasons.ToolCalls},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSetup(nil)
			stream := joined(t.Context(), s, newChunks(), adapter.Source[sdkChunk](&list{chunks: test.turn}))
			relay := stream.Relay()
			for range test.reads {
				_, err := stream.Recv()
				require.NoError(t, err)
			}
			require.NoError(t, stream.Close())

			outcome := stream.Outcome()
			assert.Equal(t, test.reason, outcome.Reason)
			require.NoError(t, outcome.Err, "the caller ended the call")
			assert.True(t, outcome.Ended)
			require.Len(t, carryontest.Recorded[middleware.TurnEnded](s.events), 1)
			if test.reason == reasons.BrokeOff {
				require.ErrorIs(t, carryontest.Recorded[middleware.TurnEnded](s.events)[0].Err, middleware.ErrClosed)
			}
			assert.Len(t, carryontest.Recorded[middleware.Decision](s.events), 1)
			_, err := stream.Recv()
			require.ErrorIs(t, err, middleware.ErrClosed)
			_, err = relay.Handle(sdkChunk{Text: "More."}, nil)
			require.ErrorIs(t, err, middleware.ErrClosed, "a chunk that the adapter received meanwhile is dropped")
		})
	}
}

func TestStreamThatIsClosedAfterMoreThanTheFinish(t *testing.T) {
	t.Parallel()
	s := newSetup(nil)
	stream := continued(t.Context(), s, &list{chunks: []sdkChunk{{Text: "Two:"}, stop(), {Text: "More."}, {}}})
	for _, want := range []string{"One:", "\n\nTwo:", "More."} {
		chunk, err := stream.Recv()
		require.NoError(t, err)
		require.Equal(t, want, chunk.Text)
	}
	require.NoError(t, stream.Close())
	require.ErrorIs(t, stream.Outcome().Err, middleware.ErrClosed)
	assert.Equal(t, reasons.BrokeOff, stream.Outcome().Reason)
	assert.Len(t, carryontest.Recorded[middleware.TurnEnded](s.events), 2)
}

func TestAdapterRelaysNoMoreOnceTheFinishIsSeen(t *testing.T) {
	t.Parallel()
	stream := continued(t.Context(), newSetup(nil), said())
	chunk, err := stream.Relay().Handle(sdkChunk{ID: "a", Text: "One:", Stop: "stop"}, nil)
	require.NoError(t, err)
	assert.Equal(t, sdkChunk{ID: "a", Text: "One:"}, chunk)
	assert.Nil(t, stream.Relay(), "the rest is held back")
	require.NoError(t, stream.Close())
}

// witness is a source that records whether its ctx has ended when it is closed.
type witness struct {
	list

	ctx  context.Context
	seen error
}

func (w *witness) Close() error {
	w.seen = w.ctx.Err()
	return errLost
}

func TestSourceThatWasReadToItsEndIsClosedAsTheSDKWould(t *testing.T) {
	t.Parallel()
	call := begin(t.Context(), newSetup(nil).mw, describe(fixTheBuild))
	source := &witness{list: list{chunks: []sdkChunk{fragment(edit("c1")), {Stop: "tools"}}}, ctx: call.Context()}
	stream := join.NewStream(call, newChunks(), source, nil)
	for {
		if _, err := stream.Recv(); err != nil {
			require.ErrorIs(t, err, io.EOF)
			break
		}
	}
	require.ErrorIs(t, stream.Close(), errLost, "the caller gets the error of closing the source")
	require.NoError(t, source.seen, "a connection whose ctx has ended is not reused")
	assert.Error(t, source.ctx.Err(), "afterwards nothing is left")
}

// thinking is the dialect of an SDK whose models write for themselves.
type thinking struct{ *chunks }

func (d thinking) Read(c *sdkChunk, s adapter.TurnReader) {
	if c.ID == "thought" {
		s.Reasoning(c.Text)
		return
	}
	d.chunks.Read(c, s)
}

func TestReasoningIsRepeatedIfTheHistoryCarriesIt(t *testing.T) {
	t.Parallel()
	for _, carried := range []bool{true, false} {
		request := describe(fixTheBuild)
		request.Reasoning = carried
		call := begin(t.Context(), newSetup(nil).mw, request)
		var thoughts []string
		stream := join.NewStream(call, thinking{newChunks()},
			&list{chunks: []sdkChunk{{ID: "thought", Text: "so."}, {ID: "a", Text: "One:"}, stop()}},
			func(_ context.Context, k *adapter.Continuation) (adapter.Source[sdkChunk], error) {
				thoughts = append(thoughts, k.Reasoning)
				return &list{chunks: []sdkChunk{{ID: "thought", Text: "Forget it."}}, err: errLost}, nil
			})
		stream.Relay().Reasoning("Hm, ") // that the adapter has relayed itself
		drain(t, stream)
		want := ""
		if carried {
			want = "Hm, so."
		}
		assert.Equal(t, []string{want, want, want}, thoughts, "it is tried three times")
	}
}

func TestContextsOfAnAnswersTurns(t *testing.T) {
	t.Parallel()
	ctx := inSession(t, "conversation-42")
	s := newSetup(nil)
	call := begin(ctx, s.mw, describe(fixTheBuild))
	whole := call.Context()
	var ctxs []context.Context
	_, err := join.Unary(call, &answers{usageTotals: newUsageTotals()},
		func(ctx context.Context, _ *adapter.Continuation) (sdkAnswer, error) {
			ctxs = append(ctxs, ctx)
			if len(ctxs) == 3 {
				return calls(edit("c1")), nil
			}
			return says([]string{"One:", "Two:"}[len(ctxs)-1]), nil
		})
	require.NoError(t, err)
	require.Len(t, ctxs, 3)
	require.NoError(t, ctxs[0].Err(), "the answer to the caller's own request may outlive the call")
	require.Error(t, whole.Err())
	for i, want := range []continuation.TurnID{
		{Session: "conversation-42", Call: 1, Turn: 2, Attempt: 1}, {Session: "conversation-42", Call: 1, Turn: 3, Attempt: 2},
	} {
		marker, ok := continuation.FromContext(ctxs[i+1])
		require.True(t, ok)
		assert.Equal(t, want, marker)
		assert.Equal(t, want.Attempt, carryontest.Recorded[middleware.TurnEnded](s.events)[i+1].Attempt)
		assert.Error(t, ctxs[i+1].Err())
	}
}

// failingAnswers is the dialect of an SDK that gives errors as answers.
type failingAnswers struct{ *answers }

func (d failingAnswers) Read(a *sdkAnswer, s adapter.TurnReader) {
	if a.ID == "error" {
		s.Fail(errOverloaded)
		return
	}
	d.answers.Read(a, s)
}

func TestErrorThatComesAsAnAnswer(t *testing.T) {
	t.Parallel()
	failure := sdkAnswer{ID: "error", Text: "overloaded"}
	for name, test := range map[string]struct {
		turns  []sdkAnswer
		want   string
		reason continuation.Reason
	}{
		"of the caller's own turn": {[]sdkAnswer{failure}, "overloaded", reasons.BrokeOff},
		"of a continuation":        {[]sdkAnswer{says("One:"), failure, failure, failure}, "One:", reasons.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSetup(test.turns)
			call := begin(t.Context(), s.mw, describe(fixTheBuild))
			answer, err := join.Unary(call, failingAnswers{&answers{usageTotals: newUsageTotals()}},
				func(ctx context.Context, _ *adapter.Continuation) (sdkAnswer, error) {
					return s.model.Complete(ctx, fixTheBuild)
				})
			require.NoError(t, err)
			assert.Equal(t, test.want, answer.Text)
			assert.Equal(t, test.reason, call.Outcome().Reason)
			assert.Equal(t, errOverloaded, call.Outcome().Err)
			turns := carryontest.Recorded[middleware.TurnEnded](s.events)
			require.Len(t, turns, len(test.turns))
			assert.Equal(t, errOverloaded, turns[len(turns)-1].Err)
		})
	}
}

func TestRejectedPauseOfAnAnswerIsAcceptedIfTheModelCannotBeTold(t *testing.T) {
	t.Parallel()
	veto := func(_ context.Context, turn middleware.NextTurn) error {
		if turn.Attempt > 1 {
			return errOverloaded
		}
		return nil
	}
	s := newSetup([]sdkAnswer{says("One:"), calls(pauses("stuck"))}, middleware.WithGate(veto))
	answer, outcome, err := s.answer(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "One:\n\nTask paused: stuck", answer.Text)
	require.NotNil(t, outcome.Paused)
	assert.Equal(t, "stuck", outcome.Paused.Reason)
}

func TestPrintedPauseOfTheCallersOwnTurnIsText(t *testing.T) {
	t.Parallel()
	const printed = "todo_pause('" + blocked + "')"
	s := newSetup([]sdkAnswer{says(printed), calls(edit("c1"))}, middleware.WithPauseTool(middleware.PauseToolAlways))
	answer, outcome, err := s.answer(t.Context())
	require.NoError(t, err)
	assert.Equal(t, printed, answer.Text)
	assert.Nil(t, outcome.Paused)
}

func TestWaitThatTheCallerEndsIsNoFailure(t *testing.T) {
	t.Parallel()
	for name, streamed := range map[string]bool{"unary": false, "stream": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s := newSetup([]sdkAnswer{says("One:"), says("Two:")}, middleware.WithClock(testclock.New()),
				middleware.WithLimits(continuation.Limits{MinInterval: time.Hour}),
				middleware.WithObserver(middleware.Observer{Decision: func(_ context.Context, d middleware.Decision) {
					if d.Reason == reasons.TooSoon {
						cancel()
					}
				}}))
			ctx, outcomes := middleware.Capture(ctx)
			var text string
			var err error
			if streamed {
				got := drain(t, continued(ctx, s, &list{chunks: []sdkChunk{{Text: "Two:"}, stop()}}))
				text, err = got.answer.Text, got.err
			} else {
				var answer sdkAnswer
				answer, err = s.agent.Complete(ctx, fixTheBuild)
				text = answer.Text
			}
			require.ErrorIs(t, err, context.Canceled)
			assert.Equal(t, "One:\n\nTwo:", text, "the caller gets the text so far")
			assert.Equal(t, reasons.BrokeOff, outcomes.Last().Reason)
			require.ErrorIs(t, outcomes.Last().Err, context.Canceled)
			assert.Empty(t, carryontest.Recorded[middleware.Failed](s.events))
		})
	}
}

func TestRejectedPauseIsAnsweredOnce(t *testing.T) {
	t.Parallel()
	s := newSetup([]sdkAnswer{says("One:"), calls(pauses("stuck")), says("Three:"), calls(edit("c1"))})
	_, _, err := s.answer(t.Context())
	require.NoError(t, err)
	require.Len(t, s.model.requests, 4)
	for i, role := range []string{"user", "user", "tool", "user"} {
		messages := s.model.requests[i].Messages
		assert.Equal(t, role, messages[len(messages)-1].Role, "request %d", i)
	}
}

func TestAnswerIsComparedWithTheOneBeforeIt(t *testing.T) {
	t.Parallel()
	s := newSetup([]sdkAnswer{says("One:"), says("Two:"), says("two:"), says("Three:")})
	answer, outcome, err := s.answer(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "One:\n\nTwo:\n\nThree:", answer.Text)
	assert.Equal(t, reasons.MaxAttempts, outcome.Reason)
	prompts := s.model.requests
	assert.NotContains(t, prompts[2].Messages[len(prompts[2].Messages)-1].Text, "same answer as before")
	assert.Contains(t, prompts[3].Messages[len(prompts[3].Messages)-1].Text, "same answer as before")
}

func TestSeamStandsBetweenTextsAlone(t *testing.T) {
	t.Parallel()
	s := newSetup([]sdkAnswer{says(""), says("Two:"), calls(edit("c1"))})
	answer, _, err := s.answer(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "Two:", answer.Text)
}

func TestDryRunDecidesAndLeavesTheSessionAlone(t *testing.T) {
	t.Parallel()
	s := newSetup([]sdkAnswer{says("One:")}, middleware.WithDryRun())
	ctx := inSession(t, "conversation-42")
	_, outcome, err := s.answer(ctx)
	require.NoError(t, err)
	assert.Equal(t, reasons.Satisfied, outcome.Reason)
	require.Len(t, carryontest.Recorded[middleware.Decision](s.events), 1)
	assert.True(t, carryontest.Recorded[middleware.Decision](s.events)[0].Continue)
	state, err := statetest.State(ctx, s.mw)
	require.NoError(t, err)
	assert.Equal(t, decision.State{}, state)
}

// A dry run decides as a real run would, and so notices that the user has written
// again, although it does not store that.
func TestDryRunSeesThatTheUserHasWritten(t *testing.T) {
	t.Parallel()
	store := records.NewMemoryEngine()
	live := newSetup([]sdkAnswer{calls(pauses(blocked))}, middleware.WithRecords(store), middleware.WithPauseTool(middleware.PauseToolAlways))
	_, outcome, err := live.answer(continuation.WithUserTurn(inSession(t, "s"), "one"))
	require.NoError(t, err)
	require.Equal(t, reasons.Paused, outcome.Reason)
	before, err := statetest.State(inSession(t, "s"), live.mw)
	require.NoError(t, err)
	require.True(t, before.Paused.IsSet())
	for turn, reason := range map[string]continuation.Reason{"one": reasons.Paused, "two": reasons.Satisfied} {
		dry := newSetup([]sdkAnswer{says("One:")}, middleware.WithRecords(store), middleware.WithDryRun())
		_, outcome, err := dry.answer(continuation.WithUserTurn(inSession(t, "s"), turn))
		require.NoError(t, err)
		assert.Equal(t, reason, outcome.Reason)
		after, err := statetest.State(inSession(t, "s"), live.mw)
		require.NoError(t, err)
		assert.Equal(t, before, after)
	}
	_ = live.mw.Resume(inSession(t, "s"))
	resumed, err := statetest.State(inSession(t, "s"), live.mw)
	require.NoError(t, err)
	done := middleware.New(todo.Static(), middleware.WithRecords(store), middleware.WithDryRun())
	_, err = (&client{&sdkClient{turns: []sdkAnswer{says("One:")}}, done}).Complete(continuation.WithUserTurn(inSession(t, "s"), "one"), fixTheBuild)
	require.NoError(t, err)
	after, err := statetest.State(inSession(t, "s"), live.mw)
	require.NoError(t, err)
	assert.Equal(t, resumed, after, "nor does it store that the list is done")
}

// keyed is a store that records what it is asked for.
type keyed struct {
	*session.MemoryStore

	keys []string
}

func (s *keyed) Update(ctx context.Context, key string, f func(decision.State) decision.State) error {
	s.keys = append(s.keys, key)
	return s.MemoryStore.Update(ctx, key, f)
}

// A call without a session is identified by its tool loop, under a key that no
// program would choose as a session name.
func TestLoopIsNoSessionOfThatName(t *testing.T) {
	t.Parallel()
	store := &keyed{MemoryStore: session.NewMemoryStore(10, time.Hour, time.Now)}
	mw := middleware.New(buildTodos, middleware.WithSessionStore(store))
	require.NotNil(t, begin(t.Context(), mw, adapter.Request{Tools: 1, Users: 1, User: "Fix the build.", Loop: func(add func(string)) { add("c1") }}))
	require.Len(t, store.keys, 1)
	assert.True(t, strings.HasPrefix(store.keys[0], "\x00loop/"), "%q", store.keys[0])
}
