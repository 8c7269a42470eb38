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
	"github.com/carryon-go/carryon/internal/description"
	"github.com/carryon-go/carryon/internal/handback"
	"github.com/carryon-go/carryon/internal/origins"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/todo"
)

// violation is one way not to meet a condition.
type violation struct {
	condition decision.Condition
	reason    continuation.Reason
	cause     func(*decision.Input)
}

// violations are in the order in which the decision must find them.
func violations() []violation {
	type in = decision.Input
	return []violation{
		{decision.ConditionEnabled, reasons.Disabled, func(i *in) { i.Settings.TodoContinuation = false }},
		{decision.ConditionInScope, reasons.NoTools, func(i *in) { i.Scope = reasons.NoTools }},
		{decision.ConditionUnbroken, reasons.BrokeOff, func(i *in) { i.Turn.BrokeOff = true }},
		{decision.ConditionNoToolCalls, reasons.ToolCalls, func(i *in) { i.Turn.ToolCalls = true }},
		{decision.ConditionEndedWell, reasons.TooLong, func(i *in) { i.Turn.TooLong = true }},
		{decision.ConditionEndedWell, reasons.ManyChoices, func(i *in) { i.Turn.ManyChoices = true }},
		{decision.ConditionEndedWell, reasons.Refused, func(i *in) { i.Turn.ModelRefused = true }},
		{decision.ConditionEndedWell, reasons.NotEnded, func(i *in) { i.Turn.Finish = "length" }},
		{decision.ConditionNotPaused, reasons.Paused, func(i *in) { i.State.Paused = continuation.Pause{Since: noon} }},
		{decision.ConditionNotRefused, reasons.ProviderRefused, func(i *in) { i.State.ProviderRefused = true }},
		{decision.ConditionCurrentUserTurn, reasons.Superseded, func(i *in) { i.State.UserTurn++ }},
		{decision.ConditionActiveTodos, reasons.NoList, func(i *in) { i.TodosErr = todo.ErrNoList }},
		{decision.ConditionActiveTodos, reasons.EmptyList, func(i *in) { i.Todos = nil }},
		{decision.ConditionAsksNothing, reasons.AsksUser, func(i *in) { i.Turn.End = handback.Asks }},
		{decision.ConditionListTouched, reasons.ListUntouched, func(i *in) {
			i.Origin.Written, i.Turn.End = origins.Earlier, handback.Unclear
		}},
		{decision.ConditionOwnWork, reasons.OthersWork, func(i *in) {
			i.Todos, i.OthersTodos = []todo.Todo{pending("theirs")}, []int{0}
		}},
		{decision.ConditionNoBackground, reasons.Background, func(i *in) {
			i.Background = decision.Background{Unfinished: 1, Oldest: noon}
		}},
		{decision.ConditionNoBackground, reasons.Background, func(i *in) { i.Turn.End = handback.Waits }},
		{decision.ConditionNotLeft, reasons.LeftToUser, func(i *in) { i.Turn.End = handback.Leaves }},
		{decision.ConditionNotActive, reasons.Active, func(i *in) {
			i.State.Claim = decision.Claim{Token: 1, Since: noon}
		}},
		{decision.ConditionAttemptsLeft, reasons.MaxAttempts, func(i *in) { i.State.Attempts = 4 }},
		{decision.ConditionAttemptsLeft, reasons.MaxAttempts, func(i *in) { i.State.Repeats = 2 }},
		{decision.ConditionProgressLeft, reasons.WithoutProgress, func(i *in) { i.State.Continuations = 10 }},
		{decision.ConditionTokensLeft, reasons.TokenBudget, func(i *in) { i.State.Tokens = 1000 }},
		{decision.ConditionSuitableTodo, reasons.NoSuitableTodo, func(i *in) { i.Todos = []todo.Todo{pending(" \n")} }},
		{decision.ConditionCheckAllows, reasons.CheckDue, func(i *in) {
			i.Todos, i.State.Watermarks.Active, i.Check = nil, 0, continuation.CheckDue
		}},
		{decision.ConditionIntervalElapsed, reasons.TooSoon, func(i *in) { i.State.LastPrompt = noon }},
	}
}

