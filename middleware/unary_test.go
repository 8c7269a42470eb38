package middleware_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/adapter/join"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/middleware"
)

func TestUnaryReturnsTheVerySameAnswerWithNothingToDo(t *testing.T) {
	t.Parallel()
	own := calls(edit("c1"))
	s := newSetup([]sdkAnswer{own})
	answer, outcome, err := s.answer(t.Context())

	require.NoError(t, err)
	assert.Equal(t, own, answer)
	assert.Same(t, &own.Calls[0], &answer.Calls[0])
	assert.Equal(t, reasons.ToolCalls, outcome.Reason)
	assert.Equal(t, 1, outcome.Turns)
}

func TestUnaryReturnsTheCallersOwnErrorAsItCame(t *testing.T) {
	t.Parallel()
	refused := errors.New("sdk: no credit")
	s := newSetup([]sdkAnswer{fails(refused)})
	_, outcome, err := s.answer(t.Context())

	assert.Same(t, refused, err)
	assert.Equal(t, reasons.BrokeOff, outcome.Reason)
	assert.Equal(t, refused, outcome.Err)
	assert.True(t, outcome.Ended)
	assert.Len(t, s.model.requests, 1)
	require.Len(t, carryontest.Recorded[middleware.TurnEnded](s.events), 1)
	assert.Equal(t, refused, carryontest.Recorded[middleware.TurnEnded](s.events)[0].Err)
}

func TestUnaryJoinsTheTurns(t *testing.T) {
	t.Parallel()
	s := newSetup([]sdkAnswer{says("One:"), says("Two:"), calls(edit("c1")).saying("Three:")})
	answer, outcome, err := s.answer(t.Context())

	require.NoError(t, err)
	assert.Equal(t, "One:\n\nTwo:\n\nThree:", answer.Text)
	assert.Equal(t, []sdkCall{edit("c1")}, answer.Calls)
	assert.Equal(t, "tools", answer.Stop)
	assert.Equal(t, sdkUsage{In: 10, Out: 18}, answer.Usage)
	assert.Equal(t, []adapter.Usage{
		{Prompt: 10, Completion: 5}, {Prompt: 10, Completion: 5}, {Prompt: 20, Completion: 8},
	}, outcome.Usage)
	assert.Equal(t, "One:\n\nTwo:", s.model.requests[2].Messages[1].Text, "earlier prompts are not repeated")
	assert.Len(t, s.model.requests[2].Messages, 3)
}

func TestUnarySurvivesAFailingContinuation(t *testing.T) {
	t.Parallel()
	down := &adapter.StatusError{Status: 503, Err: errors.New("sdk: overloaded")}
	s := newSetup([]sdkAnswer{says("One:"), says("Two:"), fails(down), fails(down), fails(down)})
	answer, outcome, err := s.answer(t.Context())

	require.NoError(t, err)
	assert.Equal(t, "One:\n\nTwo:", answer.Text)
	assert.Equal(t, "stop", answer.Stop)
	assert.Equal(t, sdkUsage{In: 10, Out: 10}, answer.Usage)
	assert.Equal(t, reasons.Failed, outcome.Reason)
	require.Len(t, carryontest.Recorded[middleware.Failed](s.events), 3, "it was tried three times")
	assert.Equal(t, "continuation", carryontest.Recorded[middleware.Failed](s.events)[0].Op)
	for _, failure := range []error{outcome.Err, carryontest.Recorded[middleware.Failed](s.events)[0].Err, carryontest.Recorded[middleware.TurnEnded](s.events)[2].Err} {
		var status *adapter.StatusError
		require.ErrorAs(t, failure, &status)
		assert.Equal(t, 503, status.Status)
		assert.ErrorIs(t, failure, down.Err, "the SDK's own error can be reached")
	}
}

func TestUnaryTakesAnAnswerWithoutFinishForAFailure(t *testing.T) {
	t.Parallel()
	cut := says("Thr")
	cut.Stop = ""
	s := newSetup([]sdkAnswer{says("One:"), says("Two:"), cut, cut, cut})
	answer, outcome, err := s.answer(t.Context())

	require.NoError(t, err)
	assert.Equal(t, "One:\n\nTwo:", answer.Text)
	assert.Equal(t, sdkUsage{In: 10, Out: 10}, answer.Usage, "without the usage of the failed turn")
	assert.ErrorIs(t, outcome.Err, middleware.ErrIncomplete)
}

