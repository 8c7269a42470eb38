package middleware_test

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/adapter/join"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/statetest"
	"github.com/carryon-go/carryon/internal/testkit/testclock"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// Whether an agent waits for work of its own is looked up only where it matters, and once.
func TestHistoryIsReadOnlyIfTheTurnMayBeContinued(t *testing.T) {
	t.Parallel()
	launch := todo.Call{ID: "a", Name: "Agent", Result: "Async agent launched successfully.\nagentId: a1", Answered: true}
	report := "<task-notification><task-id>a1</task-id><status>completed</status></task-notification>"
	done := todo.ProviderFunc(func(context.Context) ([]todo.Todo, error) {
		return []todo.Todo{{Content: "Build", Status: todo.Completed}}, nil
	})
	for name, c := range map[string]struct {
		todos   todo.Provider
		turns   []sdkAnswer
		history []adapter.Entry // newest first
		reads   int
		reason  continuation.Reason
	}{
		"a tool call":           {buildTodos, []sdkAnswer{calls(edit("1"))}, []adapter.Entry{{Call: launch}}, 0, reasons.ToolCalls},
		"nothing left to do":    {done, []sdkAnswer{says("Done.")}, []adapter.Entry{{Call: launch}}, 0, reasons.NoActiveTodos},
		"an agent is at work":   {buildTodos, []sdkAnswer{says("I wait.")}, []adapter.Entry{{Call: launch}}, 1, reasons.Background},
		"it has reported":       {buildTodos, []sdkAnswer{says("Next."), calls(edit("1"))}, []adapter.Entry{{Automatic: report}, {Call: launch}}, 1, reasons.ToolCalls},
		"several continuations": {buildTodos, []sdkAnswer{says("a:"), says("b:"), says("c:"), calls(edit("1"))}, nil, 1, reasons.ToolCalls},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model, reads := &sdkClient{turns: c.turns}, 0
			request := describe(fixTheBuild)
			request.History = func(yield func(adapter.Entry) bool) {
				reads++
				for _, e := range c.history {
					if !yield(e) {
						return
					}
				}
			}
			ctx, outcomes := middleware.Capture(t.Context())
			call := begin(ctx, middleware.New(c.todos, unhurried), request)
			_, err := join.Unary(call, &answers{usageTotals: newUsageTotals()}, func(ctx context.Context, k *adapter.Continuation) (sdkAnswer, error) {
				return model.Complete(ctx, extend(call, fixTheBuild, k))
			})
			require.NoError(t, err)
			assert.Equal(t, c.reads, reads)
			assert.Equal(t, c.reason, outcomes.Last().Reason)
			assert.Len(t, model.requests, len(c.turns))
		})
	}
}

// An agent that has shortened its history may go on without a message of the user. The pause of the user turn stays, and
// so do its budgets.
func TestRequestWithoutAMessageOfTheUserStaysInTheUserTurn(t *testing.T) {
	t.Parallel()
	ctx := inSession(t, "s")
	mw := middleware.New(buildTodos, unhurried)
	for i, c := range []struct {
		users  int
		user   string
		turns  []sdkAnswer
		number int
		reason continuation.Reason
	}{
		{0, "", []sdkAnswer{says("Next:"), calls(edit("0"))}, 0, reasons.ToolCalls}, // the session begins with a summary
		{1, "Fix the build.", []sdkAnswer{says("Next:"), calls(pauses(blocked))}, 1, reasons.Paused},
		{0, "", []sdkAnswer{says("Next:")}, 1, reasons.Paused},
		{1, "Fix the build.", []sdkAnswer{says("Next:")}, 1, reasons.Paused},
		{2, "The file is there now.", []sdkAnswer{says("Next:"), calls(edit("1"))}, 2, reasons.ToolCalls},
	} {
		request := describe(fixTheBuild)
		request.Users, request.User, request.Unanswered = c.users, c.user, false
		model := &sdkClient{turns: c.turns}
		ctx, outcomes := middleware.Capture(ctx)
		call := begin(ctx, mw, request)
		_, err := join.Unary(call, &answers{usageTotals: newUsageTotals()}, func(ctx context.Context, k *adapter.Continuation) (sdkAnswer, error) {
			return model.Complete(ctx, extend(call, fixTheBuild, k))
		})
		require.NoError(t, err)
		state, err := statetest.State(ctx, mw)
		require.NoError(t, err)
		assert.Equal(t, c.number, state.UserTurn, "request %d", i)
		assert.Equal(t, c.reason, outcomes.Last().Reason, "request %d", i)
		assert.Len(t, model.requests, len(c.turns), "request %d", i)
	}
}