func TestJudgeSatisfied(t *testing.T) {
	t.Parallel()
	in := satisfied(t)
	assert.Equal(t, decision.Verdict{
		Continue: true, Reason: reasons.Satisfied, Todo: in.Todos[0], Attempt: 2,
		Conditions: marks(decision.ConditionIntervalElapsed), State: in.State,
		List: continuation.List{Todos: len(in.Todos), Active: len(in.Todos)},
	}, decision.Judge(in))
}

func TestJudgeMarksTheFirstConditionNotMet(t *testing.T) {
	t.Parallel()
	seen := map[decision.Condition]bool{}
	for _, v := range violations() {
		seen[v.condition] = true
		t.Run(v.reason.String(), func(t *testing.T) {
			t.Parallel()
			in := satisfied(t)
			v.cause(&in)
			ev := decision.Judge(in)
			assert.False(t, ev.Continue)
			assert.Equal(t, v.reason, ev.Reason)
			assert.Equal(t, marksNotMet(v.condition), ev.Conditions)
		})
	}
	assert.Len(t, seen, len(decision.Conditions{}), "every condition has a violation")
}

func TestJudgeFirstHitWins(t *testing.T) {
	t.Parallel()
	all := violations()
	for i, first := range all {
		for _, second := range all[i+1:] {
			in := satisfied(t)
			if second.condition == decision.ConditionCheckAllows &&
				slices.Contains([]decision.Condition{decision.ConditionActiveTodos, decision.ConditionListTouched, decision.ConditionNotLeft}, first.condition) {
				continue // a check needs no list, and does not ask how old it is, or what is left
			}
			second.cause(&in)
			first.cause(&in)
			ev := decision.Judge(in)
			assert.Equal(t, first.reason, ev.Reason, "%v before %v", first.reason, second.reason)
			assert.Equal(t, marksNotMet(first.condition), ev.Conditions, "%v before %v", first.reason, second.reason)
		}
	}
}

// A turn with tool calls must not cost the program a read of its todos.
func TestJudgeAsksForTodosOnlyIfAllBeforeThemIsMet(t *testing.T) {
	t.Parallel()
	for _, v := range violations() {
		in := satisfied(t)
		v.cause(&in)
		in.Known = decision.SessionState
		ev := decision.Judge(in)
		assert.False(t, ev.Continue, v.reason)
		if v.condition <= decision.ConditionCurrentUserTurn {
			assert.Equal(t, v.reason, ev.Reason)
			assert.Equal(t, marksNotMet(v.condition), ev.Conditions, v.reason)
			continue
		}
		assert.Equal(t, decision.TodoList, ev.Needs, v.reason)
		assert.Equal(t, reasons.None, ev.Reason, v.reason)
		assert.Equal(t, marks(decision.ConditionCurrentUserTurn), ev.Conditions, v.reason)
		assert.Equal(t, in.State, ev.State, v.reason)
		assert.Zero(t, ev.Todo, v.reason)
	}
}

func TestJudgeGivesTheReasonOfTheScope(t *testing.T) {
	t.Parallel()
	for scope := reasons.Suppressed; scope <= reasons.JSON; scope++ {
		in := satisfied(t)
		in.Scope = scope
		ev := decision.Judge(in)
		assert.Equal(t, scope, ev.Reason)
		assert.Equal(t, marksNotMet(decision.ConditionInScope), ev.Conditions)
	}
}

func TestJudgeHowTheTurnEnded(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name string
		turn decision.Turn
		want continuation.Reason
	}{
		{"plain stop", decision.Turn{Finish: "stop"}, reasons.Satisfied},
		{"another spelling of it", decision.Turn{Finish: "END_TURN"}, reasons.Satisfied},
		{"cut", decision.Turn{Finish: "length"}, reasons.NotEnded},
		{"unknown", decision.Turn{Finish: "novel_reason"}, reasons.NotEnded},
		{"no finish", decision.Turn{}, reasons.NotEnded},
		{"no finish where there never is one", decision.Turn{NoFinish: true}, reasons.Satisfied},
		{"a finish where there never is one", decision.Turn{NoFinish: true, Finish: "length"}, reasons.NotEnded},
		{"a plain stop where there never is one", decision.Turn{NoFinish: true, Finish: "stop"}, reasons.Satisfied},
		{"blank", decision.Turn{Finish: "stop", End: handback.Blank}, reasons.Satisfied},
		{"blank and cut", decision.Turn{Finish: "length", End: handback.Blank}, reasons.NotEnded},
		{"refused", decision.Turn{Finish: "stop", ModelRefused: true}, reasons.Refused},
	}
	for _, c := range cases {
		in := satisfied(t)
		in.Turn = c.turn
		assert.Equal(t, c.want, decision.Judge(in).Reason, c.name)
	}
}

