package decision_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/handback"
	"github.com/carryon-go/carryon/internal/origins"
	"github.com/carryon-go/carryon/internal/reasons"
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
		in.Turn.End = handback.Asks
		want := reasons.Satisfied
		if c.waits {
			want = reasons.AsksUser
		}
		assert.Equal(t, want, decision.Judge(in).Reason, c.name)

		in = satisfied(t)
		in.Settings.ApprovalMode, in.Handback.Untouched = c.mode, c.rule
		in.Origin.Written, in.Turn.End, in.State.Attempts = origins.Earlier, handback.Unclear, 0
		want = reasons.Satisfied
		if c.waits {
			want = reasons.ListUntouched
		}
		assert.Equal(t, want, decision.Judge(in).Reason, c.name)
	}
}

func TestAListIsLiveIfItWasWrittenOrTheUserSaysGoOn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*decision.Input)
		want   continuation.Reason
	}{
		"written earlier":                 {func(*decision.Input) {}, reasons.ListUntouched},
		"written in this request":         {func(in *decision.Input) { in.Origin.Written = origins.Now }, reasons.Satisfied},
		"written in an earlier request":   {func(in *decision.Input) { in.State.ListWritten = true }, reasons.Satisfied},
		"the user only says go on":        {func(in *decision.Input) { in.ShortMessage = true }, reasons.Satisfied},
		"a source that does not know":     {func(in *decision.Input) { in.Origin.Written = "" }, reasons.Satisfied},
		"a question comes before it":      {func(in *decision.Input) { in.Turn.End = handback.Asks }, reasons.AsksUser},
		"a rejected pause is answered":    {func(in *decision.Input) { in.Turn.Rejected, in.Turn.End = true, handback.Asks }, reasons.ListUntouched},
		"a blank turn":                    {func(in *decision.Input) { in.Turn.End = handback.Blank }, reasons.Satisfied},
		"a step is announced":             {func(in *decision.Input) { in.Turn.End = handback.Announces }, reasons.Satisfied},
		"a rejected pause, no text":       {func(in *decision.Input) { in.Turn.Rejected, in.Turn.End = true, handback.Blank }, reasons.ListUntouched},
		"a finished list comes before it": {func(in *decision.Input) { in.Todos = []todo.Todo{completed("a")} }, reasons.NoActiveTodos},
	} {
		in := satisfied(t)
		in.Origin.Written, in.Turn.End, in.State.Attempts = origins.Earlier, handback.Unclear, 0
		c.change(&in)
		assert.Equal(t, c.want, decision.Judge(in).Reason, name)
	}
}

func TestWhatTheModelLeavesIsTheUsers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*decision.Input)
		want   continuation.Reason
	}{
		"a person is there":            {func(*decision.Input) {}, reasons.LeftToUser},
		"nobody is there":              {func(in *decision.Input) { in.Settings.ApprovalMode = continuation.ApprovalYOLO }, reasons.Satisfied},
		"questions are continued":      {func(in *decision.Input) { in.Handback.Questions = continuation.GoOn }, reasons.Satisfied},
		"a rejected pause is answered": {func(in *decision.Input) { in.Turn.Rejected = true }, reasons.Satisfied},
		"the list is old":              {func(in *decision.Input) { in.Origin.Written = origins.Earlier }, reasons.ListUntouched},
	} {
		in := satisfied(t)
		in.Turn.End = handback.Leaves
		c.change(&in)
		assert.Equal(t, c.want, decision.Judge(in).Reason, name)
	}
}

func TestAnUnclearEndHasOneAttemptWhereAPersonIsThere(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end   handback.End
		mode  continuation.ApprovalMode
		limit int
		used  int
		want  continuation.Reason
	}{
		"unclear, first":     {handback.Unclear, continuation.ApprovalDefault, 0, 0, reasons.Satisfied},
		"unclear, second":    {handback.Unclear, continuation.ApprovalDefault, 0, 1, reasons.MaxAttempts},
		"unclear, no limit":  {handback.Unclear, continuation.ApprovalDefault, continuation.Off, 1, reasons.MaxAttempts},
		"unclear, nobody":    {handback.Unclear, continuation.ApprovalYOLO, 0, 3, reasons.Satisfied},
		"announced, last":    {handback.Announces, continuation.ApprovalDefault, 0, 3, reasons.Satisfied},
		"announced, used up": {handback.Announces, continuation.ApprovalDefault, 0, 4, reasons.MaxAttempts},
		"blank, last":        {handback.Blank, continuation.ApprovalDefault, 0, 3, reasons.Satisfied},
	} {
		in := satisfied(t)
		in.Limits = withDefaults(t, continuation.Limits{MaxAttempts: c.limit})
		in.Settings.ApprovalMode, in.Turn.End, in.State.Attempts = c.mode, c.end, c.used
		assert.Equal(t, c.want, decision.Judge(in).Reason, name)
	}
}