// wallClock is a clock that can be set back.
type wallClock struct {
	*testclock.Clock

	behind time.Duration
}

func (c *wallClock) Now() time.Time { return c.Clock.Now().Add(-c.behind) }

func (c *wallClock) move(d time.Duration) {
	c.behind += max(-d, 0)
	c.Advance(max(d, 0))
}

// A report may be lost: work is awaited for MaxTaskAge at most, each by its own age, in both modes.
func TestWorkIsAwaitedForAWhile(t *testing.T) {
	t.Parallel()
	launched := func(id string) adapter.Entry {
		return adapter.Entry{Call: todo.Call{
			ID: "call " + id, Name: "Agent", Result: "Async agent launched successfully.\nagentId: " + id, Answered: true,
		}}
	}
	type step struct {
		after   time.Duration // the step before
		history []adapter.Entry
		waits   bool
		says    string
	}
	const stillRuns = "The build is still running. I'll wait for it to complete."
	one := []adapter.Entry{launched("a1")}
	both := append([]adapter.Entry{launched("b2")}, one...)
	session, loop := continuation.WithSession(t.Context(), "s"), t.Context()
	for name, c := range map[string]struct {
		ctx     context.Context
		options []middleware.Option
		steps   []step
	}{
		"one": {session, nil, []step{
			{history: one, waits: true},
			{after: 30*time.Minute - 1, history: one, waits: true},
			{after: 1, history: one},
			{after: time.Hour, history: one},
		}},
		"where nobody is there": {session, []middleware.Option{middleware.WithApprovalMode(continuation.ApprovalYOLO)}, []step{
			{history: one, waits: true}, {after: 30 * time.Minute, history: one},
		}},
		"a later one is awaited longer": {session, nil, []step{
			{history: one, waits: true},
			{after: 20 * time.Minute, history: both, waits: true},
			{after: 20 * time.Minute, history: both, waits: true},
			{after: 10 * time.Minute, history: both},
		}},
		"a limit of its own": {session, []middleware.Option{middleware.WithLimits(continuation.Limits{MaxTaskAge: time.Minute, MinInterval: continuation.Off})}, []step{
			{history: one, waits: true}, {after: time.Minute, history: one},
		}},
		"no limit": {session, []middleware.Option{middleware.WithLimits(continuation.Limits{MaxTaskAge: continuation.Off, MinInterval: continuation.Off})}, []step{
			{history: one, waits: true}, {after: 24 * time.Hour, history: one, waits: true},
		}},
		"another of that name, in a run of the next day": {session, nil, []step{
			{history: one, waits: true}, {after: 24 * time.Hour, history: one, waits: true}, {after: time.Hour, history: one},
		}},
		"the clock was set back": {session, nil, []step{
			{history: one, waits: true}, {after: -time.Hour, history: one, waits: true}, {after: time.Hour, history: one},
		}},
		"a tool loop": {loop, nil, []step{{history: one, waits: true}, {after: 30 * time.Minute, history: one}}},
		"in a dry run": {session, []middleware.Option{middleware.WithDryRun()}, []step{
			{history: one, waits: true}, {after: 30 * time.Minute, history: one},
		}},
		"what only the text says, where nobody is there": {session, []middleware.Option{middleware.WithApprovalMode(continuation.ApprovalYOLO)}, []step{
			{says: stillRuns, waits: true}, {after: 30*time.Minute - 1, says: stillRuns, waits: true}, {after: 1, says: stillRuns},
		}},
		"what only the text says, where somebody is": {session, nil, []step{
			{says: stillRuns, waits: true}, {after: time.Hour, says: stillRuns, waits: true},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock := &wallClock{Clock: testclock.New()}
			mw := middleware.New(buildTodos, append([]middleware.Option{unhurried, middleware.WithClock(clock)}, c.options...)...)
			for i, s := range c.steps {
				clock.move(s.after)
				request := describe(fixTheBuild)
				request.Messages = 3 + 2*i
				request.History = slices.Values(s.history)
				request.Loop = func(add func(string)) { add("call a1") }
				ctx, outcomes := middleware.Capture(c.ctx)
				call := begin(ctx, mw, request)
				_, err := join.Unary(call, &answers{usageTotals: newUsageTotals()}, func(_ context.Context, k *adapter.Continuation) (sdkAnswer, error) {
					if k == nil {
						return says(cmp.Or(s.says, "Next, I will fix the build.")), nil
					}
					return calls(edit(strconv.Itoa(i))), nil
				})
				require.NoError(t, err)
				assert.Equal(t, s.waits, outcomes.Last().Reason == reasons.Background, "step %d: %v", i, outcomes.Last().Reason)
			}
		})
	}
}

