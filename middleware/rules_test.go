package middleware_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/adapter/join"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/statetest"
	"github.com/carryon-go/carryon/internal/testkit/testclock"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/records"
	"github.com/carryon-go/carryon/todo"
)

// errScriptEnded fails a continuation that a test has no answer for.
var errScriptEnded = &adapter.StatusError{Status: 400, Err: errors.New("the script has ended")}

func stop() sdkChunk { return sdkChunk{ID: "a", Stop: "stop"} }

// joined plays turns of a provider that reports finish reasons.
func joined[C any](
	ctx context.Context, s *setup, d adapter.Dialect[C], sources ...adapter.Source[C],
) *join.Stream[C] {
	sent := 0
	return join.NewStream(begin(ctx, s.mw, describe(fixTheBuild)), d, sources[0],
		func(context.Context, *adapter.Continuation) (adapter.Source[C], error) {
			sent++
			if sent == len(sources) {
				return nil, errScriptEnded
			}
			return sources[sent], nil
		})
}

// said is a turn that says One.
func said() *list { return &list{chunks: []sdkChunk{{ID: "a", Text: "One:"}, stop()}} }

// continued plays a turn that says One, and a continuation.
func continued(ctx context.Context, s *setup, k ...adapter.Source[sdkChunk]) *join.Stream[sdkChunk] {
	return joined(ctx, s, newChunks(), slices.Concat([]adapter.Source[sdkChunk]{said()}, k)...)
}

func newChunks() *chunks { return &chunks{usageTotals: newUsageTotals()} }

func TestRestOfATurnIsReadTo256ChunksAtMost(t *testing.T) {
	t.Parallel()
	first := []sdkChunk{{ID: "a", Text: "One:"}, stop()}
	for name, test := range map[string]struct {
		turns [][]sdkChunk
		left  int
	}{
		"of a continuation": {
			[][]sdkChunk{first, append([]sdkChunk{{Text: "Two:"}, stop()}, make([]sdkChunk, 300)...)},
			300 - 256,
		},
		"of the caller's own": {
			[][]sdkChunk{append(slices.Clone(first), make([]sdkChunk, 300)...), {{Text: "Two:"}, stop()}},
			300 - 256,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first, second := &list{chunks: slices.Clone(test.turns[0])}, &list{chunks: slices.Clone(test.turns[1])}
			got := drain(t, joined(t.Context(), newSetup(nil, onceMore()), newChunks(), adapter.Source[sdkChunk](first), second))

			require.NoError(t, got.err)
			assert.Equal(t, "One:\n\nTwo:", got.answer.Text)
			assert.Equal(t, "stop", got.answer.Stop)
			assert.Equal(t, test.left, len(first.chunks)+len(second.chunks), "chunks left unread")
		})
	}
}

// buffer is a source that reuses one chunk.
type buffer struct {
	list

	chunk sdkChunk
}

func (b *buffer) Recv() (*sdkChunk, error) {
	chunk, err := b.list.Recv()
	b.chunk = chunk
	return &b.chunk, err
}

// views is the dialect of a buffer's chunks.
type views struct{ *chunks }

func (d views) Read(c **sdkChunk, s adapter.TurnReader) { d.chunks.Read(*c, s) }

func (d views) AppendShown(dst []*sdkChunk, c **sdkChunk, e *adapter.Edit) []*sdkChunk {
	if *c == nil {
		*c = new(sdkChunk)
	}
	shown := d.chunks.AppendShown(nil, *c, e)
	if len(shown) == 0 {
		return dst
	}
	**c = shown[0] // in the source's memory
	return append(dst, *c)
}

func (d views) Clone(c **sdkChunk) *sdkChunk {
	clone := **c
	return &clone
}

// copied copies the content of each chunk from a stream of a buffer.
type copied struct {
	*join.Stream[*sdkChunk]
}

func (c copied) Recv() (sdkChunk, error) {
	chunk, err := c.Stream.Recv()
	if err != nil {
		return sdkChunk{}, err
	}
	return *chunk, nil
}

func TestWhatIsKeptOutlivesTheSourcesBuffer(t *testing.T) {
	t.Parallel()
	early, named, rest := usage(10, 5), edit("c1"), edit("c1")
	named.Name, named.Args = "todo_", ""
	rest.ID, rest.Name = "", "list"
	for name, turns := range map[string][][]sdkChunk{
		"an ending": {
			{{ID: "a", Text: "One:"}, stop(), usage(10, 5)}, {{Text: "Two:"}, stop(), usage(20, 8)},
		},
		"an ending that was none": {
			{{ID: "a", Text: "One:"}, {Stop: "stop"}, {ID: "b"}, {Text: "More."}, {Stop: "stop"}},
		},
		"usage that comes early": {
			{{ID: "a", Text: "One:"}, early, stop()}, {early, {Text: "Two:"}, {Text: "Three:"}, stop()},
		},
		"usage that only the first turn has": {
			{{ID: "a", Text: "One:"}, stop(), usage(10, 5)}, {{Text: "Two:"}, stop()},
		},
		"a name that stays open": {
			{{ID: "a", Text: "One:"}, stop()},
			{{Text: "Two:"}, fragment(named), {Text: "Three:"}, fragment(rest), {Stop: "tools"}},
		},
		"text after the finish": {
			{{ID: "a", Text: "One:"}, stop()},
			{{Text: "Two:"}, stop(), {Text: "Three:"}, {Text: "Four:"}, usage(20, 8)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var lists []adapter.Source[sdkChunk]
			var buffers []adapter.Source[*sdkChunk]
			for _, turn := range turns {
				lists = append(lists, &list{chunks: slices.Clone(turn)})
				buffers = append(buffers, &buffer{list: list{chunks: slices.Clone(turn)}})
			}
			want := drain(t, joined(t.Context(), newSetup(nil, onceMore()), newChunks(), lists...))
			got := drain(t, copied{joined(t.Context(), newSetup(nil, onceMore()), views{newChunks()}, buffers...)})
			assert.Equal(t, want, got)
		})
	}
}

