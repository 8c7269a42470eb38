package decision_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/todo"
)

// step evaluates a plain turn on the list, long after the last prompt, and
// returns the state after the continuation that follows, if one does.
func step(t *testing.T, s decision.State, todos ...todo.Todo) (decision.State, decision.Verdict) {
	t.Helper()
	in := satisfied(t)
	in.State, in.Todos, in.UserTurn = s, todos, s.UserTurn
	in.Now = s.LastPrompt.Add(time.Hour)
	ev := decision.Judge(in)
	if !ev.Continue {
		return s, ev
	}
	return ev.State.Acquire(1, in.Now, continuation.DefaultLimits().ClaimLife).Release(1, decision.ContinuationResult{}), ev
}

func TestProgressStartsAttemptsAnew(t *testing.T) {
	t.Parallel()
	a, b, c := pending("a"), pending("b"), completed("c")
	before := []todo.Todo{a, b, c} // one completed, two active
	cases := []struct {
		name     string
		after    []todo.Todo
		progress bool
	}{
		{"nothing changed", before, false},
		{"one completed", []todo.Todo{completed("a"), b, c}, true},
		{"one completed and one added", []todo.Todo{completed("a"), b, c, pending("d")}, true},
		{"one cancelled", []todo.Todo{{Content: "a", Status: todo.Cancelled}, b, c}, true},
		{"one removed", []todo.Todo{b, c}, true},
		{"one of unknown status", []todo.Todo{{Content: "a", Status: "odd"}, b, c}, true},
		{"started", []todo.Todo{inProgress("a"), b, c}, false},
		{"reordered", []todo.Todo{c, b, a}, false},
		{"reworded", []todo.Todo{pending("A!"), pending("B!"), completed("C!")}, false},
		{"added", []todo.Todo{a, b, c, pending("d")}, false},
		{"a completed one removed", []todo.Todo{a, b}, false},
		{"a completed one opened again", []todo.Todo{a, b, pending("c")}, false},
		{"swapped", []todo.Todo{completed("a"), b, pending("c")}, false},
	}
	for _, c := range cases {
		s := decision.State{UserTurn: turn7, LastPrompt: noon}
		for attempt := 1; attempt <= continuation.DefaultLimits().MaxAttempts; attempt++ {
			var ev decision.Verdict
			s, ev = step(t, s, before...)
			require.True(t, ev.Continue, c.name)
			require.Equal(t, attempt, ev.Attempt, c.name)
		}
		_, ev := step(t, s, c.after...)
		assert.Equal(t, c.progress, ev.Continue, c.name)
		if c.progress {
			assert.Equal(t, 1, ev.Attempt, c.name)
			assert.Zero(t, ev.State.Attempts, c.name)
		} else {
			assert.Equal(t, reasons.MaxAttempts, ev.Reason, c.name)
			assert.Equal(t, continuation.DefaultLimits().MaxAttempts+1, ev.Attempt, c.name)
		}
		assert.Equal(t, c.progress, ev.State.Continuations == 0, "%s: progress renews both budgets", c.name)
	}
}

func TestProgressIsMeasuredAgainstTheBestSoFar(t *testing.T) {
	t.Parallel()
	open := []todo.Todo{pending("a"), pending("b")}
	cases := []struct {
		name  string
		lists [][]todo.Todo // shown in turn; the first two count anew, the others don't
	}{
		{"toggling a status", [][]todo.Todo{open, {completed("a"), pending("b")}, open, {completed("a"), pending("b")}, open}},
		{"removing and adding again", [][]todo.Todo{open, {pending("b")}, open, {pending("b")}, open}},
		{"completing another one instead", [][]todo.Todo{open, {completed("a"), pending("b")}, {pending("a"), completed("b")}, open}},
	}
	for _, c := range cases {
		s := decision.State{UserTurn: turn7, LastPrompt: noon}
		for i, list := range c.lists {
			var ev decision.Verdict
			s, ev = step(t, s, list...)
			assert.Equal(t, max(i, 1), ev.Attempt, "%s, list %d", c.name, i)
		}
	}
}

// Later lists of a user turn are measured against the first, which is no progress
// itself.
func TestProgressNeedsSomethingToCompareWith(t *testing.T) {
	t.Parallel()
	in := satisfied(t)
	in.State.Watermarks = decision.Watermarks{}
	in.State.Attempts = 2
	in.Todos = []todo.Todo{completed("a"), completed("b"), pending("c")}
	ev := decision.Judge(in)
	assert.Equal(t, 2, ev.State.Attempts)
	assert.Equal(t, decision.Watermarks{Set: true, Todos: 3, Completed: 2, Active: 1}, ev.State.Watermarks)
}