// A turn that says that its own work still runs is left alone. Where nobody is there, such
// a wait ends by itself, after a while or after some turns.
func TestAStatedWaitIsBounded(t *testing.T) {
	t.Parallel()
	late := continuation.DefaultLimits().MaxTaskAge
	for name, c := range map[string]struct {
		mode    continuation.ApprovalMode
		waiting decision.Waiting
		change  func(*decision.Input)
		want    continuation.Reason
	}{
		"standard":                 {mode: continuation.ApprovalDefault, want: reasons.Background},
		"standard, for long":       {mode: continuation.ApprovalDefault, waiting: decision.Waiting{Since: noon.Add(-late), Turns: 20}, want: reasons.Background},
		"yolo":                     {mode: continuation.ApprovalYOLO, want: reasons.Background},
		"yolo, the seventh turn":   {mode: continuation.ApprovalYOLO, waiting: decision.Waiting{Since: noon, Turns: 7}, want: reasons.Background},
		"yolo, the eighth turn":    {mode: continuation.ApprovalYOLO, waiting: decision.Waiting{Since: noon, Turns: 8}, want: reasons.Satisfied},
		"yolo, for long":           {mode: continuation.ApprovalYOLO, waiting: decision.Waiting{Since: noon.Add(-late), Turns: 1}, want: reasons.Satisfied},
		"yolo, for long, no limit": {mode: continuation.ApprovalYOLO, waiting: decision.Waiting{Since: noon.Add(-late), Turns: 1}, change: func(in *decision.Input) { in.Limits.MaxTaskAge = continuation.Off }, want: reasons.Background},
		"a rejected pause":         {mode: continuation.ApprovalDefault, change: func(in *decision.Input) { in.Turn.Rejected = true }, want: reasons.Satisfied},
		"set apart from the mode":  {mode: continuation.ApprovalDefault, change: func(in *decision.Input) { in.Handback.Questions = continuation.GoOn }, want: reasons.Background},
	} {
		in := satisfied(t)
		in.Settings.ApprovalMode, in.Turn.End, in.State.Waiting = c.mode, handback.Waits, c.waiting
		if c.change != nil {
			c.change(&in)
		}
		ev := decision.Judge(in)
		assert.Equal(t, c.want, ev.Reason, name)
		assert.Zero(t, ev.Awaited, name)
	}
}

// An outcome says which rule made the limit.
func TestALimitHasARule(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*decision.Input)
		limit  int
		rule   string
	}{
		"of the program": {func(in *decision.Input) { in.State.Attempts = 4 }, 4, ""},
		"of the program, as low": {func(in *decision.Input) {
			in.Limits.MaxAttempts, in.Turn.End = 1, handback.Unclear
		}, 1, ""},
		"of a report": {func(in *decision.Input) { in.Turn.End = handback.Unclear }, 1, "a report gets one attempt in standard mode"},
		"of a stale list": {
			func(in *decision.Input) { in.State.Stale = decision.Digest(in.Todos) }, 1,
			"the list has not changed since the last user turn that ended exhausted, paused or cancelled, so it gets one attempt",
		},
		"of a repeated answer": {
			func(in *decision.Input) { in.State.Repeats, in.State.Attempts = 2, 2 }, 2,
			"the model gave the same answer again after it had been told so",
		},
	} {
		in := satisfied(t)
		c.change(&in)
		ev := decision.Judge(in)
		assert.Equal(t, reasons.MaxAttempts, ev.Reason, name)
		assert.Equal(t, c.limit, ev.Limit, name)
		assert.Equal(t, c.rule, ev.LimitRule, name)
	}
}

// An answer that came twice gets one more try, in every mode, and all of them again after progress.
func TestARepeatedAnswerGetsOneMoreTry(t *testing.T) {
	t.Parallel()
	for _, mode := range []continuation.ApprovalMode{continuation.ApprovalDefault, continuation.ApprovalYOLO} {
		in := satisfied(t)
		in.Settings.ApprovalMode, in.State.Repeats = mode, 1
		assert.Equal(t, reasons.Satisfied, decision.Judge(in).Reason)
		in.State.Repeats = 2
		assert.Equal(t, reasons.MaxAttempts, decision.Judge(in).Reason)
		in.Todos = append(in.Todos, completed("b"))
		ev := decision.Judge(in)
		assert.Equal(t, reasons.Satisfied, ev.Reason)
		assert.Zero(t, ev.State.Repeats)
	}
}

// The wait for the interval ends, whatever the clocks say.
func TestAClockThatWasSetBackHoldsACallForOneInterval(t *testing.T) {
	t.Parallel()
	in := satisfied(t)
	in.State.LastPrompt = noon.Add(time.Hour) // of a replica whose clock is ahead
	ev := decision.Judge(in)
	require.Equal(t, reasons.TooSoon, ev.Reason)
	require.Equal(t, in.Limits.MinInterval, ev.IntervalLeft)
	in.Waited = ev.IntervalLeft
	assert.Equal(t, reasons.Satisfied, decision.Judge(in).Reason)
	in.Waited = ev.IntervalLeft / 4
	assert.Equal(t, ev.IntervalLeft-in.Waited, decision.Judge(in).IntervalLeft)
}
