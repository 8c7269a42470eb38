package middleware_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// hinted plays answers to a call with the request.
func hinted(ctx context.Context, t *testing.T, mw *middleware.Middleware, r middleware.Request, turns ...sdkAnswer) int {
	t.Helper()
	call := mw.Begin(ctx, r)
	require.NotNil(t, call)
	sent := 0
	_, err := middleware.Unary(call, &answers{ledger: newLedger()},
		func(context.Context, *middleware.Continuation) (sdkAnswer, error) {
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
	mw := middleware.New(source, unhurried)
	r := middleware.Request{Tools: 1, Users: 1, User: "Do it.", ShortLoop: true}
	ctx := inSession(t, "s")

	assert.Equal(t, 2, hinted(ctx, t, mw, r, says("One."), calls(edit("c1")), says("Two.")))
	assert.Equal(t, 1, hinted(ctx, t, mw, r, says("Two.")), "a tool call does not give it back")
	list = []todo.Todo{{ID: "1", Content: "One", Status: todo.Completed}, list[1]}
	assert.Equal(t, 2, hinted(ctx, t, mw, r, says("Three."), says("Four."), says("Five.")), "progress does")
	assert.Equal(t, 1, hinted(ctx, t, mw, r, says("Six.")))
}

func TestAShortLoopKeepsToTheProgramsOwnLimit(t *testing.T) {
	t.Parallel()
	mw := middleware.New(buildTodos, middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off, MaxAttempts: 2}))
	r := middleware.Request{Tools: 1, Users: 1, User: "Do it.", ShortLoop: true}
	ctx := inSession(t, "s")
	assert.Equal(t, 2, hinted(ctx, t, mw, r, says("One."), calls(edit("c1"))))
	assert.Equal(t, 3, hinted(ctx, t, mw, r, says("Two."), says("Three."), says("Four."), says("Five.")))
}

func TestARequestMayDoWithoutTools(t *testing.T) {
	t.Parallel()
	mw := middleware.New(buildTodos, unhurried)
	assert.Nil(t, mw.Begin(t.Context(), middleware.Request{Users: 1, User: "Do it."}))
	assert.Equal(t, 2, hinted(t.Context(), t, mw, middleware.Request{Users: 1, User: "Do it.", Toolless: true, ShortLoop: true}, says("One."), says("Two.")))
}

func TestATextAgentsLoopIsKnownByItsFirstStep(t *testing.T) {
	t.Parallel()
	mw := middleware.New(buildTodos, unhurried)
	step := func(message string) middleware.Request {
		return middleware.Request{TextAgent: true, ShortLoop: true, Users: 1, User: message, FirstCall: "Do it. Look."}
	}
	assert.Equal(t, 2, hinted(t.Context(), t, mw, step("Do it. Look. Found."), says("One."), says("Two.")))
	assert.Equal(t, 1, hinted(t.Context(), t, mw, step("Do it. Look. Found. Look again. Found."), says("Three.")))
}

// asking is a dialect of answers that pause with the reason in their text.
type asking struct{ answers }

func (d *asking) Read(a *sdkAnswer, s *middleware.Sink) {
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
		"in a continuation":            {[]sdkAnswer{says("One."), says(blocked)}, false, 2, true},
		"in the caller's own turn":     {[]sdkAnswer{says(blocked)}, false, 1, false},
		"beside a call":                {[]sdkAnswer{says("One."), calls(edit("c1")).saying(blocked)}, false, 2, false},
		"with a todo_pause of its own": {[]sdkAnswer{says("One."), says(blocked)}, true, 2, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			call := newSetup(nil, onceMore()).mw.Begin(t.Context(), middleware.Request{Tools: 1, OwnPause: test.own})
			sent := 0
			answer, err := middleware.Unary(call, &asking{answers{ledger: newLedger()}},
				func(context.Context, *middleware.Continuation) (sdkAnswer, error) {
					sent++
					return test.turns[sent-1], nil
				})
			require.NoError(t, err)
			assert.Equal(t, test.sent, sent)
			outcome := call.Outcome()
			assert.Equal(t, test.paused, outcome.Paused != nil)
			if test.paused {
				assert.Equal(t, blocked, outcome.Paused.Reason)
				assert.Equal(t, "One.\n\nTask paused: "+blocked, answer.Text)
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
			call := newSetup(nil, onceMore()).mw.Begin(t.Context(), describe(fixTheBuild))
			var shown []string
			filter := middleware.NewFilter(call, texts{}, func(text string) error {
				shown = append(shown, text)
				return nil
			})
			sent := 0
			_, err := middleware.Unary(call, &answers{ledger: newLedger()},
				func(_ context.Context, k *middleware.Continuation) (sdkAnswer, error) {
					sent++
					assert.Equal(t, k == nil, filter.Relaying())
					if k != nil {
						return says("Two."), filter.Chunk("Two.")
					}
					require.NoError(t, filter.Relayed(false, nil))
					require.ErrorIs(t, filter.Relayed(true, fail), fail)
					assert.Equal(t, fail == nil, filter.Relaying())
					require.ErrorIs(t, filter.Chunk("More."), fail)
					return says("One."), nil // some SDKs do not hear of it
				})
			require.NoError(t, err)
			if fail != nil {
				assert.Equal(t, 1, sent)
				assert.Empty(t, shown)
				assert.Equal(t, continuation.ReasonBrokeOff, call.Outcome().Reason)
				return
			}
			assert.Equal(t, []string{"More.", "\n\nTwo."}, shown)
		})
	}
}

func TestTodoPauseDeclaredAlwaysIsNotRelayed(t *testing.T) {
	t.Parallel()
	call := newSetup(nil, middleware.WithPauseTool(middleware.Always)).mw.Begin(t.Context(), describe(fixTheBuild))
	filter := middleware.NewFilter(call, texts{}, func(string) error { return nil })
	assert.False(t, filter.Relaying(), "calls of it are left out")
}
