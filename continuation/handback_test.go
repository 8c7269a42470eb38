package continuation_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/todo"
)

func TestTheModeOrARuleSaysWhoseTurnItIs(t *testing.T) {
	t.Parallel()
	standard, yolo := continuation.ApprovalDefault, continuation.ApprovalYOLO
	for _, c := range []struct {
		name  string
		rule  continuation.HandbackRule
		mode  continuation.ApprovalMode
		waits bool
	}{
		{name: "standard", mode: standard, waits: true},
		{name: "yolo", mode: yolo},
		{name: "standard, go on", rule: continuation.GoOn, mode: standard},
		{name: "yolo, wait", rule: continuation.Wait, mode: yolo, waits: true},
	} {
		in := satisfied(t)
		in.Settings.ApprovalMode, in.Handback.Questions = c.mode, c.rule
		in.Turn.End = continuation.EndAsks
		want := continuation.ReasonSatisfied
		if c.waits {
			want = continuation.ReasonAsksUser
		}
		assert.Equal(t, want, continuation.Evaluate(in).Reason, c.name)

		in = satisfied(t)
		in.Settings.ApprovalMode, in.Handback.Untouched = c.mode, c.rule
		in.Origin.Written = todo.WrittenEarlier
		want = continuation.ReasonSatisfied
		if c.waits {
			want = continuation.ReasonListUntouched
		}
		assert.Equal(t, want, continuation.Evaluate(in).Reason, c.name)
	}
}

func TestAListIsLiveIfItWasWrittenOrTheUserSaysGoOn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*continuation.Input)
		want   continuation.Reason
	}{
		"written earlier":                 {func(*continuation.Input) {}, continuation.ReasonListUntouched},
		"written in this request":         {func(in *continuation.Input) { in.Origin.Written = todo.WrittenNow }, continuation.ReasonSatisfied},
		"written in an earlier request":   {func(in *continuation.Input) { in.State.Touched = true }, continuation.ReasonSatisfied},
		"the user only says go on":        {func(in *continuation.Input) { in.ShortMessage = true }, continuation.ReasonSatisfied},
		"a source that does not know":     {func(in *continuation.Input) { in.Origin.Written = todo.WrittenUnknown }, continuation.ReasonSatisfied},
		"a question comes before it":      {func(in *continuation.Input) { in.Turn.End = continuation.EndAsks }, continuation.ReasonAsksUser},
		"a rejected pause is answered":    {func(in *continuation.Input) { in.Turn.Rejected, in.Turn.End = true, continuation.EndAsks }, continuation.ReasonListUntouched},
		"a finished list comes before it": {func(in *continuation.Input) { in.Todos = []todo.Todo{completed("a")} }, continuation.ReasonNoActiveTodos},
	} {
		in := satisfied(t)
		in.Origin.Written = todo.WrittenEarlier
		c.change(&in)
		assert.Equal(t, c.want, continuation.Evaluate(in).Reason, name)
	}
}

func TestAnUnclearEndHasOneAttemptWhereAPersonIsThere(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end   continuation.TurnEnd
		mode  continuation.ApprovalMode
		limit int
		used  int
		want  continuation.Reason
	}{
		"unclear, first":     {continuation.EndUnclear, continuation.ApprovalDefault, 0, 0, continuation.ReasonSatisfied},
		"unclear, second":    {continuation.EndUnclear, continuation.ApprovalDefault, 0, 1, continuation.ReasonMaxAttempts},
		"unclear, no limit":  {continuation.EndUnclear, continuation.ApprovalDefault, continuation.Off, 1, continuation.ReasonMaxAttempts},
		"unclear, nobody":    {continuation.EndUnclear, continuation.ApprovalYOLO, 0, 3, continuation.ReasonSatisfied},
		"announced, last":    {continuation.EndAnnounces, continuation.ApprovalDefault, 0, 3, continuation.ReasonSatisfied},
		"announced, used up": {continuation.EndAnnounces, continuation.ApprovalDefault, 0, 4, continuation.ReasonMaxAttempts},
		"blank, last":        {continuation.EndNone, continuation.ApprovalDefault, 0, 3, continuation.ReasonSatisfied},
	} {
		in := satisfied(t)
		in.Limits = withDefaults(t, continuation.Limits{MaxAttempts: c.limit})
		in.Settings.ApprovalMode, in.Turn.End, in.State.Attempts = c.mode, c.end, c.used
		assert.Equal(t, c.want, continuation.Evaluate(in).Reason, name)
	}
}

// The wait for the interval ends, whatever the clocks say.
func TestAClockThatWasSetBackHoldsACallForOneInterval(t *testing.T) {
	t.Parallel()
	in := satisfied(t)
	in.State.LastPrompt = noon.Add(time.Hour) // of a replica whose clock is ahead
	ev := continuation.Evaluate(in)
	require.Equal(t, continuation.ReasonTooSoon, ev.Reason)
	require.Equal(t, in.Limits.MinInterval, ev.Wait)
	in.Waited = ev.Wait
	assert.Equal(t, continuation.ReasonSatisfied, continuation.Evaluate(in).Reason)
	in.Waited = ev.Wait / 4
	assert.Equal(t, ev.Wait-in.Waited, continuation.Evaluate(in).Wait)
}

func TestHandbackRulesHaveNames(t *testing.T) {
	t.Parallel()
	for rule, name := range map[continuation.HandbackRule]string{
		continuation.ByMode: "mode", continuation.Wait: "wait", continuation.GoOn: "continue",
	} {
		assert.Equal(t, name, rule.String())
		got, err := continuation.ParseHandbackRule(name)
		require.NoError(t, err)
		assert.Equal(t, rule, got)
	}
	_, err := continuation.ParseHandbackRule("maybe")
	require.EqualError(t, err, `continuation: unknown rule "maybe": it is one of mode, wait and continue`)
	require.NoError(t, continuation.Handback{Questions: continuation.Wait}.Check())
	require.Error(t, continuation.Handback{Untouched: 7}.Check())
}