func TestStreamThatIsClosedInAContinuationSaysSo(t *testing.T) {
	t.Parallel()
	s := newSetup(nil)
	stream := continued(t.Context(), s, &list{chunks: pieces("Two:", "Three:")})
	for range 2 {
		_, err := stream.Recv()
		require.NoError(t, err)
	}
	require.NoError(t, stream.Close())

	outcome := stream.Outcome()
	assert.Equal(t, reasons.BrokeOff, outcome.Reason)
	require.ErrorIs(t, outcome.Err, middleware.ErrClosed)
	assert.True(t, outcome.Ended)
	_, err := stream.Recv()
	assert.Error(t, err)
}

func TestNoTimerOutlivesAClosedStream(t *testing.T) {
	t.Parallel()
	clock := testclock.New()
	ctx, cancel := context.WithDeadline(t.Context(), clock.Now().Add(time.Hour))
	defer cancel()
	stream := continued(ctx, newSetup(nil, middleware.WithClock(clock)), &list{chunks: pieces("Two:", "Three:")})
	for range 2 {
		_, err := stream.Recv()
		require.NoError(t, err)
	}
	assert.Equal(t, 1, clock.Waiters(), "the caller's deadline is watched")
	require.NoError(t, stream.Close())
	assert.Zero(t, clock.Waiters())
}

func TestOutcomeIsACopy(t *testing.T) {
	t.Parallel()
	ctx, outcomes := middleware.Capture(t.Context())
	s := newSetup([]sdkAnswer{says("One:"), calls(edit("c1"))})
	_, err := s.agent.Complete(ctx, fixTheBuild)
	require.NoError(t, err)

	want := outcomes.Last()
	clear(outcomes.Last().Usage)
	assert.Equal(t, []adapter.Usage{{Prompt: 10, Completion: 5}, {Prompt: 20, Completion: 8}}, want.Usage)
	assert.Equal(t, want, outcomes.Last())
}

func TestGateIsToldTheSessionThatTheProgramNames(t *testing.T) {
	t.Parallel()
	var told, inCtx string
	s := newSetup([]sdkAnswer{says("One:"), calls(edit("c1"))},
		middleware.WithSessionKey(func(context.Context) string { return "conversation-42" }),
		middleware.WithGate(func(ctx context.Context, turn middleware.NextTurn) error {
			told, inCtx = turn.Session, continuation.Session(ctx)
			return nil
		}))
	_, _, err := s.answer(t.Context())

	require.NoError(t, err)
	assert.Equal(t, "conversation-42", told)
	assert.Equal(t, "conversation-42", inCtx)
}

func TestUsageThatSeemedTheEndIsShownBeforeAnError(t *testing.T) {
	t.Parallel()
	lost := errors.New("sdk: connection lost")
	own := append(pieces("One:"), usage(10, 5))
	got, outcome := spliced(t, newSetup(nil), &list{chunks: slices.Clone(own), err: lost})

	assert.Equal(t, own, got.chunks)
	assert.Same(t, lost, got.err)
	assert.Equal(t, reasons.BrokeOff, outcome.Reason)
}

func TestTextThatComesWithUsageIsNotHeldBack(t *testing.T) {
	t.Parallel()
	last := usage(10, 5)
	last.Text = "One:"
	got, _ := spliced(t, newSetup(nil, onceMore()), &list{chunks: []sdkChunk{last}}, &list{chunks: pieces("Two:")})

	require.NoError(t, got.err)
	assert.Equal(t, "One:\n\nTwo:", got.answer.Text)
}

func TestTextThatWasNoPauseIsShownBeforeTheCallAfterIt(t *testing.T) {
	t.Parallel()
	const open = "Two. todo_pause('x"
	got := drain(t, continued(t.Context(), newSetup(nil), &list{chunks: append(pieces(open), fragment(edit("c1")), sdkChunk{Stop: "tools"})}))

	require.NoError(t, got.err)
	var shown []string
	for _, chunk := range got.chunks {
		if len(chunk.Calls) > 0 {
			break
		}
		shown = append(shown, chunk.Text)
	}
	assert.Equal(t, "One:\n\n"+open, strings.Join(shown, ""), "before the call")
	assert.Equal(t, "One:\n\n"+open, got.answer.Text)
}

func TestWhatIsHeldBackIsBounded(t *testing.T) {
	t.Parallel()
	call := edit("c1")
	call.Name = "todo_"
	for name, test := range map[string]struct {
		texts []string
		left  int
	}{
		"by 1024 chunks": {slices.Repeat([]string{"x"}, 2000), 2001 - 1024},
		"by a mebibyte":  {slices.Repeat([]string{strings.Repeat("x", 600<<10)}, 4), 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rest := &list{chunks: append([]sdkChunk{fragment(call)}, pieces(test.texts...)...)}
			stream := continued(t.Context(), newSetup(nil), rest)
			for range 2 {
				_, err := stream.Recv()
				require.NoError(t, err)
			}
			assert.Len(t, rest.chunks, test.left, "chunks not read yet")
			require.NoError(t, stream.Close())
		})
	}
}

func TestPrintedPauseIsForgottenInTheNextTurn(t *testing.T) {
	t.Parallel()
	s := newSetup([]sdkAnswer{says("One:"), says("todo_pause('stuck')"), calls(edit("c1"))})
	answer, outcome, err := s.answer(t.Context())

	require.NoError(t, err)
	assert.Equal(t, []sdkCall{edit("c1")}, answer.Calls)
	assert.Nil(t, outcome.Paused)
	assert.Equal(t, reasons.ToolCalls, outcome.Reason)
	assert.Len(t, rejections(s.events), 1)
}

func TestCallInsideALayerIsReportedByTheOuterOneAlone(t *testing.T) {
	t.Parallel()
	ctx, outcomes := middleware.Capture(t.Context())
	inner := newSetup([]sdkAnswer{says("One:")})
	outer := newSetup(nil, onceMore())
	call := begin(ctx, outer.mw, describe(fixTheBuild))
	answer, err := inner.agent.Complete(call.Context(), fixTheBuild)
	require.NoError(t, err)
	assert.Equal(t, says("One:"), answer)
	call.Abort(nil)

	assert.Empty(t, inner.events.Events())
	assert.Len(t, outcomes.All(), 1)
}