// A rejected pause is answered whatever its text and finish are; every other
// condition applies as to any turn.
func TestJudgeRejectedPause(t *testing.T) {
	t.Parallel()
	exempt := []continuation.Reason{
		reasons.ManyChoices, reasons.Refused, reasons.NotEnded,
		reasons.AsksUser, reasons.LeftToUser,
	}
	for _, v := range violations() {
		in := satisfied(t)
		in.Turn.Rejected = true
		v.cause(&in)
		want, conditions := v.reason, marksNotMet(v.condition)
		if slices.Contains(exempt, v.reason) || in.Turn.End == handback.Waits {
			want, conditions = reasons.Satisfied, marks(decision.ConditionIntervalElapsed)
		}
		ev := decision.Judge(in)
		assert.Equal(t, want, ev.Reason)
		assert.Equal(t, conditions, ev.Conditions, v.reason)
	}
}

func TestJudgeChoosesTheTodo(t *testing.T) {
	t.Parallel()
	list := func(todos ...todo.Todo) []todo.Todo { return todos }
	with := func(status todo.Status) todo.Todo { return todo.Todo{Content: "x", Status: status} }
	cases := []struct {
		name   string
		todos  []todo.Todo
		want   string // content
		reason continuation.Reason
	}{
		{"the only one", list(pending("a")), "a", reasons.Satisfied},
		{"first pending", list(completed("z"), pending("a"), pending("b")), "a", reasons.Satisfied},
		{"first in progress", list(inProgress("a"), inProgress("b")), "a", reasons.Satisfied},
		{"in progress before pending", list(pending("a"), inProgress("b"), pending("c"), inProgress("d")), "b", reasons.Satisfied},
		{"in progress first", list(inProgress("a"), pending("b")), "a", reasons.Satisfied},
		{"priority does not count", list(pending("a"), todo.Todo{Content: "b", Status: todo.Pending, Priority: "high"}), "a", reasons.Satisfied},
		{"blank pending skipped", list(pending(" "), pending("b")), "b", reasons.Satisfied},
		{"blank in progress skipped", list(inProgress("\t\n"), pending("b")), "b", reasons.Satisfied},
		{"blank in progress before one that is not", list(inProgress(""), pending("b"), inProgress("c")), "c", reasons.Satisfied},
		{"only blank ones", list(inProgress(""), pending("\u200b")), "", reasons.NoSuitableTodo},
		{"nil", nil, "", reasons.EmptyList},
		{"empty", list(), "", reasons.EmptyList},
		{"done", list(completed("a"), with(todo.Cancelled)), "", reasons.NoActiveTodos},
		{"unknown status is not active", list(with("later"), completed("b")), "", reasons.UnknownStatus},
		{"unknown status skipped", list(with("later"), pending("b")), "b", reasons.Satisfied},
		{"another spelling", list(with("PENDING"), todo.Todo{Content: "b", Status: "In Progress"}), "b", reasons.Satisfied},
		{"another spelling of done", list(with("Done"), with("SKIPPED")), "", reasons.NoActiveTodos},
		{"no status", list(with("")), "x", reasons.Satisfied},
	}
	for _, c := range cases {
		in := satisfied(t)
		in.Todos = c.todos
		ev := decision.Judge(in)
		assert.Equal(t, c.reason, ev.Reason, c.name)
		assert.Equal(t, c.want, ev.Todo.Content, c.name)
	}
}

func TestJudgeChosenTodoIsWhole(t *testing.T) {
	t.Parallel()
	want := todo.Todo{ID: "id-1", Content: "  - [ ] text as it is ", Status: todo.InProgress, Priority: "low"}
	in := satisfied(t)
	in.Todos = []todo.Todo{pending("a"), want}
	assert.Equal(t, want, decision.Judge(in).Todo)
}

