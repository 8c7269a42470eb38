package middleware_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/testclock"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/records"
	"github.com/carryon-go/carryon/todo"
)

// explained returns the text of Explain for a request.
func explained(t *testing.T, ctx context.Context, mw *middleware.Middleware, r sdkRequest) string { //nolint:revive // t first
	t.Helper()
	var b bytes.Buffer
	agent := &client{&sdkClient{turns: []sdkAnswer{says("One:")}}, mw}
	_, err := agent.Complete(middleware.Explain(ctx, &b), r)
	require.NoError(t, err)
	return b.String()
}

func TestExplainShowsEveryStatus(t *testing.T) {
	t.Parallel()
	list := todo.Static(
		todo.Todo{Content: "Plan", Status: "Done"}, todo.Todo{Content: "Wait", Status: "later"}, todo.Todo{Content: "Stop", Status: "skipped"},
	)
	got := explained(t, t.Context(), middleware.New(list), fixTheBuild)
	for _, line := range []string{
		"called   no tool so far\n",
		`list     3 todos, none active, 1 completed, 1 cancelled, 1 of unknown status "later" (from the program's source)` + "\n",
		"    completed   Plan\n", `    "later" is not known Wait`, "    cancelled   Stop\n",
		"do nothing: No active todos found (pending or in_progress), but unknown statuses: ",
	} {
		assert.Contains(t, got, line)
	}
}

func TestExplainSaysWhatSpeaksAgainstIt(t *testing.T) {
	t.Parallel()
	failing, working := middleware.New(failingTodos(errors.New("no such table"))), middleware.New(buildTodos)
	ctx := continuation.WithSession(t.Context(), "alice")
	toolless := fixTheBuild
	toolless.Tools = nil
	disabled := middleware.New(buildTodos)
	require.NoError(t, disabled.Settings().SetTodoContinuation(t.Context(), "", false))
	for want, got := range map[string]string{
		"decision if the model stops now: do nothing: The todo source failed": explained(t, t.Context(), failing, fixTheBuild),
		"list     no such table":                                          explained(t, t.Context(), failing, fixTheBuild),
		"decision left alone: The request offers no tools":                explained(t, t.Context(), working, toolless),
		"decision left alone: Continuation is suppressed for this call":   explained(t, continuation.Suppress(t.Context()), working, fixTheBuild),
		"do nothing: Todo continuation is disabled in ephemeral settings": explained(t, ctx, disabled, fixTheBuild),
		`session  "alice"`: explained(t, ctx, disabled, fixTheBuild),
	} {
		assert.Contains(t, got, want)
		assert.Equal(t, 1, strings.Count(got, "carryon sees this request"))
	}
}

// What Explain announces is what carryon then decides, whatever fails meanwhile.
func TestExplainSaysWhatTheDecisionSays(t *testing.T) {
	t.Parallel()
	begin := func(t *testing.T, options ...middleware.Option) (context.Context, *middleware.Middleware) {
		t.Helper()
		return inSession(t, "alice"), middleware.New(buildTodos, append(options, unhurried)...)
	}
	for name, c := range map[string]struct {
		begin func(*testing.T) (context.Context, *middleware.Middleware)
		want  continuation.Reason
	}{
		"the tasks fail": {func(t *testing.T) (context.Context, *middleware.Middleware) {
			return begin(t, middleware.WithBackground(downTasks{Tasks: asynctask.NewManager().Deliveries(), pending: errors.New("connection refused")}))
		}, reasons.Store},
		"the store fails": {func(t *testing.T) (context.Context, *middleware.Middleware) {
			return begin(t, middleware.WithRecords(downStore{}))
		}, reasons.Store},
		"the store is not asked again": {func(t *testing.T) (context.Context, *middleware.Middleware) {
			ctx, mw := begin(t, middleware.WithRecords(downStore{}))
			explained(t, ctx, mw, fixTheBuild)
			return ctx, mw
		}, reasons.StoreSkipped},
		"the store fails where it does not matter": {func(t *testing.T) (context.Context, *middleware.Middleware) {
			ctx, mw := begin(t, middleware.WithRecords(downStore{}))
			require.NoError(t, mw.Settings().SetTodoContinuation(ctx, "", false))
			return ctx, mw
		}, reasons.Disabled},
		"the session is paused": {func(t *testing.T) (context.Context, *middleware.Middleware) {
			ctx, mw := begin(t)
			explained(t, continuation.WithUserTurn(ctx, "one"), mw, fixTheBuild)
			require.NoError(t, mw.Pause(ctx, "lunch"))
			return continuation.WithUserTurn(ctx, "one"), mw
		}, reasons.Paused},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, mw := c.begin(t)
			ctx, outcomes := middleware.Capture(ctx)
			got := explained(t, ctx, mw, fixTheBuild)
			require.Equal(t, c.want, outcomes.Last().Reason)
			assert.Contains(t, got, "decision if the model stops now: do nothing: "+outcomes.Last().Explanation()+"\n")
			assert.Contains(t, got, "list     2 todos, 2 active", "the list is shown all the same")
		})
	}
}

// The wait is a round time, whatever the clock says.
func TestExplainRoundsTheWait(t *testing.T) {
	t.Parallel()
	clock := testclock.New()
	mw := middleware.New(buildTodos, middleware.WithClock(clock))
	edit := calls(sdkCall{ID: "c1", Name: "edit_file"})
	agent := &client{&sdkClient{turns: []sdkAnswer{says("Next I fix it."), edit, edit}}, mw}
	_, err := agent.Complete(inSession(t, "alice"), fixTheBuild)
	require.NoError(t, err)
	clock.Advance(437 * time.Microsecond)
	var b bytes.Buffer
	_, err = agent.Complete(middleware.Explain(inSession(t, "alice"), &b), fixTheBuild)
	require.NoError(t, err)
	assert.Contains(t, b.String(), `if the model stops now: carry on with "Fix the build" after 1s`+"\n")
}

func TestExplainPanicsWithoutAWriter(t *testing.T) {
	t.Parallel()
	assert.PanicsWithValue(t, "carryon/middleware: nil writer", func() { middleware.Explain(t.Context(), nil) })
	assert.PanicsWithValue(t, "carryon/middleware: nil writer", func() { middleware.Explain(t.Context(), (*bytes.Buffer)(nil)) })
	assert.PanicsWithValue(t, "carryon/middleware: nil context", func() {
		middleware.Explain(nil, new(bytes.Buffer)) //nolint:staticcheck // the test is about nil
	})
}

// An interface with a nil pointer or function in it is refused like nil.
func TestNilInAnInterfaceIsRefused(t *testing.T) {
	t.Parallel()
	assert.PanicsWithValue(t, "carryon/middleware: nil todo provider", func() { middleware.New(todo.ProviderFunc(nil)) })
	assert.PanicsWithValue(t, "carryon/middleware: nil records", func() {
		middleware.New(buildTodos, middleware.WithRecords((*records.MemoryEngine)(nil)))
	})
	assert.PanicsWithValue(t, "carryon/middleware: nil todo provider", func() { middleware.New((*todo.Memory)(nil)) })
	assert.PanicsWithValue(t, "carryon/middleware: nil todo provider", func() { middleware.New(nil) })
}