func TestSessionRemembersThatTheModelRepeatedItsAnswer(t *testing.T) {
	t.Parallel()
	s := newSetup([]sdkAnswer{says("I will fix it."), says("I will fix it!")}, onceMore())
	ctx := inSession(t, "conversation-42")
	_, outcome, err := s.answer(ctx)
	require.NoError(t, err)
	assert.Equal(t, reasons.MaxAttempts, outcome.Reason)

	state, err := statetest.State(ctx, s.mw)
	require.NoError(t, err)
	assert.Equal(t, decision.ResultSameAnswer, state.LastResult)
}

func TestSessionsAgeByTheMiddlewaresClock(t *testing.T) {
	t.Parallel()
	clock := testclock.New()
	mw := middleware.New(buildTodos, middleware.WithClock(clock))
	ctx := inSession(t, "conversation-42")
	require.NoError(t, mw.Pause(ctx, blocked))
	clock.Advance(365 * 24 * time.Hour)
	state, err := statetest.State(ctx, mw)
	require.NoError(t, err)
	assert.Equal(t, decision.State{}, state)
}

func TestFirstModeThatThereIsNotIsRefused(t *testing.T) {
	t.Parallel()
	assert.Panics(t, func() { middleware.New(buildTodos, middleware.WithUsage(middleware.UsageLastTurn+1)) })
	assert.Panics(t, func() { middleware.New(buildTodos, middleware.WithPauseTool(middleware.PauseToolAlways+1)) })
}

func TestListThatIsDoneIsRemembered(t *testing.T) {
	t.Parallel()
	done := todo.Static(todo.Todo{ID: "1", Content: "Fix the build", Status: todo.Completed})
	mw := middleware.New(done)
	ctx := inSession(t, "conversation-42")
	agent := &client{&sdkClient{turns: []sdkAnswer{says("One:")}}, mw}
	_, err := agent.Complete(ctx, fixTheBuild)
	require.NoError(t, err)

	state, err := statetest.State(ctx, mw)
	require.NoError(t, err)
	assert.NotEqual(t, decision.Watermarks{}, state.Watermarks, "an item that is added and done again is no progress")
}

func TestFailureOfAnObserverSaysWhereItWas(t *testing.T) {
	t.Parallel()
	s := newSetup([]sdkAnswer{calls(edit("c1"))}, middleware.WithObserver(middleware.Observer{
		TurnEnded: func(context.Context, middleware.TurnEnded) { panic("no disk") },
	}))
	_, _, err := s.answer(inSession(t, "conversation-42"))
	require.NoError(t, err)
	require.Len(t, carryontest.Recorded[middleware.Failed](s.events), 1)
	assert.Equal(t, continuation.TurnID{Session: "conversation-42", Call: 1, Turn: 1}, carryontest.Recorded[middleware.Failed](s.events)[0].TurnID)
}

// sharedTodos are a list in an engine that processes share.
type sharedTodos struct{ todo.Provider }

func (sharedTodos) IsShared() bool { return true }

func TestTodosThatComeTooLateAreNone(t *testing.T) {
	t.Parallel()
	slow := todo.ProviderFunc(func(ctx context.Context) ([]todo.Todo, error) {
		<-ctx.Done()
		return buildTodos.Todos(ctx)
	})
	for limits, source := range map[continuation.Limits]todo.Provider{
		{TodoTimeout: time.Nanosecond}: slow, {StoreTimeout: time.Nanosecond}: sharedTodos{slow},
	} {
		events := carryontest.NewRecorder()
		mw := middleware.New(source, middleware.WithLimits(limits), middleware.WithObserver(events.Observer()))
		agent := &client{&sdkClient{turns: []sdkAnswer{says("One:")}}, mw}
		answer, err := agent.Complete(t.Context(), fixTheBuild)

		require.NoError(t, err)
		assert.Equal(t, says("One:"), answer)
		require.Len(t, carryontest.Recorded[middleware.Failed](events), 1)
		assert.Equal(t, "todos", carryontest.Recorded[middleware.Failed](events)[0].Op)
		require.ErrorIs(t, carryontest.Recorded[middleware.Failed](events)[0].Err, context.DeadlineExceeded)
		require.ErrorContains(t, carryontest.Recorded[middleware.Failed](events)[0].Err, "no list within 1ns")
	}
}

func TestPauseBeyondTheCallsToldApartIsNotShown(t *testing.T) {
	t.Parallel()
	var many []sdkCall
	for i := range 300 {
		many = append(many, edit("c"+strconv.Itoa(i)))
	}
	s := newSetup([]sdkAnswer{says("One:"), calls(append(slices.Clone(many), pauses(blocked))...)})
	answer, outcome, err := s.answer(t.Context())

	require.NoError(t, err)
	assert.Equal(t, many, answer.Calls)
	assert.Equal(t, reasons.ToolCalls, outcome.Reason)
}

// errOverloaded is the error in a chunk that is not part of an answer.
var errOverloaded = errors.New("sdk: overloaded")

// failing is the dialect of an SDK that gives errors as chunks.
type failing struct{ *chunks }

func (d failing) Read(c *sdkChunk, s adapter.TurnReader) {
	if c.ID == "error" {
		s.Fail(errOverloaded)
		s.Fail(errors.New("sdk: try again later")) // what comes second says less
		return
	}
	d.chunks.Read(c, s)
}

