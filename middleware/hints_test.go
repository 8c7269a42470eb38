package middleware_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/adapter/join"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// defaultAttempts leaves the number of attempts to the middleware.
var defaultAttempts = middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off})

// hinted plays answers to a call with the request.
func hinted(ctx context.Context, t *testing.T, mw *middleware.Middleware, r adapter.Request, turns ...sdkAnswer) int {
	t.Helper()
	call := begin(ctx, mw, r)
	require.NotNil(t, call)
	sent := 0
	_, err := join.Unary(call, &answers{usageTotals: newUsageTotals()},
		func(context.Context, *adapter.Continuation) (sdkAnswer, error) {
			sent++
			return turns[sent-1], nil
		})
	require.NoError(t, err)
	return sent
}

func TestAShortLoopHasOneContinuationInARow(t *testing.T) {
	t.Parallel()
	list := []todo.Todo{{ID: "1", Content: "One", Status: todo.Pending}, {ID: "2", Content: "Two", Status: todo.Pending}}
	source := todo.ProviderFunc(func(context.Context) ([]todo.Todo, error) { return list, nil })
	mw := middleware.New(source, defaultAttempts)
	r := adapter.Request{Tools: 1, Users: 1, User: "Do it.", ShortLoop: true}
	ctx := inSession(t, "s")

	assert.Equal(t, 2, hinted(ctx, t, mw, r, says("One:"), calls(edit("c1")), says("Two:")))
	captured, outcomes := middleware.Capture(ctx)
	assert.Equal(t, 1, hinted(captured, t, mw, r, says("Two:")), "a tool call does not give it back")
	assert.Contains(t, outcomes.Last().Explanation(), "gets one continuation in a row, unless the program sets MaxAttempts")
	list = []todo.Todo{{ID: "1", Content: "One", Status: todo.Completed}, list[1]}
	assert.Equal(t, 2, hinted(ctx, t, mw, r, says("Three:"), says("Four:"), says("Five:")), "progress does")
	assert.Equal(t, 1, hinted(ctx, t, mw, r, says("Six:")))
}

func TestAShortLoopKeepsToTheProgramsOwnLimit(t *testing.T) {
	t.Parallel()
	mw := middleware.New(buildTodos, middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off, MaxAttempts: 2}))
	r := adapter.Request{Tools: 1, Users: 1, User: "Do it.", ShortLoop: true}
	ctx := inSession(t, "s")
	assert.Equal(t, 2, hinted(ctx, t, mw, r, says("One:"), calls(edit("c1"))))
	assert.Equal(t, 3, hinted(ctx, t, mw, r, says("Two:"), says("Three:"), says("Four:"), says("Five:")))
}

func TestARequestMayDoWithoutTools(t *testing.T) {
	t.Parallel()
	mw := middleware.New(buildTodos, defaultAttempts)
	assert.Nil(t, begin(t.Context(), mw, adapter.Request{Users: 1, User: "Do it."}))
	assert.Equal(t, 2, hinted(t.Context(), t, mw, adapter.Request{Users: 1, User: "Do it.", Toolless: true, ShortLoop: true}, says("One:"), says("Two:")))
}

func TestATextAgentsLoopIsKnownByItsFirstStep(t *testing.T) {
	t.Parallel()
	mw := middleware.New(buildTodos, defaultAttempts)
	step := func(message string) adapter.Request {
		return adapter.Request{TextAgent: true, ShortLoop: true, Users: 1, User: message, Loop: func(add func(string)) { add("Do it. Look.") }}
	}
	assert.Equal(t, 2, hinted(t.Context(), t, mw, step("Do it. Look. Found."), says("One:"), says("Two:")))
	assert.Equal(t, 1, hinted(t.Context(), t, mw, step("Do it. Look. Found. Look again. Found."), says("Three:")))
}

// asking is a dialect of answers that pause with the reason in their text.
type asking struct{ answers }

func (d *asking) Read(a *sdkAnswer, s adapter.TurnReader) {
	text := a.Text
	if text == blocked {
		s.Pause(text)
		a.Text = ""
	}
	d.answers.Read(a, s)
	a.Text = text
}