func TestJudgeBudgets(t *testing.T) {
	t.Parallel()
	const off = continuation.Off
	cases := []struct {
		name   string
		limits continuation.Limits
		state  decision.State
		want   continuation.Reason
	}{
		{"last attempt", continuation.Limits{}, decision.State{Attempts: 3}, reasons.Satisfied},
		{"attempts used up", continuation.Limits{}, decision.State{Attempts: 4}, reasons.MaxAttempts},
		{"more than used up", continuation.Limits{}, decision.State{Attempts: 5}, reasons.MaxAttempts},
		{"one attempt", continuation.Limits{MaxAttempts: 1}, decision.State{}, reasons.Satisfied},
		{"one attempt used", continuation.Limits{MaxAttempts: 1}, decision.State{Attempts: 1}, reasons.MaxAttempts},
		{"attempts off", continuation.Limits{MaxAttempts: off}, decision.State{Attempts: 1 << 30}, reasons.Satisfied},
		{"last without progress", continuation.Limits{}, decision.State{Continuations: 9}, reasons.Satisfied},
		{"used up without progress", continuation.Limits{}, decision.State{Continuations: 10}, reasons.WithoutProgress},
		{"without progress, off", continuation.Limits{MaxWithoutProgress: off}, decision.State{Continuations: 1 << 30}, reasons.Satisfied},
		{"tokens off unless set", continuation.Limits{}, decision.State{Tokens: 1 << 40}, reasons.Satisfied},
		{"tokens left", continuation.Limits{TokenBudget: 100}, decision.State{Tokens: 99}, reasons.Satisfied},
		{"tokens used up", continuation.Limits{TokenBudget: 100}, decision.State{Tokens: 100}, reasons.TokenBudget},
	}
	for _, c := range cases {
		in := satisfied(t)
		in.Limits = withDefaults(t, c.limits)
		in.State = c.state
		in.State.UserTurn = turn7
		assert.Equal(t, c.want, decision.Judge(in).Reason, c.name)
	}
}

func TestJudgeInterval(t *testing.T) {
	t.Parallel()
	const second = time.Second
	cases := []struct {
		name     string
		last     time.Time
		interval time.Duration
		want     time.Duration
	}{
		{"no prompt yet", time.Time{}, second, 0},
		{"exactly over", noon.Add(-second), second, 0},
		{"long over", noon.Add(-time.Hour), second, 0},
		{"a nanosecond left", noon.Add(-second + 1), second, 1},
		{"part of it left", noon.Add(-300 * time.Millisecond), second, 700 * time.Millisecond},
		{"at once", noon, second, second},
		{"clock set back a little", noon.Add(time.Millisecond), second, second},
		{"clock set back by years", noon.AddDate(5, 0, 0), second, second},
		{"another time zone", noon.Add(-300 * time.Millisecond).In(time.FixedZone("", 3600)), second, 700 * time.Millisecond},
		{"off", noon, continuation.Off, 0},
		{"off, clock set back", noon.AddDate(5, 0, 0), continuation.Off, 0},
		{"another interval", noon.Add(-time.Minute), time.Hour, 59 * time.Minute},
	}
	for _, c := range cases {
		in := satisfied(t)
		in.Limits.MinInterval = c.interval
		in.State.LastPrompt = c.last
		ev := decision.Judge(in)
		assert.Equal(t, c.want, ev.IntervalLeft, c.name)
		if c.want == 0 {
			assert.Equal(t, reasons.Satisfied, ev.Reason, c.name)
			continue
		}
		assert.Equal(t, reasons.TooSoon, ev.Reason, c.name)
		in.Now = in.Now.Add(ev.IntervalLeft - 1)
		assert.NotZero(t, decision.Judge(in).IntervalLeft, "%s: a nanosecond before the wait is over", c.name)
		if !c.last.After(noon) {
			in.Now = in.Now.Add(1)
			assert.Equal(t, reasons.Satisfied, decision.Judge(in).Reason, "%s: when the wait is over", c.name)
		}
	}
}