func TestErrorThatComesAsAChunk(t *testing.T) {
	t.Parallel()
	failure := sdkChunk{ID: "error", Text: "overloaded"}
	said, more := sdkChunk{ID: "a", Text: "One:"}, sdkChunk{ID: "a", Text: "Two:"}
	joinedText := sdkChunk{ID: "a", Text: "\n\nTwo:"}
	for name, test := range map[string]struct {
		turns  [][]sdkChunk
		want   []sdkChunk
		reason continuation.Reason
		err    error // what stands in the outcome
	}{
		"in the caller's own turn": {
			[][]sdkChunk{{said, failure, more}}, []sdkChunk{said, failure, more}, reasons.BrokeOff, errOverloaded,
		},
		"after its finish": {
			[][]sdkChunk{{said, stop(), failure, more}},
			[]sdkChunk{said, stop(), failure, more},
			reasons.BrokeOff, errOverloaded,
		},
		"after a finish that is not continued": {
			[][]sdkChunk{{said, fragment(edit("c1")), stop(), failure}},
			[]sdkChunk{said, fragment(edit("c1")), stop(), failure},
			reasons.ToolCalls, errOverloaded,
		},
		"in a continuation": {
			[][]sdkChunk{{said, stop()}, {more, failure, more}},
			[]sdkChunk{said, joinedText, stop()},
			reasons.Failed, errOverloaded,
		},
		"after the finish of one": {
			[][]sdkChunk{{said, stop()}, {more, stop(), failure, more}},
			[]sdkChunk{said, joinedText, stop()},
			reasons.BrokeOff, nil, // it had ended well
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var sources []adapter.Source[sdkChunk]
			for _, turn := range test.turns {
				sources = append(sources, &list{chunks: turn})
			}
			s := newSetup(nil)
			stream := joined(t.Context(), s, failing{newChunks()}, sources...)
			got := drain(t, stream)

			require.NoError(t, got.err)
			assert.Equal(t, test.want, got.chunks)
			assert.Equal(t, test.reason, stream.Outcome().Reason)
			assert.Equal(t, test.err, stream.Outcome().Err)
			require.Len(t, carryontest.Recorded[middleware.Failed](s.events), len(test.turns)-1, "a failure that the caller sees is no event")
			for _, failure := range carryontest.Recorded[middleware.Failed](s.events) {
				assert.ErrorIs(t, failure.Err, errOverloaded)
			}
		})
	}
}

func TestCallsShownBeforeAPauseKeepTheirPlaces(t *testing.T) {
	t.Parallel()
	first, second, third := edit("c1"), pauses(blocked), edit("c3")
	second.Index, third.Index = 1, 2
	got := drain(t, joined(t.Context(), newSetup(nil, middleware.WithPauseTool(middleware.PauseToolAlways)), newChunks(),
		adapter.Source[sdkChunk](&list{chunks: []sdkChunk{
			fragment(first), fragment(second), fragment(third), {Stop: "tools"},
		}})))

	require.NoError(t, got.err)
	third.Index = 1
	assert.Equal(t, []sdkCall{first, third}, got.answer.Calls)
}

func TestCallbackThatWasShownHalfACallMakesTheFailureAnError(t *testing.T) {
	t.Parallel()
	half := edit("c1")
	half.Name = "todo_"
	call := begin(t.Context(), newSetup(nil).mw, describe(fixTheBuild))
	var shown []sdkCall
	filter := join.NewFilter(newChunks(), func(c sdkChunk) error {
		shown = append(shown, c.Calls...)
		return nil
	})
	answer, err := join.Unary(call, &answers{usageTotals: newUsageTotals()},
		func(_ context.Context, k *adapter.Continuation) (sdkAnswer, error) {
			if k == nil {
				return says("One:"), nil
			}
			require.NoError(t, filter.Chunk(fragment(half)))
			return sdkAnswer{}, errOverloaded
		}, filter)

	require.ErrorIs(t, err, errOverloaded)
	assert.Equal(t, "One:", answer.Text)
	assert.Equal(t, []sdkCall{half}, shown)
}

func TestTokensAreCountedWithoutATotal(t *testing.T) {
	t.Parallel()
	s := newSetup([]sdkAnswer{says("One:"), calls(edit("c1"))})
	ctx := inSession(t, "conversation-42")
	_, _, err := s.answer(ctx)
	require.NoError(t, err)
	state, err := statetest.State(ctx, s.mw)
	require.NoError(t, err)
	assert.Equal(t, 28, state.Tokens, "the tokens of the continuation")
}

func TestPauseIsAnsweredWithoutAWordIfNoneWasSaid(t *testing.T) {
	t.Parallel()
	s := newSetup([]sdkAnswer{calls(pauses("stuck")), calls(edit("c1"))}, middleware.WithPauseTool(middleware.PauseToolAlways))
	_, _, err := s.answer(t.Context())
	require.NoError(t, err)
	require.Len(t, s.model.requests, 2)
	answered := s.model.requests[1].Messages[1]
	assert.Empty(t, answered.Text)
	assert.Len(t, answered.Calls, 1)

	s = newSetup([]sdkAnswer{says(" "), calls(edit("c1"))})
	_, _, err = s.answer(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "(no answer)", s.model.requests[1].Messages[1].Text, "without a call, providers want a text")
}

func TestPauseBesideACallIsAcceptedWhateverItsReason(t *testing.T) {
	t.Parallel()
	s := newSetup([]sdkAnswer{says("One:"), calls(pauses("stuck"), edit("c1"))})
	_, outcome, err := s.answer(t.Context())
	require.NoError(t, err)
	require.NotNil(t, outcome.Paused)
	assert.Equal(t, "stuck", outcome.Paused.Reason)
	assert.Len(t, carryontest.Recorded[middleware.Decision](s.events), 1, "none on the turn that paused")
}

func TestLeaveIsDeniedOnceInAUserTurn(t *testing.T) {
	t.Parallel()
	asks := calls(pauses("Waiting for your permission to continue"))
	s := newSetup([]sdkAnswer{says("One:"), asks, calls(edit("c1")), says("Two:"), asks}, middleware.WithApprovalMode(continuation.ApprovalYOLO))
	for _, paused := range []bool{false, true} {
		_, outcome, err := s.answer(inSession(t, "s"))
		require.NoError(t, err)
		assert.Equal(t, paused, outcome.Paused != nil)
	}
}

func TestListThatACancelledCallHasNotReadIsStaleOnceItIsSeen(t *testing.T) {
	t.Parallel()
	s := newSetup(nil)
	ctx, cancel := context.WithCancel(inSession(t, "s"))
	_, err := join.Unary(begin(ctx, s.mw, describe(fixTheBuild)), &answers{usageTotals: newUsageTotals()},
		func(context.Context, *adapter.Continuation) (sdkAnswer, error) {
			cancel()
			return sdkAnswer{}, ctx.Err()
		})
	require.ErrorIs(t, err, context.Canceled)
	state, err := statetest.State(inSession(t, "s"), s.mw)
	require.NoError(t, err)
	assert.True(t, state.Cancelled)
	assert.Zero(t, state.Stale)

	s.model.turns = []sdkAnswer{says("One:"), says("Two:")}
	_, outcome, err := s.answer(inSession(t, "s"))
	require.NoError(t, err)
	assert.Equal(t, 1, outcome.Attempts, "a stale list gets one attempt")
	state, err = statetest.State(inSession(t, "s"), s.mw)
	require.NoError(t, err)
	assert.False(t, state.Cancelled)
	assert.NotZero(t, state.Stale)
}