func TestProgressMovesEachWatermarkByItself(t *testing.T) {
	t.Parallel()
	in := satisfied(t)
	in.State.Watermarks = decision.Watermarks{Set: true, Completed: 2, Active: 2}
	in.Todos = []todo.Todo{pending("a")}
	assert.Equal(t, decision.Watermarks{Set: true, Completed: 2, Active: 1}, decision.Judge(in).State.Watermarks)
	in.Todos = []todo.Todo{pending("a"), pending("b"), pending("c"), completed("d"), completed("e"), completed("f")}
	assert.Equal(t, decision.Watermarks{Set: true, Completed: 3, Active: 2}, decision.Judge(in).State.Watermarks)
}

// Observers get the number of the attempt with every decision, even one that fails
// the budgets.
func TestAttemptCountsFromTheProgressThatWasSeen(t *testing.T) {
	t.Parallel()
	for _, v := range violations() {
		if v.condition <= decision.ConditionActiveTodos || v.condition == decision.ConditionOwnWork || v.condition == decision.ConditionAttemptsLeft ||
			v.condition == decision.ConditionProgressLeft || v.condition == decision.ConditionSuitableTodo ||
			v.condition == decision.ConditionCheckAllows {
			continue
		}
		in := satisfied(t)
		in.State.Attempts = 3
		in.Todos = []todo.Todo{completed("a"), pending("b")}
		v.cause(&in)
		ev := decision.Judge(in)
		require.Equal(t, v.reason, ev.Reason)
		assert.Equal(t, 1, ev.Attempt, v.reason)
	}
}

func TestStaleListHasOneAttempt(t *testing.T) {
	t.Parallel()
	const off = continuation.Off
	list := []todo.Todo{pending("a"), completed("b")}
	stale := decision.Digest(list)
	cases := []struct {
		name        string
		stale       uint64
		maxAttempts int
		attempts    int
		want        continuation.Reason
	}{
		{"first attempt", stale, 3, 0, reasons.Satisfied},
		{"second", stale, 3, 1, reasons.MaxAttempts},
		{"second, no limit otherwise", stale, off, 1, reasons.MaxAttempts},
		{"first, no limit otherwise", stale, off, 0, reasons.Satisfied},
		{"first of one", stale, 1, 0, reasons.Satisfied},
		{"second of one", stale, 1, 1, reasons.MaxAttempts},
		{"second, list not stale", 0, 3, 1, reasons.Satisfied},
		{"second, list changed", stale + 2, 3, 1, reasons.Satisfied},
		{"fourth, list changed", stale + 2, 3, 3, reasons.MaxAttempts},
	}
	for _, c := range cases {
		in := satisfied(t)
		in.Todos = list
		in.Limits.MaxAttempts = c.maxAttempts
		in.State.Watermarks = decision.Watermarks{Set: true, Completed: 1, Active: 1}
		in.State.Stale, in.State.Attempts = c.stale, c.attempts
		ev := decision.Judge(in)
		assert.Equal(t, c.want, ev.Reason, c.name)
		if c.stale == stale {
			assert.Equal(t, stale, ev.State.Stale, "%s: stays stale", c.name)
		} else {
			assert.Zero(t, ev.State.Stale, "%s: is forgotten", c.name)
		}
	}
}

// Whatever the list and the model do, a session gets no more continuations in a row
// without progress than the limit, and no more since the last progress than the other
// limit.
func TestBudgetsHoldOverAnyRun(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 5))
		limits := continuation.Limits{
			MaxAttempts: 1 + rng.IntN(4), MaxWithoutProgress: 1 + rng.IntN(12), MinInterval: continuation.Off,
			TokenBudget: continuation.Off, MaxTaskAge: continuation.Off,
		}
		requireBudgets(t, rng, limits)
	}
}

func requireBudgets(t *testing.T, rng *rand.Rand, limits continuation.Limits) {
	t.Helper()
	list := []todo.Todo{pending("a"), pending("b"), pending("c"), pending("d")}
	s := decision.State{}.RegisterUserTurn(decision.UserTurnOf(1, "go"))
	inRow, since, most, least, first := 0, 0, 0, len(list), true
	for range 80 {
		switch rng.IntN(6) {
		case 0:
			list[rng.IntN(len(list))].Status = []todo.Status{todo.Pending, todo.InProgress, todo.Completed}[rng.IntN(3)]
		case 1:
			rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		}
		ev := decision.Judge(decision.Input{
			Settings: continuation.DefaultValues(), Turn: decision.Turn{Finish: "stop"}, UserTurn: s.UserTurn,
			Todos: list, Limits: limits, State: s, Now: noon,
		})
		if !ev.Continue {
			continue
		}
		done, open := 0, 0
		for _, item := range list {
			if item.Status == todo.Completed {
				done++
			} else {
				open++
			}
		}
		if !first && (done > most || open < least) {
			inRow, since = 0, 0
		}
		if first {
			most, least, first = done, open, false
		}
		most, least = max(most, done), min(least, open)
		inRow++
		since++
		require.Equal(t, inRow, ev.Attempt)
		require.LessOrEqual(t, inRow, limits.MaxAttempts)
		require.LessOrEqual(t, since, limits.MaxWithoutProgress)
		called := rng.IntN(5) == 0
		if called {
			inRow--
		}
		s = ev.State.Acquire(9, noon, continuation.DefaultLimits().ClaimLife).Release(9, decision.ContinuationResult{Called: called})
	}
}