func TestUnaryReturnsTheAnswerSoFarWhenTheCallerGivesUp(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := newSetup([]sdkAnswer{says("One:"), says("Two:")})
	call := begin(ctx, s.mw, describe(fixTheBuild))
	answer, err := join.Unary(call, &answers{usageTotals: newUsageTotals()},
		func(ctx context.Context, k *adapter.Continuation) (sdkAnswer, error) {
			if k != nil {
				cancel()
			}
			return s.model.Complete(ctx, fixTheBuild)
		})

	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, "One:", answer.Text)
	assert.Equal(t, "stop", answer.Stop)
	assert.Equal(t, reasons.BrokeOff, call.Outcome().Reason)
}

func TestUnaryWithoutFinishReasons(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		last sdkAnswer
		want string
	}{
		"text": {sdkAnswer{Text: "Two:"}, "One:\n\nTwo:"},
		"call": {sdkAnswer{Calls: []sdkCall{edit("c1")}}, "One:"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSetup([]sdkAnswer{{Text: "One:"}, test.last},
				middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off, MaxAttempts: 1}))
			request := describe(fixTheBuild)
			request.NoFinish = true
			call := begin(t.Context(), s.mw, request)
			answer, err := join.Unary(call, &answers{usageTotals: newUsageTotals()},
				func(ctx context.Context, _ *adapter.Continuation) (sdkAnswer, error) {
					return s.model.Complete(ctx, fixTheBuild)
				})

			require.NoError(t, err)
			assert.Equal(t, test.want, answer.Text)
			assert.Equal(t, test.last.Calls, answer.Calls)
			assert.Empty(t, answer.Stop)
			assert.NoError(t, call.Outcome().Err)
		})
	}
}

func TestUnaryLeavesTheCallersOwnPauseToolAlone(t *testing.T) {
	t.Parallel()
	s := newSetup([]sdkAnswer{says("One:"), calls(pauses(blocked))})
	request := fixTheBuild
	request.Tools = []sdkTool{{Name: "todo_pause"}}
	answer, err := s.agent.Complete(t.Context(), request)

	require.NoError(t, err)
	assert.Equal(t, "One:", answer.Text)
	assert.Equal(t, []sdkCall{pauses(blocked)}, answer.Calls)
	assert.Equal(t, "tools", answer.Stop)
	assert.Len(t, s.model.requests[1].Tools, 1)
}

func TestUnaryAlwaysDeclaredPause(t *testing.T) {
	t.Parallel()
	s := newSetup([]sdkAnswer{calls(pauses(blocked)).saying("I am stuck.")},
		middleware.WithPauseTool(middleware.PauseToolAlways))
	answer, outcome, err := s.answer(t.Context())

	require.NoError(t, err)
	assert.Equal(t, "I am stuck.\n\nTask paused: "+blocked, answer.Text)
	assert.Empty(t, answer.Calls)
	assert.Equal(t, "stop", answer.Stop)
	assert.Equal(t, reasons.Paused, outcome.Reason)
	require.NotNil(t, outcome.Paused)
	assert.Equal(t, blocked, outcome.Paused.Reason)
	assert.Len(t, s.model.requests[0].Tools, 2)
	assert.Len(t, fixTheBuild.Tools, 1, "the caller's tools are not changed")
}

// piecewise plays a call whose turns are streamed to a callback, in these pieces, and
// whose answers come whole.
type piecewise struct {
	turns [][]sdkChunk
	shown []sdkChunk
	fail  func(shown int) error
	// deaf says that the SDK drops the callback's error.
	deaf bool
	sent int
}

func (p *piecewise) run(call *join.Call) (sdkAnswer, error) {
	filter := join.NewFilter(&chunks{usageTotals: newUsageTotals()}, func(c sdkChunk) error {
		p.shown = append(p.shown, c)
		if p.fail != nil {
			return p.fail(len(p.shown))
		}
		return nil
	})
	return join.Unary(call, &answers{usageTotals: newUsageTotals()}, func(_ context.Context, _ *adapter.Continuation) (sdkAnswer, error) {
		answer := sdkAnswer{ID: "a", Stop: "stop"}
		p.sent++
		for _, c := range p.turns[p.sent-1] {
			if err := filter.Chunk(c); err != nil && !p.deaf {
				return sdkAnswer{}, err
			}
			answer.Text += c.Text
			answer.Calls = append(answer.Calls, c.Calls...)
		}
		return answer, nil
	}, filter)
}