// Each continuation waits for the interval, and the list is read again after the wait.
func TestEachContinuationWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		reads := 0
		source := todo.ProviderFunc(func(ctx context.Context) ([]todo.Todo, error) {
			reads++
			return buildTodos.Todos(ctx)
		})
		mw := middleware.New(source, middleware.WithLimits(continuation.Limits{MaxAttempts: 3, MinInterval: time.Second}))
		began := time.Now()
		_, err := (&client{&sdkClient{turns: []sdkAnswer{says("One:"), says("Two:"), says("Three:"), calls(edit("c1"))}}, mw}).Complete(t.Context(), fixTheBuild)
		require.NoError(t, err)
		assert.Equal(t, 2*time.Second, time.Since(began))
		assert.Equal(t, 1+2+2, reads)
	})
}

func TestCallbackThatFailedInAContinuationIsReturnedWhateverTheSDKDoes(t *testing.T) {
	t.Parallel()
	enough := errors.New("the reader has left")
	p := &piecewise{
		turns: [][]sdkChunk{pieces("One:"), pieces("Two:")}, deaf: true,
		fail: func(shown int) error {
			if shown > 1 {
				return enough
			}
			return nil
		},
	}
	answer, err := p.run(begin(t.Context(), newSetup(nil).mw, describe(fixTheBuild)))
	require.ErrorIs(t, err, enough)
	assert.Equal(t, "One:\n\nTwo:", answer.Text)
}

func TestCallAfterTheFinishOfAContinuationEndsTheLoop(t *testing.T) {
	t.Parallel()
	late := edit("c1")
	late.Name = "todo_" // which may still become todo_pause, and does not
	s := newSetup(nil)
	stream := continued(t.Context(), s, &list{chunks: []sdkChunk{{Text: "Two:"}, stop(), fragment(late)}})
	got := drain(t, stream)
	require.NoError(t, got.err)
	assert.Equal(t, []sdkCall{late}, got.answer.Calls)
	assert.Equal(t, reasons.ToolCalls, stream.Outcome().Reason)
}

func TestPauseOfAnOlderUserTurnDoesNotPauseTheNewerOne(t *testing.T) {
	t.Parallel()
	s := newSetup(nil)
	ctx := inSession(t, "conversation-42")
	call := begin(ctx, s.mw, describe(fixTheBuild))
	_, err := join.Unary(call, &answers{usageTotals: newUsageTotals()},
		func(_ context.Context, k *adapter.Continuation) (sdkAnswer, error) {
			if k == nil {
				return says("One:"), nil
			}
			newer := describe(fixTheBuild)
			newer.Users, newer.User = 2, "Never mind."
			begin(ctx, s.mw, newer)
			return calls(pauses(blocked)), nil
		})
	require.NoError(t, err)
	assert.NotNil(t, call.Outcome().Paused)

	state, err := statetest.State(ctx, s.mw)
	require.NoError(t, err)
	assert.False(t, state.Paused.IsSet())
}

func TestPauseToolIsNotDeclaredWhereContinuationsAreSwitchedOff(t *testing.T) {
	t.Parallel()
	s := newSetup([]sdkAnswer{says("One:")}, middleware.WithPauseTool(middleware.PauseToolAlways))
	ctx := inSession(t, "conversation-42")
	require.NoError(t, s.mw.Settings().SetTodoContinuation(t.Context(), "conversation-42", false))
	_, _, err := s.answer(ctx)
	require.NoError(t, err)
	assert.Equal(t, fixTheBuild.Tools, s.model.requests[0].Tools)
}

func TestContinuationThatOpensInAClosedStreamIsClosed(t *testing.T) {
	t.Parallel()
	opened := &list{chunks: pieces("Two:")}
	var stream *join.Stream[sdkChunk]
	stream = join.NewStream(begin(t.Context(), newSetup(nil).mw, describe(fixTheBuild)), newChunks(),
		said(),
		func(context.Context, *adapter.Continuation) (adapter.Source[sdkChunk], error) {
			return opened, stream.Close()
		})
	_, err := stream.Recv()
	require.NoError(t, err)
	_, err = stream.Recv()
	require.ErrorIs(t, err, middleware.ErrClosed)
	assert.Equal(t, 1, opened.closed)
	assert.Len(t, opened.chunks, 1, "it is not read")
}

func TestHalfACallCountsAsAnAttempt(t *testing.T) {
	t.Parallel()
	s := newSetup(nil)
	ctx := inSession(t, "conversation-42")
	got := drain(t, continued(ctx, s, &list{chunks: []sdkChunk{fragment(edit("c1"))}, err: errOverloaded}))
	require.ErrorIs(t, got.err, errOverloaded)

	state, err := statetest.State(ctx, s.mw)
	require.NoError(t, err)
	assert.Equal(t, 1, state.Attempts, "only a whole call is progress")
}

// idleStore is a store that says it is done and has done nothing.
type idleStore struct{}

func (idleStore) Update(context.Context, string, records.UpdateFunc) error {
	return nil
}

func TestStoreThatDoesNothingHasFailed(t *testing.T) {
	t.Parallel()
	s := newSetup([]sdkAnswer{says("One:")}, middleware.WithRecords(idleStore{}))
	ctx := inSession(t, "conversation-42")
	answer, outcome, err := s.answer(ctx)
	require.NoError(t, err)
	assert.Equal(t, "One:", answer.Text)
	assert.Equal(t, reasons.Store, outcome.Reason)
	_, err = s.mw.State(ctx)
	assert.Error(t, err)
}