// A model that never completes a todo, and one that only toggles statuses, may call
// tools as often as they like: each gets MaxWithoutProgress continuations of a user
// turn, and no more.
func TestToolCallsWithoutProgressAreBounded(t *testing.T) {
	t.Parallel()
	a, b, c := pending("a"), pending("b"), pending("c")
	for name, lists := range map[string][][]todo.Todo{
		"never ticked off":  {{a, b, c}},
		"statuses churn":    {{a, b, c}, {inProgress("a"), b, c}, {completed("a"), b, c}, {a, completed("b"), c}, {a, b, c}},
		"items come and go": {{a, b}, {a, b, c}, {b, c}, {a, c}, {a, b, c, pending("d")}},
		"reworded":          {{pending("1")}, {pending("2")}, {pending("3")}, {inProgress("4")}},
	} {
		s, sent, sinceBest := decision.State{UserTurn: turn7, LastPrompt: noon}, 0, 0
		for i := range 200 {
			in := satisfied(t)
			in.State, in.Todos, in.UserTurn, in.Now = s, lists[i%len(lists)], s.UserTurn, s.LastPrompt.Add(time.Hour)
			ev := decision.Judge(in)
			if !ev.Continue {
				require.Equal(t, reasons.WithoutProgress, ev.Reason, name)
				continue
			}
			sinceBest++
			if ev.State.Continuations == 0 {
				sinceBest = 1
			}
			sent++
			s = ev.State.Acquire(1, in.Now, time.Hour).Release(1, decision.ContinuationResult{Called: true})
			require.Zero(t, s.Attempts, "%s: a tool call gives the attempt back", name)
		}
		assert.Equal(t, continuation.DefaultLimits().MaxWithoutProgress, sinceBest, name)
		assert.LessOrEqual(t, sent, 2*continuation.DefaultLimits().MaxWithoutProgress, "%s: each watermark is reached once", name)
	}
}

// No count stops the work on a list that makes progress, however long the list is.
func TestProgressRenewsBothBudgetsForAsLongAsItLasts(t *testing.T) {
	t.Parallel()
	list := make([]todo.Todo, 100)
	for i := range list {
		list[i] = pending("item")
	}
	s := decision.State{UserTurn: turn7, LastPrompt: noon}
	for i := range list {
		var ev decision.Verdict
		s, ev = step(t, s, list...)
		require.True(t, ev.Continue, "item %d: %v", i, ev.Reason)
		require.Equal(t, 1, ev.Attempt)
		list[i] = completed("item")
	}
}

// A model that makes each step of progress as late as it may, and counts each todo twice, gets this many continuations
// in a user turn, and no more.
func TestContinuationsOfAUserTurnAreBounded(t *testing.T) {
	t.Parallel()
	for open := 1; open <= 5; open++ {
		s := decision.State{UserTurn: turn7, LastPrompt: noon}
		sent := 0
		see := func(todos ...todo.Todo) {
			in := satisfied(t)
			in.Limits.MaxAttempts, in.Limits.TokenBudget = continuation.Off, continuation.Off
			in.State, in.Todos, in.UserTurn, in.Now = s, todos, s.UserTurn, s.LastPrompt.Add(time.Hour)
			ev := decision.Judge(in)
			for ; ev.Continue; ev = decision.Judge(in) {
				sent++
				in.State = ev.State.Acquire(1, in.Now, continuation.Off).Release(1, decision.ContinuationResult{})
				in.Now = in.Now.Add(time.Hour)
			}
			s = ev.State
		}
		var done []todo.Todo
		for left := open; left > 0; left-- { // it drops all todos but one
			see(slices.Repeat([]todo.Todo{pending("a")}, left)...)
		}
		for range open + 2*decision.MaxAdded { // it adds one finished todo after another
			done = append(done, completed("b"))
			see(append(done, pending("a"))...)
		}
		see(done...)
		see(append(done, pending("a"))...)
		assert.Equal(t, continuation.DefaultLimits().MaxWithoutProgress*(2*open+decision.MaxAdded+1), sent, "%d open", open)
	}
}
