package decision_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/handback"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/todo"
)

// mayAsk returns an input without a list, whose model is asked whether anything is open.
func mayAsk(tb testing.TB) decision.Input {
	tb.Helper()
	in := satisfied(tb)
	in.Todos, in.TodosErr, in.MayAsk, in.AskAlways = nil, todo.ErrNoList, true, true
	in.State.Watermarks = decision.Watermarks{}
	return in
}

func TestJudgeQuestion(t *testing.T) {
	t.Parallel()
	type in = decision.Input
	for name, c := range map[string]struct {
		change func(*in)
		want   continuation.Reason
	}{
		"there is no list":            {func(*in) {}, reasons.Ask},
		"nobody is there":             {func(i *in) { i.Settings.ApprovalMode = continuation.ApprovalYOLO }, reasons.Ask},
		"the turn is only a report":   {func(i *in) { i.Turn.End = handback.Unclear }, reasons.Ask},
		"an older list was stale":     {func(i *in) { i.State.Stale = 7 }, reasons.Ask},
		"the program asks for none":   {func(i *in) { i.MayAsk = false }, reasons.NoList},
		"the list is unreadable":      {func(i *in) { i.TodosErr = todo.ErrUnreadable }, reasons.ListUnreadable},
		"the source needs a session":  {func(i *in) { i.TodosErr = todo.ErrNoSession }, reasons.NoSession},
		"the source fails":            {func(i *in) { i.TodosErr = errors.New("down") }, reasons.SourceFailed},
		"there is a list":             {func(i *in) { i.TodosErr, i.Todos = nil, []todo.Todo{pending("write")} }, reasons.Satisfied},
		"the list is done":            {func(i *in) { i.TodosErr, i.Todos = nil, []todo.Todo{completed("write")} }, reasons.NoActiveTodos},
		"the list is empty":           {func(i *in) { i.TodosErr = nil }, reasons.EmptyList},
		"asked, nothing is open":      {func(i *in) { i.State.ClosingQuestion, i.Turn.NothingOpen = true, true }, reasons.NothingOpen},
		"asked, and another answer":   {func(i *in) { i.State.ClosingQuestion = true }, reasons.Asked},
		"the model asks":              {func(i *in) { i.Turn.End = handback.Asks }, reasons.AsksUser},
		"it asks, and nobody answers": {func(i *in) { i.Turn.End, i.Settings.ApprovalMode = handback.Asks, continuation.ApprovalYOLO }, reasons.Ask},
		"it asks, and never waits":    {func(i *in) { i.Turn.End, i.Handback.Questions = handback.Asks, continuation.GoOn }, reasons.Ask},
		"it waits":                    {func(i *in) { i.Turn.End, i.Settings.ApprovalMode = handback.Waits, continuation.ApprovalYOLO }, reasons.Background},
		"it has called tools":         {func(i *in) { i.Turn.ToolCalls = true }, reasons.ToolCalls},
		"its pause was rejected":      {func(i *in) { i.Turn.Rejected = true }, reasons.NoList},
		"it was cut off":              {func(i *in) { i.Turn.Finish = "length" }, reasons.NotEnded},
		"suppressed":                  {func(i *in) { i.Scope = reasons.Suppressed }, reasons.Suppressed},
		"paused":                      {func(i *in) { i.State.Paused = continuation.Pause{Since: noon} }, reasons.Paused},
		"in the background":           {func(i *in) { i.Background = decision.Background{Unfinished: 1, Oldest: noon} }, reasons.Background},
		"claimed":                     {func(i *in) { i.State.Claim = decision.Claim{Token: 1} }, reasons.Active},
		"attempts used up":            {func(i *in) { i.State.Attempts = continuation.DefaultLimits().MaxAttempts }, reasons.MaxAttempts},
		"too often in a user turn":    {func(i *in) { i.State.Continuations = continuation.DefaultLimits().MaxWithoutProgress }, reasons.WithoutProgress},
		"tokens used up":              {func(i *in) { i.State.Tokens = 1000 }, reasons.TokenBudget},
		"too soon":                    {func(i *in) { i.State.LastPrompt = noon.Add(-time.Nanosecond) }, reasons.TooSoon},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := mayAsk(t)
			c.change(&in)
			ev := decision.Judge(in)
			assert.Equal(t, c.want, ev.Reason)
			assert.Equal(t, c.want.Continues(), ev.Continue)
			if c.want == reasons.Ask {
				assert.True(t, ev.ClosingQuestion)
				assert.Equal(t, todo.Todo{}, ev.Todo)
				assert.Equal(t, marks(decision.ConditionIntervalElapsed), ev.Conditions)
			}
		})
	}
}

// Where nobody is there, the model is asked after a turn that shows that it has stalled, or that only asks, though the
// program wants no full question. Where a person is there, it is not.
func TestJudgeQuestionByMode(t *testing.T) {
	t.Parallel()
	for end, want := range map[handback.End]continuation.Reason{
		handback.Blank:     reasons.Ask,
		handback.Announces: reasons.Ask,
		handback.Asks:      reasons.Ask,
		handback.Unclear:   reasons.NoList,
		handback.Waits:     reasons.NoList,
	} {
		in := mayAsk(t)
		in.AskAlways, in.Turn.End = false, end
		assert.Equal(t, reasons.NoList, decision.Judge(in).Reason, "standard: %v", end)
		in.Settings.ApprovalMode = continuation.ApprovalYOLO
		assert.Equal(t, want, decision.Judge(in).Reason, "yolo: %v", end)
		in.State.ClosingQuestion = true
		if want == reasons.Ask {
			want = reasons.Asked
		}
		assert.Equal(t, want, decision.Judge(in).Reason, "yolo, asked: %v", end)
		in.Turn.NothingOpen = true
		assert.Equal(t, reasons.NothingOpen, decision.Judge(in).Reason)
	}
}