// A member of a team goes on only with what is its own.
func TestTodosOfOtherAgentsAreNoReasonToGoOn(t *testing.T) {
	t.Parallel()
	message := `<teammate-message teammate_id="team-lead">You are ada, a member of the team "builders". Take a task.</teammate-message>`
	claim := todo.Call{ID: "1", Name: "TaskUpdate", Arguments: `{"taskId":"1","owner":"ada"}`, Result: "Updated task #1 owner", Answered: true}
	history := func(yield func(adapter.Entry) bool) {
		_ = yield(adapter.Entry{Call: claim}) && yield(adapter.Entry{Automatic: message})
	}
	for name, c := range map[string]struct {
		list   []todo.Todo
		reason continuation.Reason
		others int
		next   string
	}{
		"its own is open": {
			[]todo.Todo{{ID: "1", Content: "Form", Status: todo.Pending, Owner: "ada"}, {ID: "2", Content: "Style", Status: todo.InProgress, Owner: "bob"}},
			reasons.Satisfied, 1, "Form",
		},
		"its own is done": {
			[]todo.Todo{{ID: "1", Content: "Form", Status: todo.Completed, Owner: "ada"}, {ID: "2", Content: "Style", Status: todo.InProgress, Owner: "bob"}},
			reasons.OthersWork, 1, "",
		},
		"its own waits for another's": {
			[]todo.Todo{{ID: "1", Content: "Form", Status: todo.Pending, Owner: "ada", BlockedBy: "2"}, {ID: "2", Content: "Style", Status: todo.InProgress, Owner: "bob"}},
			reasons.OthersWork, 2, "",
		},
	} {
		request := describe(fixTheBuild)
		request.History, request.Users, request.User = history, 0, ""
		s := newSetup(nil, middleware.WithDryRun())
		source := todo.ProviderFunc(func(context.Context) ([]todo.Todo, error) { return c.list, nil })
		mw := middleware.New(source, middleware.WithDryRun(), middleware.WithObserver(s.events.Observer()))
		call := begin(t.Context(), mw, request)
		_, err := join.Unary(call, &answers{usageTotals: newUsageTotals()}, func(context.Context, *adapter.Continuation) (sdkAnswer, error) {
			return says("Next:"), nil
		})
		require.NoError(t, err)
		outcome := call.Outcome()
		assert.Equal(t, c.reason, outcome.Reason, name)
		assert.Equal(t, c.others, outcome.List.Others, name)
		assert.Equal(t, c.next, carryontest.Recorded[middleware.Decision](s.events)[0].Todo.Content, name)
	}
}