func TestTextThatIsHeldBackInAContinuationThatFailsIsShown(t *testing.T) {
	t.Parallel()
	call := edit("c1")
	call.Name = "todo_"
	s := newSetup(nil, onceMore())
	held := func() *list {
		return &list{chunks: append([]sdkChunk{fragment(call)}, pieces("Two, ", "three.")...), err: errOverloaded}
	}
	stream := continued(t.Context(), s, held(), held(), held())
	got := drain(t, stream)
	require.NoError(t, got.err)
	assert.Equal(t, "One:\n\nTwo, three.", got.answer.Text)
	assert.Empty(t, got.answer.Calls)
	assert.ErrorIs(t, stream.Outcome().Err, errOverloaded)
}

func TestFirstFinishOfAContinuationCounts(t *testing.T) {
	t.Parallel()
	s := newSetup(nil)
	stream := continued(t.Context(), s, &list{chunks: []sdkChunk{{Text: "Two:"}, {Stop: "length"}, stop()}})
	got := drain(t, stream)
	require.NoError(t, got.err)
	assert.Equal(t, "length", got.answer.Stop)
	assert.Equal(t, 2, stream.Outcome().Turns, "an answer that was cut off is not continued")
	assert.Equal(t, "length", carryontest.Recorded[middleware.TurnEnded](s.events)[1].Finish)
}

func TestIndexOfACallMayComeLate(t *testing.T) {
	t.Parallel()
	first, second := pauses(blocked), pauses(blocked)
	first.Index, first.Args = adapter.NoIndex, ""
	second.ID, second.Name = "", ""
	stream := continued(t.Context(), newSetup(nil), &list{chunks: []sdkChunk{fragment(first), fragment(second), {Stop: "tools"}}})
	got := drain(t, stream)
	require.NoError(t, got.err)
	assert.Equal(t, "One:\n\nTask paused: "+blocked, got.answer.Text)
	assert.Empty(t, got.answer.Calls)
}

func TestUsageThatWasNotTheEndIsShownInItsPlace(t *testing.T) {
	t.Parallel()
	own := slices.Concat(pieces("One"), []sdkChunk{usage(10, 1)}, pieces("."), []sdkChunk{usage(10, 2), fragment(edit("c1"))})
	got, _ := spliced(t, newSetup(nil), &list{chunks: slices.Clone(own)})
	require.NoError(t, got.err)
	assert.Equal(t, own, got.chunks)
}

func TestContextOfAContinuationEndsWithIt(t *testing.T) {
	t.Parallel()
	var ctxs []context.Context
	var ended error
	call := begin(t.Context(), newSetup(nil).mw, describe(fixTheBuild))
	_, err := join.Unary(call, &answers{usageTotals: newUsageTotals()},
		func(ctx context.Context, k *adapter.Continuation) (sdkAnswer, error) {
			ctxs = append(ctxs, ctx)
			if len(ctxs) == 3 {
				ended = ctxs[1].Err()
				return calls(edit("c1")), nil
			}
			return says(strings.Repeat("More:", len(ctxs))), nil
		})
	require.NoError(t, err)
	require.Len(t, ctxs, 3)
	assert.Error(t, ended, "the ctx of the first continuation, while the second runs")
}

// silent is a source that falls silent at its end.
type silent struct {
	list

	clock *testclock.Clock
	ctx   context.Context
}

func (s *silent) Recv() (sdkChunk, error) {
	if len(s.chunks) == 0 {
		s.clock.Advance(time.Hour)
		return sdkChunk{}, s.ctx.Err()
	}
	return s.list.Recv()
}

func TestLimitIsNamedWhateverTheSDKMakesOfItsContext(t *testing.T) {
	t.Parallel()
	t.Run("unary", func(t *testing.T) {
		t.Parallel()
		clock := testclock.New()
		call := begin(t.Context(), newSetup(nil, middleware.WithClock(clock)).mw, describe(fixTheBuild))
		answer, err := join.Unary(call, &answers{usageTotals: newUsageTotals()},
			func(ctx context.Context, k *adapter.Continuation) (sdkAnswer, error) {
				if k == nil {
					return says("One:"), nil
				}
				clock.Advance(time.Hour)
				return sdkAnswer{}, ctx.Err()
			})
		require.NoError(t, err)
		assert.Equal(t, "One:", answer.Text)
		assert.Equal(t, middleware.ErrFirstByteTimeout, call.Outcome().Err)
	})
	t.Run("stream that falls silent", func(t *testing.T) {
		t.Parallel()
		clock := testclock.New()
		call := begin(t.Context(), newSetup(nil, middleware.WithClock(clock)).mw, describe(fixTheBuild))
		got := drain(t, join.NewStream(call, newChunks(), said(),
			func(ctx context.Context, _ *adapter.Continuation) (adapter.Source[sdkChunk], error) {
				return &silent{list{chunks: pieces("Two:")}, clock, ctx}, nil
			}))
		require.NoError(t, got.err)
		assert.Equal(t, "One:\n\nTwo:", got.answer.Text)
		assert.Equal(t, middleware.ErrResponseTimeout, call.Outcome().Err)
	})
	t.Run("stream that is not opened", func(t *testing.T) {
		t.Parallel()
		clock := testclock.New()
		call := begin(t.Context(), newSetup(nil, middleware.WithClock(clock)).mw, describe(fixTheBuild))
		got := drain(t, join.NewStream(call, newChunks(), said(),
			func(ctx context.Context, _ *adapter.Continuation) (adapter.Source[sdkChunk], error) {
				clock.Advance(time.Hour)
				return nil, ctx.Err()
			}))
		require.NoError(t, got.err)
		assert.Equal(t, "One:", got.answer.Text)
		assert.Equal(t, middleware.ErrFirstByteTimeout, call.Outcome().Err)
	})
}

func TestRejectionNamesTheTaskAsAPromptDoes(t *testing.T) {
	t.Parallel()
	todos := todo.Static(todo.Todo{ID: "1", Content: "Fix\n the 'build'", Status: todo.Pending})
	model := &sdkClient{turns: []sdkAnswer{says("One:"), calls(pauses("stuck")), calls(edit("c1"))}}
	agent := &client{model, middleware.New(todos, unhurried)}
	_, err := agent.Complete(t.Context(), fixTheBuild)
	require.NoError(t, err)
	require.Len(t, model.requests, 3)
	result := model.requests[2].Messages[2]
	assert.Equal(t, "tool", result.Role)
	assert.Contains(t, result.Text, "\n'Fix the \u2019build\u2019'")
}

