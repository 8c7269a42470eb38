package middleware_test

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/adapter/join"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// list is a source of chunks that counts how often it is closed.
type list struct {
	chunks []sdkChunk
	err    error
	closed int
}

func (l *list) Recv() (sdkChunk, error) {
	if len(l.chunks) == 0 {
		if l.err != nil {
			return sdkChunk{}, l.err
		}
		return sdkChunk{}, io.EOF
	}
	chunk := l.chunks[0]
	l.chunks = l.chunks[1:]
	return chunk, nil
}

func (l *list) Close() error {
	l.closed++
	return nil
}

// spliced plays turns of a provider that never reports a finish reason.
func spliced(t *testing.T, s *setup, sources ...*list) (streamed, middleware.Outcome) {
	t.Helper()
	request := describe(fixTheBuild)
	request.NoFinish = true
	call := begin(t.Context(), s.mw, request)
	sent := 0
	stream := join.NewStream(call, &chunks{usageTotals: newUsageTotals()}, sources[0],
		func(context.Context, *adapter.Continuation) (adapter.Source[sdkChunk], error) {
			sent++
			return sources[sent], nil
		})
	result := drain(t, stream)
	assert.Equal(t, len(sources)-1, sent, "continuations")
	return result, call.Outcome()
}

func usage(in, out int) sdkChunk { return sdkChunk{ID: "a", Usage: &sdkUsage{In: in, Out: out}} }

func TestStreamWithoutFinishReasonsJoinsTexts(t *testing.T) {
	t.Parallel()
	sources := []*list{{chunks: pieces("One", ":")}, {chunks: pieces("Two:")}}
	got, outcome := spliced(t, newSetup(nil, onceMore()), sources...)

	require.NoError(t, got.err)
	assert.Equal(t, "One:\n\nTwo:", got.answer.Text)
	assert.Empty(t, got.answer.Stop)
	assert.Equal(t, reasons.MaxAttempts, outcome.Reason)
	for i, source := range sources {
		assert.Equal(t, 1, source.closed, "source %d is closed", i)
	}
}

func TestStreamWithoutFinishReasonsEndsInACall(t *testing.T) {
	t.Parallel()
	got, outcome := spliced(t, newSetup(nil),
		&list{chunks: pieces("One:")}, &list{chunks: append(pieces("Two:"), fragment(edit("c1")))})

	require.NoError(t, got.err)
	assert.Equal(t, "One:\n\nTwo:", got.answer.Text)
	assert.Equal(t, []sdkCall{edit("c1")}, got.answer.Calls)
	assert.Equal(t, reasons.ToolCalls, outcome.Reason)
	assert.NoError(t, outcome.Err)
}

func TestStreamWithoutFinishReasonsPauses(t *testing.T) {
	t.Parallel()
	got, outcome := spliced(t, newSetup(nil),
		&list{chunks: pieces("One:")}, &list{chunks: []sdkChunk{fragment(pauses(blocked))}})

	require.NoError(t, got.err)
	assert.Equal(t, "One:\n\nTask paused: "+blocked, got.answer.Text)
	assert.Empty(t, got.answer.Calls)
	assert.Equal(t, reasons.Paused, outcome.Reason)
}

func TestStreamWithoutFinishReasonsShowsTheJoinedUsageOnceAndLast(t *testing.T) {
	t.Parallel()
	got, _ := spliced(t, newSetup(nil, onceMore()),
		&list{chunks: append(pieces("One:"), usage(10, 5))}, &list{chunks: append(pieces("Two:"), usage(20, 8))})

	require.NoError(t, got.err)
	assert.Equal(t, sdkUsage{In: 10, Out: 13}, got.answer.Usage)
	shown := 0
	for _, chunk := range got.chunks {
		if chunk.Usage != nil {
			shown++
		}
	}
	assert.Equal(t, 1, shown, "chunks with usage")
	assert.NotNil(t, got.chunks[len(got.chunks)-1].Usage)
}

func TestStreamWithoutFinishReasonsSurvivesAFailure(t *testing.T) {
	t.Parallel()
	down := errors.New("sdk: connection lost")
	got, outcome := spliced(t, newSetup(nil),
		&list{chunks: pieces("One:")}, &list{chunks: pieces("Tw"), err: down})

	require.NoError(t, got.err)
	assert.Equal(t, "One:\n\nTw", got.answer.Text)
	assert.ErrorIs(t, outcome.Err, down)
}

func TestStreamWithoutFinishReasonsLeavesATurnThatCallsAlone(t *testing.T) {
	t.Parallel()
	own := append(pieces("One:"), fragment(edit("c1")), usage(10, 5))
	got, outcome := spliced(t, newSetup(nil), &list{chunks: own})

	require.NoError(t, got.err)
	assert.Equal(t, own, got.chunks)
	assert.Equal(t, reasons.ToolCalls, outcome.Reason)
}