func TestAPauseThatOnlyTheAdapterCanRead(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		turns  []sdkAnswer
		own    bool
		sent   int
		paused bool
	}{
		"in a continuation":            {[]sdkAnswer{says("One:"), says(blocked)}, false, 2, true},
		"in the caller's own turn":     {[]sdkAnswer{says(blocked), calls(edit("c1"))}, false, 2, false},
		"beside a call":                {[]sdkAnswer{says("One:"), calls(edit("c1")).saying(blocked)}, false, 2, false},
		"with a todo_pause of its own": {[]sdkAnswer{says("One:"), says(blocked)}, true, 2, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			call := begin(t.Context(), newSetup(nil, onceMore()).mw, adapter.Request{Tools: 1, OwnPause: test.own})
			sent := 0
			answer, err := join.Unary(call, &asking{answers{usageTotals: newUsageTotals()}},
				func(context.Context, *adapter.Continuation) (sdkAnswer, error) {
					sent++
					if sent > len(test.turns) {
						return sdkAnswer{}, errScriptEnded
					}
					return test.turns[sent-1], nil
				})
			require.NoError(t, err)
			assert.Equal(t, test.sent, sent)
			outcome := call.Outcome()
			assert.Equal(t, test.paused, outcome.Paused != nil)
			if test.paused {
				assert.Equal(t, blocked, outcome.Paused.Reason)
				assert.Equal(t, "One:\n\nTask paused: "+blocked, answer.Text)
			}
		})
	}
}

func TestChunksThatAnAdapterRelaysItself(t *testing.T) {
	t.Parallel()
	enough := errors.New("the reader has left")
	for name, fail := range map[string]error{"shown": nil, "failed": enough} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			call := begin(t.Context(), newSetup(nil, onceMore()).mw, describe(fixTheBuild))
			var shown []string
			filter := join.NewFilter(texts{}, func(text string) error {
				shown = append(shown, text)
				return nil
			})
			sent := 0
			_, err := join.Unary(call, &answers{usageTotals: newUsageTotals()},
				func(_ context.Context, k *adapter.Continuation) (sdkAnswer, error) {
					sent++
					assert.Equal(t, k == nil, filter.Relaying())
					if k != nil {
						return says("Two:"), filter.Chunk("Two:")
					}
					require.NoError(t, filter.Relayed(false, nil))
					require.ErrorIs(t, filter.Relayed(true, fail), fail)
					assert.Equal(t, fail == nil, filter.Relaying())
					require.ErrorIs(t, filter.Chunk("More."), fail)
					return says("One:"), nil // some SDKs do not hear of it
				}, filter)
			require.NoError(t, err)
			if fail != nil {
				assert.Equal(t, 1, sent)
				assert.Empty(t, shown)
				assert.Equal(t, reasons.BrokeOff, call.Outcome().Reason)
				return
			}
			assert.Equal(t, []string{"More.", "\n\nTwo:"}, shown)
		})
	}
}

func TestModelIsAskedWhatIsOpenOnlyIfItHasCalledToolsForTheUser(t *testing.T) {
	t.Parallel()
	mw := middleware.New(failingTodos(todo.ErrNoList), unhurried, middleware.WithClosingQuestion())
	called := adapter.Entry{Call: todo.Call{ID: "c1", Name: "edit_file", Answered: true}}
	for sent, history := range map[int][]adapter.Entry{2: {called}, 1: {{FromUser: true}, called}} { // newest first
		request := describe(fixTheBuild)
		request.History = slices.Values(history)
		assert.Equal(t, sent, hinted(t.Context(), t, mw, request, says("One:"), says("Two:")))
	}
}

func TestTodoPauseDeclaredAlwaysIsNotRelayed(t *testing.T) {
	t.Parallel()
	call := begin(t.Context(), newSetup(nil, middleware.WithPauseTool(middleware.PauseToolAlways)).mw, describe(fixTheBuild))
	filter := join.NewFilter(texts{}, func(string) error { return nil })
	_, err := join.Unary(call, &answers{usageTotals: newUsageTotals()},
		func(context.Context, *adapter.Continuation) (sdkAnswer, error) {
			assert.False(t, filter.Relaying(), "calls of it are left out")
			return calls(edit("c1")), nil
		}, filter)
	require.NoError(t, err)
}

func TestFilterThatUnaryWasNotGivenPanics(t *testing.T) {
	t.Parallel()
	filter := join.NewFilter(texts{}, func(string) error { return nil })
	const message = "carryon/adapter/join: Unary was not given the filter"
	assert.PanicsWithValue(t, message, func() { _ = filter.Chunk("One:") })
	assert.PanicsWithValue(t, message, func() { filter.Relaying() })
}