func TestOutcomeOfACallThatHasEndedDoesNotChange(t *testing.T) {
	t.Parallel()
	call := begin(t.Context(), newSetup(nil).mw, describe(fixTheBuild))
	call.Abort(errOverloaded)
	want := call.Outcome()
	require.ErrorIs(t, want.Err, errOverloaded)
	call.Abort(context.Canceled)
	assert.Equal(t, want, call.Outcome())
}

func TestGateMayAskAModelThroughTheSameClient(t *testing.T) {
	t.Parallel()
	var s *setup
	var said []string
	s = newSetup([]sdkAnswer{says("One:"), says("It may go on."), calls(edit("c1")).saying("Two:")},
		middleware.WithGate(func(ctx context.Context, _ middleware.NextTurn) error {
			answer, err := s.agent.Complete(ctx, fixTheBuild)
			said = append(said, answer.Text)
			return err
		}))
	answer, outcome, err := s.answer(inSession(t, "conversation-42"))
	require.NoError(t, err)
	assert.Equal(t, []string{"It may go on."}, said, "the gate's own call is not continued")
	assert.Equal(t, "One:\n\nTwo:", answer.Text)
	assert.Equal(t, 2, outcome.Turns)
}

func TestWhatIsHeldBackIsShownBeforeAnError(t *testing.T) {
	t.Parallel()
	call := edit("c1")
	call.Name = "todo_"
	own := append([]sdkChunk{{ID: "a", Text: "One:"}, fragment(call)}, pieces("Two:")...)
	got := drain(t, joined(t.Context(), newSetup(nil, middleware.WithPauseTool(middleware.PauseToolAlways)), newChunks(),
		adapter.Source[sdkChunk](&list{chunks: slices.Clone(own), err: errOverloaded})))
	assert.Equal(t, own, got.chunks)
	assert.Same(t, errOverloaded, got.err)
}

func TestNameThatWasOpenTooLongIsNoPauseAnyMore(t *testing.T) {
	t.Parallel()
	first, second := edit("c1"), edit("c1")
	first.Name, second.Name, second.Args = "todo_", "pause", `{"reason":"stuck"}`
	got := drain(t, continued(t.Context(), newSetup(nil), &list{chunks: slices.Concat([]sdkChunk{fragment(first)}, pieces(slices.Repeat([]string{"x"}, 1024)...),
		[]sdkChunk{fragment(second), {Stop: "tools"}})}))
	require.NoError(t, got.err)
	assert.Equal(t, []sdkCall{first, second}, got.answer.Calls)
	assert.Equal(t, "tools", got.answer.Stop)
}

func TestTextAgentNeedsNoTools(t *testing.T) {
	t.Parallel()
	mw := middleware.New(buildTodos)
	assert.Nil(t, begin(t.Context(), mw, adapter.Request{Users: 1}))
	assert.NotNil(t, begin(t.Context(), mw, adapter.Request{Users: 1, TextAgent: true}))
}

func TestMessageOfATextAgentThatGrowsIsTheSameUserTurn(t *testing.T) {
	t.Parallel()
	mw := middleware.New(buildTodos)
	ctx := inSession(t, "conversation-42")
	for _, step := range []struct {
		text   string
		paused bool
	}{
		{"Question: Why?", false},
		{"Question: Why?\nThought: Hm.", true},
		{"Question: When?", false},
	} {
		begin(ctx, mw, adapter.Request{Users: 1, TextAgent: true, User: step.text})
		state, err := statetest.State(ctx, mw)
		require.NoError(t, err)
		assert.Equal(t, step.paused, state.Paused.IsSet(), step.text)
		require.NoError(t, mw.Pause(ctx, blocked))
	}
}

func TestCallsWithOneIDAreToldApartByTheirIndexes(t *testing.T) {
	t.Parallel()
	first, second := pauses(blocked), edit("p")
	second.Index = 1
	got := drain(t, continued(t.Context(), newSetup(nil), &list{chunks: []sdkChunk{fragment(first), fragment(second), {Stop: "tools"}}}))
	require.NoError(t, got.err)
	second.Index = 0
	assert.Equal(t, []sdkCall{second}, got.answer.Calls)
}

func TestPrintedPauseBesideACallWithAnOpenNameIsText(t *testing.T) {
	t.Parallel()
	call := edit("c1")
	call.Name = "todo_"
	const printed = "todo_pause('" + blocked + "')"
	stream := continued(t.Context(), newSetup(nil), &list{chunks: append(pieces(printed), fragment(call), sdkChunk{Stop: "tools"})})
	got := drain(t, stream)
	require.NoError(t, got.err)
	assert.Equal(t, "One:\n\n"+printed, got.answer.Text)
	assert.Equal(t, []sdkCall{call}, got.answer.Calls)
	assert.Nil(t, stream.Outcome().Paused)
}

func TestListOfAnOwnTurnThatPausedIsStale(t *testing.T) {
	t.Parallel()
	s := newSetup([]sdkAnswer{calls(pauses(blocked))}, middleware.WithPauseTool(middleware.PauseToolAlways))
	ctx := inSession(t, "conversation-42")
	_, _, err := s.answer(ctx)
	require.NoError(t, err)
	todos, err := buildTodos.Todos(ctx)
	require.NoError(t, err)
	state, err := statetest.State(ctx, s.mw)
	require.NoError(t, err)
	assert.Equal(t, decision.Digest(todos), state.Stale)
}

// remoteStore is a store that does nothing for a ctx that has ended.
type remoteStore struct{ *records.MemoryEngine }

func (s remoteStore) Update(ctx context.Context, key string, f records.UpdateFunc) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.MemoryEngine.Update(ctx, key, f)
}