func TestJudgeBackground(t *testing.T) {
	t.Parallel()
	age := continuation.DefaultLimits().MaxTaskAge
	cases := []struct {
		name       string
		background decision.Background
		maxAge     time.Duration
		busy       bool
	}{
		{"none", decision.Background{}, age, false},
		{"finished ones do not count", decision.Background{Oldest: noon}, age, false},
		{"one, just started", decision.Background{Unfinished: 1, Oldest: noon}, age, true},
		{"several", decision.Background{Unfinished: 3, Oldest: noon.Add(-time.Minute)}, age, true},
		{"almost too old", decision.Background{Unfinished: 1, Oldest: noon.Add(-age + 1)}, age, true},
		{"too old", decision.Background{Unfinished: 1, Oldest: noon.Add(-age)}, age, false},
		{"no maximum", decision.Background{Unfinished: 1, Oldest: noon.AddDate(-5, 0, 0)}, continuation.Off, true},
		{"none, no maximum", decision.Background{}, continuation.Off, false},
	}
	for _, c := range cases {
		in := satisfied(t)
		in.Background = c.background
		in.Limits.MaxTaskAge = c.maxAge
		ev := decision.Judge(in)
		assert.Equal(t, c.busy, ev.Reason == reasons.Background, c.name)
		assert.Equal(t, c.busy, ev.Awaited == c.background.Unfinished && ev.Awaited > 0, c.name)
	}
}

func TestJudgeClaims(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name  string
		claim decision.Claim
		want  continuation.Reason
	}{
		{"just claimed", decision.Claim{Token: 1, Since: noon}, reasons.Active},
		{"about to lapse", decision.Claim{Token: 1, Until: noon.Add(1)}, reasons.Active},
		{"lapsed", decision.Claim{Token: 1, Until: noon}, reasons.Satisfied},
		{"nobody's", decision.Claim{Since: noon}, reasons.Satisfied},
	}
	for _, c := range cases {
		in := satisfied(t)
		in.State.Claim = c.claim
		assert.Equal(t, c.want, decision.Judge(in).Reason, c.name)
	}
}

// A call is superseded if its user turn differs: a call of an earlier user turn is as
// outdated as one from before a newer turn.
func TestJudgeUserTurnOfTheCall(t *testing.T) {
	t.Parallel()
	for _, other := range []int{0, turn7 - 1, turn7 + 1} {
		in := satisfied(t)
		in.UserTurn = other
		assert.Equal(t, reasons.Superseded, decision.Judge(in).Reason)
	}
}

func TestJudgeIsPure(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		in := randomInput(rng)
		todos, before := slices.Clone(in.Todos), in
		first := decision.Judge(in)
		require.Equal(t, first, decision.Judge(in))
		require.Equal(t, todos, in.Todos)
		require.Equal(t, before, in)
	}
}

// Properties of every decision, checked on random inputs.
func TestJudgeProperties(t *testing.T) {
	t.Parallel()
	seen, needed := map[continuation.Reason]int{}, map[decision.Inputs]int{}
	rng := rand.New(rand.NewPCG(3, 4))
	for range 15_000 {
		in := randomInput(rng)
		ev := decision.Judge(in)
		seen[ev.Reason]++
		needed[ev.Needs]++
		requireSound(t, in, ev)
	}
	for _, v := range violations() {
		assert.Positive(t, seen[v.reason], "chance inputs reach %v", v.reason)
	}
	assert.Positive(t, seen[reasons.Satisfied])
	for _, fact := range facts {
		assert.Positive(t, needed[fact], fact)
	}
}

// facts are the facts that a verdict may need.
var facts = [...]decision.Inputs{decision.TodoList, decision.BackgroundWork, decision.SessionState}

// requireNeeds requires that a verdict without a reason stands after that condition, for
// want of a fact.
func requireNeeds(t *testing.T, in decision.Input, ev decision.Verdict, last decision.Condition) {
	t.Helper()
	const format = "%+v\n%+v"
	require.Zerof(t, in.Known&ev.Needs, format, in, ev)
	require.Equalf(t, reasons.None, ev.Reason, format, in, ev)
	require.Equalf(t, marks(last), ev.Conditions, format, in, ev)
}