func (p *piecewise) texts() []string {
	var texts []string
	for _, c := range p.shown {
		texts = append(texts, c.Text)
	}
	return texts
}

func pieces(texts ...string) []sdkChunk {
	var list []sdkChunk
	for _, text := range texts {
		list = append(list, sdkChunk{Text: text})
	}
	return list
}

func fragment(call sdkCall) sdkChunk { return sdkChunk{Calls: []sdkCall{call}} }

func onceMore() middleware.Option {
	return middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off, MaxAttempts: 1})
}

func TestFilterPassesTheCallersTurnAsItIs(t *testing.T) {
	t.Parallel()
	own := []sdkChunk{{ID: "x", Text: "todo_pause('no')"}, fragment(pauses(blocked)), {}}
	p := &piecewise{turns: [][]sdkChunk{own}}
	answer, err := p.run(begin(t.Context(), newSetup(nil).mw, describe(fixTheBuild)))

	require.NoError(t, err)
	assert.Equal(t, own, p.shown)
	assert.Len(t, answer.Calls, 1)
}

func TestFilterPutsTheSeparatorOnce(t *testing.T) {
	t.Parallel()
	p := &piecewise{turns: [][]sdkChunk{pieces("One", ":"), pieces("Two", " and", " more.")}}
	answer, err := p.run(begin(t.Context(), newSetup(nil, onceMore()).mw, describe(fixTheBuild)))

	require.NoError(t, err)
	assert.Equal(t, []string{"One", ":", "\n\nTwo", " and", " more."}, p.texts())
	assert.Equal(t, "One:\n\nTwo and more.", answer.Text)
}

func TestFilterPutsNoSeparatorBeforeTheFirstText(t *testing.T) {
	t.Parallel()
	// The SDK does not stream the first turn, as some do with a cached answer.
	s := newSetup(nil, onceMore())
	call := begin(t.Context(), s.mw, describe(fixTheBuild))
	var shown []string
	filter := join.NewFilter(texts{}, func(text string) error {
		shown = append(shown, text)
		return nil
	})
	answer, err := join.Unary(call, &answers{usageTotals: newUsageTotals()},
		func(_ context.Context, k *adapter.Continuation) (sdkAnswer, error) {
			if k == nil {
				return says("One:"), nil
			}
			return says("Two:"), filter.Chunk("Two:")
		}, filter)
	require.NoError(t, err)
	assert.Equal(t, []string{"Two:"}, shown)
	assert.Equal(t, "One:\n\nTwo:", answer.Text)
}

func TestFilterLeavesOutPauses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		turn  []sdkChunk
		texts []string
		calls []sdkCall
	}{
		"called": {
			append(pieces("Two:"), fragment(sdkCall{ID: "p", Name: "todo_pause", Args: `{"reason":"` + blocked + `"}`})),
			[]string{"One:", "\n\nTwo:", "\n\nTask paused: " + blocked},
			nil,
		},
		"called, after another tool": {
			[]sdkChunk{fragment(edit("c1")), fragment(sdkCall{Index: 1, ID: "p", Name: "todo_pause", Args: `{"reason":"` + blocked + `"}`})},
			[]string{"One:", "", "\n\nTask paused: " + blocked},
			[]sdkCall{edit("c1")},
		},
		"printed": {
			pieces("I am blocked. todo", "_pause('"+blocked+"')"),
			[]string{"One:", "\n\nI am blocked. ", "\n\nTask paused: " + blocked},
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &piecewise{turns: [][]sdkChunk{pieces("One:"), test.turn}}
			call := begin(t.Context(), newSetup(nil).mw, describe(fixTheBuild))
			answer, err := p.run(call)

			require.NoError(t, err)
			assert.Equal(t, test.texts, p.texts())
			var shown []sdkCall
			for _, c := range p.shown {
				shown = append(shown, c.Calls...)
			}
			assert.Equal(t, test.calls, shown)
			assert.Len(t, answer.Calls, len(test.calls))
			assert.Contains(t, answer.Text, "\n\nTask paused: "+blocked)
			assert.Equal(t, reasons.Paused, call.Outcome().Reason)
		})
	}
}