func TestCallThatIsCancelledLeavesItsSessionFree(t *testing.T) {
	t.Parallel()
	store := remoteStore{records.NewMemoryEngine()}
	s := newSetup(nil, middleware.WithRecords(store))
	session := inSession(t, "conversation-42")
	ctx, cancel := context.WithCancel(session)
	_, err := join.Unary(begin(ctx, s.mw, describe(fixTheBuild)), &answers{usageTotals: newUsageTotals()},
		func(ctx context.Context, k *adapter.Continuation) (sdkAnswer, error) {
			if k == nil {
				return says("One:"), nil
			}
			cancel()
			return sdkAnswer{}, ctx.Err()
		})
	require.ErrorIs(t, err, context.Canceled)

	state, err := statetest.State(session, s.mw)
	require.NoError(t, err)
	assert.Zero(t, state.Claim)
	assert.Equal(t, 1, state.Attempts, "the caller has ended it")
	assert.Equal(t, decision.ResultNone, state.LastResult, "the model did nothing wrong")
}

func TestApprovalModeIsThatOfTheMiddleware(t *testing.T) {
	t.Parallel()
	s := newSetup([]sdkAnswer{says("One:"), calls(edit("c1"))}, middleware.WithApprovalMode(continuation.ApprovalYOLO))
	_, _, err := s.answer(t.Context())
	require.NoError(t, err)
	require.Len(t, s.model.requests, 2)
	assert.Contains(t, s.model.requests[1].Messages[2].Text, "CONTINUE TASK IMMEDIATELY")
}

func TestCallNumberedMinusOneIsTheFirst(t *testing.T) {
	t.Parallel()
	first, second := pauses(blocked), pauses(blocked)
	first.Index, first.Args = -1, ""
	second.ID, second.Name = "", ""
	got := drain(t, continued(t.Context(), newSetup(nil), &list{chunks: []sdkChunk{fragment(first), fragment(second), {Stop: "tools"}}}))
	require.NoError(t, got.err)
	assert.Equal(t, "One:\n\nTask paused: "+blocked, got.answer.Text)
	assert.Empty(t, got.answer.Calls)
}

func TestContextOfACallEndsWithIt(t *testing.T) {
	t.Parallel()
	call := begin(t.Context(), newSetup(nil).mw, describe(fixTheBuild))
	require.NoError(t, call.Context().Err())
	call.Abort(errOverloaded)
	assert.Error(t, call.Context().Err(), "so that nothing is left that waits for it")
}

// closer is a source that closes its stream while it is read.
type closer struct {
	list

	close func()
}

func (c *closer) Recv() (sdkChunk, error) {
	c.close()
	return c.list.Recv()
}

func TestSessionIsFreeOnceCloseReturns(t *testing.T) {
	t.Parallel()
	s := newSetup(nil)
	ctx := inSession(t, "conversation-42")
	var stream *join.Stream[sdkChunk]
	var before, after decision.State
	stream = continued(ctx, s, &closer{close: func() {
		before, _ = statetest.State(ctx, s.mw)
		_ = stream.Close()
		after, _ = statetest.State(ctx, s.mw)
	}})
	got := drain(t, stream)
	require.ErrorIs(t, got.err, middleware.ErrClosed)
	assert.NotZero(t, before.Claim, "while it is continued")
	assert.Zero(t, after.Claim, "although the source is still being read")
	assert.Equal(t, 1, after.Attempts)
}

func TestTodosAreKeptWhateverTheSourceDoesWithItsSlice(t *testing.T) {
	t.Parallel()
	todos := []todo.Todo{{ID: "1", Content: "Fix the build", Status: todo.Pending}}
	model := &sdkClient{turns: []sdkAnswer{says("One:"), calls(edit("c1"))}}
	agent := &client{model, middleware.New(
		todo.ProviderFunc(func(context.Context) ([]todo.Todo, error) { return todos, nil }),
		middleware.WithGate(func(context.Context, middleware.NextTurn) error {
			todos[0].Content = "Something else"
			return nil
		}))}
	_, err := agent.Complete(t.Context(), fixTheBuild)
	require.NoError(t, err)
	require.Len(t, model.requests, 2)
	assert.Contains(t, model.requests[1].Messages[2].Text, "Fix the build")
}

// brokenHandler is a handler that panics.
type brokenHandler struct{ slog.Handler }

func (brokenHandler) Enabled(context.Context, slog.Level) bool  { return true }
func (brokenHandler) Handle(context.Context, slog.Record) error { panic("no disk") }

func TestLogThatPanicsDoesNotReachTheCaller(t *testing.T) {
	t.Parallel()
	s := newSetup([]sdkAnswer{says("One:"), calls(edit("c1"))}, middleware.WithLogger(slog.New(brokenHandler{})))
	answer, _, err := s.answer(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []sdkCall{edit("c1")}, answer.Calls)
}

func TestAdapterDoesNotRelayPastWhatIsHeldBack(t *testing.T) {
	t.Parallel()
	first, rest := edit("c1"), edit("c1")
	first.Name, rest.ID, rest.Name = "todo_", "", "list"
	stream := joined(t.Context(), newSetup(nil, middleware.WithPauseTool(middleware.PauseToolAlways)), newChunks(),
		adapter.Source[sdkChunk](&list{chunks: []sdkChunk{fragment(first), {Text: "One:"}, fragment(rest), {Text: "Two:"}, {Stop: "tools"}}}))
	require.NotNil(t, stream.Relay())
	chunk, err := stream.Recv()
	require.NoError(t, err)
	assert.Equal(t, fragment(first), chunk)
	assert.Nil(t, stream.Relay(), "the chunks held back with it come first")
	got := drain(t, stream)
	require.NoError(t, got.err)
	assert.Equal(t, "One:Two:", got.answer.Text)
}

func TestPanicOfASourceLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	s := newSetup(nil)
	ctx := inSession(t, "conversation-42")
	source := &closer{close: func() { panic(errOverloaded) }}
	stream := continued(ctx, s, source)
	_, err := stream.Recv()
	require.NoError(t, err)
	assert.PanicsWithValue(t, errOverloaded, func() { _, _ = stream.Recv() })

	assert.Equal(t, 1, source.closed, "even if the caller does not call Close")
	assert.True(t, stream.Outcome().Ended)
	state, err := statetest.State(ctx, s.mw)
	require.NoError(t, err)
	assert.Zero(t, state.Claim)
	_, err = stream.Recv()
	assert.ErrorIs(t, err, middleware.ErrClosed)
}