func TestStreamReturnsTheCallersOwnErrorAsItCame(t *testing.T) {
	t.Parallel()
	lost := errors.New("sdk: connection lost")
	s := newSetup(nil)
	source := &list{chunks: pieces("One:"), err: lost}
	call := begin(t.Context(), s.mw, describe(fixTheBuild))
	stream := join.NewStream(call, &chunks{usageTotals: newUsageTotals()}, source, nil)

	chunk, err := stream.Recv()
	require.NoError(t, err)
	assert.Equal(t, "One:", chunk.Text)
	for range 2 {
		_, err = stream.Recv()
		assert.Same(t, lost, err)
	}
	require.NoError(t, stream.Close())
	require.NoError(t, stream.Close(), "closing again does nothing")
	assert.Equal(t, 1, source.closed)
	assert.Equal(t, reasons.BrokeOff, call.Outcome().Reason)
}

func TestStreamWithoutFinishReasonsIsAsItCameIfThereIsNothingToDo(t *testing.T) {
	t.Parallel()
	own := append(pieces("One:"), usage(10, 5))
	s := newSetup(nil)
	s.mw = middleware.New(todo.Static())
	got, outcome := spliced(t, s, &list{chunks: own})

	require.NoError(t, got.err)
	assert.Equal(t, own, got.chunks)
	assert.Equal(t, reasons.EmptyList, outcome.Reason)
}

func TestStreamWithoutFinishReasonsIsAsItCameIfTheGateVetoes(t *testing.T) {
	t.Parallel()
	own := append(pieces("One:"), usage(10, 5))
	veto := func(context.Context, middleware.NextTurn) error { return errors.New("not now") }
	got, outcome := spliced(t, newSetup(nil, middleware.WithGate(veto)), &list{chunks: own})

	require.NoError(t, got.err)
	assert.Equal(t, own, got.chunks)
	assert.Equal(t, reasons.Gate, outcome.Reason)
}

func TestStreamWithoutFinishReasonsPausesInTheCallersOwnTurn(t *testing.T) {
	t.Parallel()
	got, outcome := spliced(t, newSetup(nil, middleware.WithPauseTool(middleware.PauseToolAlways)),
		&list{chunks: append(pieces("One:"), fragment(pauses(blocked)), usage(10, 5))})

	require.NoError(t, got.err)
	assert.Equal(t, "One:\n\nTask paused: "+blocked, got.answer.Text)
	assert.Empty(t, got.answer.Calls)
	assert.Equal(t, sdkUsage{In: 10, Out: 5}, got.answer.Usage)
	assert.Equal(t, reasons.Paused, outcome.Reason)
}

// Text that could have become a pause is shown if it does not.
func TestStreamWithoutFinishReasonsShowsWhatWasHeld(t *testing.T) {
	t.Parallel()
	half := sdkCall{ID: "c1", Name: "todo_"}
	for name, test := range map[string]struct {
		chunks []sdkChunk
		text   string
		calls  []sdkCall
	}{
		"text":         {pieces("Two. ", "todo_pause('"), "Two. todo_pause('", nil},
		"a call":       {append(pieces("Two:"), fragment(half)), "Two:", []sdkCall{half}},
		"call, text":   {append([]sdkChunk{fragment(half)}, pieces("Two. ", "todo_pause('")...), "Two. todo_pause('", []sdkCall{half}},
		"usage behind": {append(pieces("Two:"), fragment(half), usage(20, 8)), "Two:", []sdkCall{half}},
	} {
		got, _ := spliced(t, newSetup(nil, onceMore()), &list{chunks: pieces("One:")}, &list{chunks: test.chunks})
		require.NoError(t, got.err)
		assert.Equal(t, "One:\n\n"+test.text, got.answer.Text, name)
		assert.Equal(t, test.calls, got.answer.Calls, name)
	}
}

func TestStreamWithoutFinishReasonsShowsWhatWasHeldOfTheCallersOwnTurn(t *testing.T) {
	t.Parallel()
	own := append(pieces("One:"), fragment(sdkCall{ID: "c1", Name: "todo_"}), usage(10, 5))
	got, _ := spliced(t, newSetup(nil, middleware.WithPauseTool(middleware.PauseToolAlways)), &list{chunks: own})
	require.NoError(t, got.err)
	assert.Equal(t, own, got.chunks)
}

func TestTextThatWasHeldWhenATurnFailedIsShownInItsOrder(t *testing.T) {
	t.Parallel()
	down := errors.New("sdk: connection lost")
	held := func() *list {
		return &list{chunks: append([]sdkChunk{fragment(sdkCall{ID: "c1", Name: "todo_"})}, pieces("Two. ", "todo_pause('")...), err: down}
	}
	got, outcome := spliced(t, newSetup(nil, onceMore()), &list{chunks: pieces("One:")}, held(), held(), held())

	require.NoError(t, got.err)
	assert.Equal(t, "One:\n\nTwo. todo_pause('", got.answer.Text)
	assert.Empty(t, got.answer.Calls)
	assert.ErrorIs(t, outcome.Err, down)
}

func TestTurnsOfAStreamAreNumberedByTheirAttempts(t *testing.T) {
	t.Parallel()
	s := newSetup(nil)
	_, _ = spliced(t, s, &list{chunks: pieces("One:")}, &list{chunks: pieces("Two:")}, &list{chunks: []sdkChunk{fragment(edit("c1"))}})
	var attempts []int
	for _, turn := range carryontest.Recorded[middleware.TurnEnded](s.events) {
		attempts = append(attempts, turn.Attempt)
	}
	assert.Equal(t, []int{0, 1, 2}, attempts)
}