func TestFilterShowsTextThatWasNoPauseAfterAll(t *testing.T) {
	t.Parallel()
	p := &piecewise{turns: [][]sdkChunk{pieces("One:"), pieces("Then: todo", "_pause('")}}
	answer, err := p.run(begin(t.Context(), newSetup(nil, onceMore()).mw, describe(fixTheBuild)))

	require.NoError(t, err)
	assert.Equal(t, []string{"One:", "\n\nThen: ", "todo_pause('"}, p.texts())
	assert.Equal(t, "One:\n\nThen: todo_pause('", answer.Text)
}

func TestFilterStopsAtTheCallbacksError(t *testing.T) {
	t.Parallel()
	enough := errors.New("the reader has left")
	for name, test := range map[string]struct {
		at    int // the chunk that the callback fails on
		deaf  bool
		turns int
		text  string
	}{
		"in the caller's turn":                     {at: 1, turns: 1},
		"in the caller's turn, unheard by the SDK": {at: 1, deaf: true, turns: 1, text: "One, two."},
		"in a continuation":                        {at: 3, turns: 2, text: "One, two."},
		"in a continuation, unheard by the SDK":    {at: 3, deaf: true, turns: 2, text: "One, two.\n\nThree, four."},
		"in a continuation, at its last chunk":     {at: 4, turns: 2, text: "One, two."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &piecewise{
				turns: [][]sdkChunk{pieces("One,", " two."), pieces("Three,", " four."), pieces("Five:")},
				fail: func(shown int) error {
					if shown >= test.at {
						return enough
					}
					return nil
				},
				deaf: test.deaf,
			}
			call := begin(t.Context(), newSetup(nil).mw, describe(fixTheBuild))
			answer, err := p.run(call)

			if !test.deaf {
				require.ErrorIs(t, err, enough)
			}
			assert.Equal(t, test.turns, p.sent, "turns")
			assert.Len(t, p.shown, test.at, "the callback is left alone after its error")
			assert.Equal(t, test.text, answer.Text)
			assert.Equal(t, reasons.BrokeOff, call.Outcome().Reason)
		})
	}
}

func TestFilterLeavesACallbackThatFailedAloneToTheEnd(t *testing.T) {
	t.Parallel()
	enough := errors.New("the reader has left")
	p := &piecewise{
		turns: [][]sdkChunk{pieces("One:"), append(pieces("Two, ", "todo"), fragment(pauses(blocked)))},
		fail: func(shown int) error {
			if shown > 1 {
				return enough
			}
			return nil
		},
		deaf: true,
	}
	_, _ = p.run(begin(t.Context(), newSetup(nil).mw, describe(fixTheBuild)))
	assert.Equal(t, []string{"One:", "\n\nTwo, "}, p.texts(), "neither text that was held back nor the notice")
}

func TestFilterKeepsSeveralCallbacksApart(t *testing.T) {
	t.Parallel()
	// As with SDKs that have a callback for text and one for everything.
	call := begin(t.Context(), newSetup(nil).mw, describe(fixTheBuild))
	var words, everything []string
	text := join.NewFilter(texts{}, func(s string) error { words = append(words, s); return nil })
	all := join.NewFilter(&chunks{usageTotals: newUsageTotals()}, func(c sdkChunk) error {
		everything = append(everything, c.Text)
		return nil
	})
	_, err := join.Unary(call, &answers{usageTotals: newUsageTotals()},
		func(_ context.Context, k *adapter.Continuation) (sdkAnswer, error) {
			if k == nil {
				return says("One:"), all.Chunk(sdkChunk{Text: "One:"})
			}
			return calls(pauses(blocked)), errors.Join(text.Chunk("Two:"), all.Chunk(fragment(pauses(blocked))))
		}, text, all)
	require.NoError(t, err)
	assert.Equal(t, []string{"Two:", "\n\nTask paused: " + blocked}, words)
	assert.Equal(t, []string{"One:", "\n\nTask paused: " + blocked}, everything)
}

func TestWithoutACallbackNothingIsFiltered(t *testing.T) {
	t.Parallel()
	s := newSetup([]sdkAnswer{says("One:"), calls(edit("c1"))})
	answer, _, err := s.answer(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "One:", answer.Text)
	assert.Nil(t, s.model.requests[1].OnText)
}
