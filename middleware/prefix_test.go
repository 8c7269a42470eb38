package middleware_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/adapter/join"
	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/middleware"
)

// odd is the dialect of an SDK in which a chunk may be more than text and calls; the
// chunk's id says what it is.
type odd struct{ *chunks }

func (d odd) Read(c *sdkChunk, t adapter.TurnReader) {
	switch c.ID {
	case "signed":
		t.Signed()
	case "unknown":
		t.Unknown()
	case "done":
		t.Done()
	default:
		d.chunks.Read(c, t)
	}
}

// playOdd plays a call of two turns. It returns the continuations that were sent,
// what was shown, and the outcome.
func playOdd(
	t *testing.T, r adapter.Request, first, second []sdkChunk, options ...middleware.Option,
) (sent []*adapter.Continuation, shown streamed, outcome middleware.Outcome) {
	t.Helper()
	ctx, outcomes := middleware.Capture(inSession(t, t.Name()))
	options = append([]middleware.Option{onceMore()}, options...)
	shown = drain(t, join.NewStream(begin(ctx, newSetup(nil, options...).mw, r), odd{newChunks()}, &list{chunks: first},
		func(_ context.Context, k *adapter.Continuation) (adapter.Source[sdkChunk], error) {
			sent = append(sent, k)
			return &list{chunks: second}, nil
		}))
	return sent, shown, outcomes.Last()
}

func one(more ...sdkChunk) []sdkChunk {
	return append([]sdkChunk{{ID: "a", Text: "One:"}}, append(more, stop())...)
}

// With a fixed prefix, no tool is added later than in the first request, and the
// model is told how to pause in words.
func TestPauseToolAndAFixedPrefix(t *testing.T) {
	t.Parallel()
	always := middleware.WithPauseTool(middleware.PauseToolAlways)
	for name, test := range map[string]struct {
		fixed, tool, own bool
		first            []sdkChunk
		options          []middleware.Option
	}{
		"free":              {fixed: false, tool: true, first: one()},
		"fixed":             {fixed: true, tool: false, first: one()},
		"signed reasoning":  {fixed: false, tool: false, first: one(sdkChunk{ID: "signed"})},
		"the caller's own":  {fixed: true, own: true, first: one()},
		"from the start on": {fixed: true, tool: true, first: one(), options: []middleware.Option{always}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := describe(fixTheBuild)
			r.FixedPrefix, r.OwnPause = test.fixed, test.own
			sent, _, _ := playOdd(t, r, test.first, one(), test.options...)
			require.Len(t, sent, 1)
			assert.Equal(t, test.tool, sent[0].PauseTool != nil)
			assert.Equal(t, !test.tool && !test.own, strings.Contains(sent[0].Prompt, "todo_pause is not among your tools."))
		})
	}
}

// A call of the tool counts even if the tool was not offered. A rejected one is
// answered in words, because the reasoning before the call is missing.
func TestPauseWithAFixedPrefixIsAnsweredInWords(t *testing.T) {
	t.Parallel()
	r := describe(fixTheBuild)
	r.FixedPrefix = true
	vague := []sdkChunk{{ID: "b", Calls: []sdkCall{pauses("stuck")}}, {ID: "b", Stop: "tools"}}
	sent, shown, _ := playOdd(t, r, one(), vague, middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off}))
	require.Len(t, sent, 2)
	assert.Nil(t, sent[1].Pause)
	assert.Contains(t, sent[1].Prompt, "the pause reason was rejected")
	assert.Empty(t, shown.answer.Calls)
	assert.Contains(t, shown.answer.Text, "Task paused: stuck")
}

func TestNothingIsJoinedToAFixedPrefix(t *testing.T) {
	t.Parallel()
	for _, fixed := range []bool{true, false} {
		tasks := asynctask.NewManager()
		ctx := inSession(t, "s")
		ticket, err := tasks.Begin(ctx, "job-7", "transcode")
		require.NoError(t, err)
		require.NoError(t, tasks.Finish(ctx, ticket, nil))
		r := describe(fixTheBuild)
		r.FixedPrefix, r.Messages = fixed, 1
		r.Attachable = func(int) (string, bool) { return "Fix it.", true }
		call := begin(ctx, newSetup(nil, middleware.WithTasks(tasks)).mw, r)
		assert.Equal(t, fixed, len(call.Additions().Attachments) == 0)
		call.Abort(errLost)
	}
}

func TestTurnWithUnknownContentIsNotContinued(t *testing.T) {
	t.Parallel()
	sent, shown, outcome := playOdd(t, describe(fixTheBuild), one(sdkChunk{ID: "unknown"}), one())
	assert.Empty(t, sent)
	assert.Equal(t, reasons.UnknownContent, outcome.Reason)
	assert.Equal(t, one(sdkChunk{ID: "unknown"}), shown.chunks)
}

func TestRequestThatItsAdapterLeavesAlone(t *testing.T) {
	t.Parallel()
	r := describe(fixTheBuild)
	r.LeaveAlone = reasons.Prefill
	call, outcome := join.Begin(t.Context(), newSetup(nil).mw, r)
	assert.Nil(t, call)
	assert.Equal(t, reasons.Prefill, outcome.Reason)
}

// If a provider ends each turn with a Done, a turn without one has broken off.
func TestTurnThatEndsWithoutDone(t *testing.T) {
	t.Parallel()
	for _, says := range []bool{true, false} {
		r := describe(fixTheBuild)
		r.SaysDone = says
		sent, shown, outcome := playOdd(t, r, one(), one())
		assert.Equal(t, says, len(sent) == 0)
		if says {
			assert.Equal(t, one(), shown.chunks)
			assert.Equal(t, reasons.BrokeOff, outcome.Reason)
		}
		sent, _, _ = playOdd(t, r, append(one(), sdkChunk{ID: "done"}), append(one(), sdkChunk{ID: "done"}))
		assert.Len(t, sent, 1)
	}
}

// ends is a dialect of whole answers that remembers where their texts end.
type ends struct {
	*answers

	seen *adapter.Edit
}

func (d ends) AppendShown(dst []sdkAnswer, a *sdkAnswer, e *adapter.Edit) []sdkAnswer {
	*d.seen = *e
	return d.answers.AppendShown(dst, a, e)
}

func TestTextsOfTheTurnsOfAnAnswerAreTold(t *testing.T) {
	t.Parallel()
	turns := []sdkAnswer{says("One:\n"), says("Two:"), calls(pauses("The signing key is missing from the vault"))}
	d := ends{&answers{usageTotals: newUsageTotals()}, new(adapter.Edit)}
	call := begin(t.Context(), newSetup(nil).mw, describe(fixTheBuild))
	answer, err := join.Unary(call, d, func(context.Context, *adapter.Continuation) (sdkAnswer, error) {
		next := turns[0]
		turns = turns[1:]
		return next, nil
	})
	require.NoError(t, err)
	assert.Equal(t, "One:\n\nTwo:\n\nTask paused: The signing key is missing from the vault", answer.Text)
	assert.Equal(t, []int{5, 10, 10}, d.seen.TurnEnds)
}