func requireSound(t *testing.T, in decision.Input, ev decision.Verdict) {
	t.Helper()
	const format = "%+v\n%+v"
	looked := 0
	for looked < len(ev.Conditions) && ev.Conditions[looked] == decision.Met {
		looked++
	}
	switch {
	case ev.Needs == decision.TodoList:
		requireNeeds(t, in, ev, decision.ConditionCurrentUserTurn)
	case ev.Needs == decision.BackgroundWork:
		requireNeeds(t, in, ev, decision.ConditionOwnWork)
	case ev.Needs == decision.SessionState:
		require.Zerof(t, in.Known&decision.SessionState, format, in, ev)
		require.Truef(t, in.RuledOut || ev.HasSeenList(), format, in, ev)
	case ev.Reason == reasons.Satisfied:
		require.Lenf(t, ev.Conditions, looked, format, in, ev)
		require.Truef(t, ev.Todo.Status.Active() && !description.Blank(ev.Todo.Content), format, in, ev)
		require.Containsf(t, in.Todos, ev.Todo, format, in, ev)
	default:
		require.Lessf(t, looked, len(ev.Conditions), format, in, ev)
		require.Equalf(t, marksNotMet(decision.Condition(looked)), ev.Conditions, format, in, ev)
	}
	require.Equalf(t, ev.Reason == reasons.Satisfied, ev.Continue, format, in, ev)
	require.Equalf(t, ev.Reason == reasons.TooSoon, ev.IntervalLeft > 0, format, in, ev)
	require.LessOrEqualf(t, ev.IntervalLeft, max(in.Limits.MinInterval, 0), format, in, ev)
	require.Positivef(t, ev.Attempt, format, in, ev)
	if limit := in.Limits.MaxAttempts; ev.Continue && limit != continuation.Off {
		require.LessOrEqualf(t, ev.Attempt, limit, format, in, ev)
	}
	if in.Known&decision.SessionState == 0 {
		in.State = decision.State{}
	}
	require.LessOrEqualf(t, ev.State.Repeats, in.State.Repeats, format, in, ev)
	require.LessOrEqualf(t, ev.State.Attempts, in.State.Attempts, format, in, ev)
	require.LessOrEqualf(t, ev.State.Continuations, in.State.Continuations, format, in, ev)
	changed := ev.State
	changed.Attempts, changed.Continuations = in.State.Attempts, in.State.Continuations
	changed.Repeats = in.State.Repeats
	changed.Watermarks, changed.Stale = in.State.Watermarks, in.State.Stale
	changed.ListWritten = in.State.ListWritten || changed.ListWritten && in.Origin.Written != origins.Now
	require.Equalf(t, in.State, changed, "only the progress of the list is noted: %+v\n%+v", in, ev)
}

// randomInput meets every condition, except for a few random violations and other oddities.
func randomInput(rng *rand.Rand) decision.Input {
	limit := func(most int) int { return [...]int{continuation.Off, 1, 2, most}[rng.IntN(4)] }
	contents := []string{"a", "b", "", " "}
	statuses := []todo.Status{todo.Pending, todo.InProgress, todo.Completed, todo.Cancelled, "odd"}
	in := decision.Input{
		Settings: continuation.DefaultValues(), Turn: decision.Turn{Finish: "stop"}, UserTurn: turn7,
		Known: decision.SessionState | decision.TodoList | decision.BackgroundWork, Now: noon,
		Limits: continuation.Limits{
			MaxAttempts: limit(3), MaxWithoutProgress: limit(10), TokenBudget: limit(1000),
			MinInterval: time.Second, MaxTaskAge: time.Minute,
		},
		State: decision.State{
			UserTurn: turn7, Attempts: rng.IntN(4), Continuations: rng.IntN(4), Tokens: rng.IntN(4),
			LastPrompt: noon.Add(time.Duration(rng.IntN(30)-28) * 100 * time.Millisecond),
			Watermarks: decision.Watermarks{Set: rng.IntN(2) > 0, Completed: rng.IntN(3), Active: rng.IntN(3)},
		},
	}
	for range rng.IntN(5) {
		in.Todos = append(in.Todos, todo.Todo{Content: contents[rng.IntN(len(contents))], Status: statuses[rng.IntN(len(statuses))]})
	}
	if rng.IntN(3) == 0 {
		in.State.Stale = decision.Digest(in.Todos) + uint64(rng.IntN(2)*2)
	}
	for _, fact := range facts {
		if rng.IntN(10) == 0 {
			in.Known &^= fact
		}
	}
	in.RuledOut = rng.IntN(8) == 0
	in.Turn.Rejected = rng.IntN(8) == 0
	in.Turn.NoFinish = rng.IntN(8) == 0
	in.Turn.End = handback.End(rng.IntN(4))
	in.Origin.Written = [...]string{"", origins.Earlier, origins.Now}[rng.IntN(3)]
	for _, v := range violations() {
		if rng.IntN(20) == 0 {
			v.cause(&in)
		}
	}
	return in
}
