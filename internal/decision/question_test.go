package decision_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/handback"
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
		"there is no list":            {func(*in) {}, continuation.ReasonAsk},
		"nobody is there":             {func(i *in) { i.Settings.ApprovalMode = continuation.ApprovalYOLO }, continuation.ReasonAsk},
		"the turn is only a report":   {func(i *in) { i.Turn.End = handback.Unclear }, continuation.ReasonAsk},
		"an older list was stale":     {func(i *in) { i.State.Stale = 7 }, continuation.ReasonAsk},
		"the program asks for none":   {func(i *in) { i.MayAsk = false }, continuation.ReasonNoList},
		"the list is unreadable":      {func(i *in) { i.TodosErr = todo.ErrUnreadable }, continuation.ReasonListUnreadable},
		"the source needs a session":  {func(i *in) { i.TodosErr = todo.ErrNoSession }, continuation.ReasonNoSession},
		"the source fails":            {func(i *in) { i.TodosErr = errors.New("down") }, continuation.ReasonSourceFailed},
		"there is a list":             {func(i *in) { i.TodosErr, i.Todos = nil, []todo.Todo{pending("write")} }, continuation.ReasonSatisfied},
		"the list is done":            {func(i *in) { i.TodosErr, i.Todos = nil, []todo.Todo{completed("write")} }, continuation.ReasonNoActiveTodos},
		"the list is empty":           {func(i *in) { i.TodosErr = nil }, continuation.ReasonEmptyList},
		"asked, nothing is open":      {func(i *in) { i.State.Asked, i.Turn.NothingOpen = true, true }, continuation.ReasonNothingOpen},
		"asked, and another answer":   {func(i *in) { i.State.Asked = true }, continuation.ReasonAsked},
		"the model asks":              {func(i *in) { i.Turn.End = handback.Asks }, continuation.ReasonAsksUser},
		"it asks, and nobody answers": {func(i *in) { i.Turn.End, i.Settings.ApprovalMode = handback.Asks, continuation.ApprovalYOLO }, continuation.ReasonAsk},
		"it asks, and never waits":    {func(i *in) { i.Turn.End, i.Handback.Questions = handback.Asks, continuation.GoOn }, continuation.ReasonAsk},
		"it waits":                    {func(i *in) { i.Turn.End, i.Settings.ApprovalMode = handback.Waits, continuation.ApprovalYOLO }, continuation.ReasonBackground},
		"it has called tools":         {func(i *in) { i.Turn.ToolCalls = true }, continuation.ReasonToolCalls},
		"its pause was rejected":      {func(i *in) { i.Turn.Rejected = true }, continuation.ReasonNoList},
		"it was cut off":              {func(i *in) { i.Turn.Finish = "length" }, continuation.ReasonNotEnded},
		"suppressed":                  {func(i *in) { i.Scope = continuation.ReasonSuppressed }, continuation.ReasonSuppressed},
		"paused":                      {func(i *in) { i.State.Paused = continuation.Pause{Since: noon} }, continuation.ReasonPaused},
		"in the background":           {func(i *in) { i.Background = decision.Background{Unfinished: 1, Oldest: noon} }, continuation.ReasonBackground},
		"claimed":                     {func(i *in) { i.State.Claim = decision.Claim{Token: 1} }, continuation.ReasonActive},
		"attempts used up":            {func(i *in) { i.State.Attempts = continuation.DefaultLimits().MaxAttempts }, continuation.ReasonMaxAttempts},
		"too often in a user turn":    {func(i *in) { i.State.Continuations = continuation.DefaultLimits().MaxWithoutProgress }, continuation.ReasonWithoutProgress},
		"tokens used up":              {func(i *in) { i.State.Tokens = 1000 }, continuation.ReasonTokenBudget},
		"too soon":                    {func(i *in) { i.State.LastPrompt = noon.Add(-time.Nanosecond) }, continuation.ReasonTooSoon},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := mayAsk(t)
			c.change(&in)
			ev := decision.Judge(in)
			assert.Equal(t, c.want, ev.Reason)
			assert.Equal(t, c.want.Continues(), ev.Continue)
			if c.want == continuation.ReasonAsk {
				assert.True(t, ev.Asks)
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
		handback.Blank:     continuation.ReasonAsk,
		handback.Announces: continuation.ReasonAsk,
		handback.Asks:      continuation.ReasonAsk,
		handback.Unclear:   continuation.ReasonNoList,
		handback.Waits:     continuation.ReasonNoList,
	} {
		in := mayAsk(t)
		in.AskAlways, in.Turn.End = false, end
		assert.Equal(t, continuation.ReasonNoList, decision.Judge(in).Reason, "standard: %v", end)
		in.Settings.ApprovalMode = continuation.ApprovalYOLO
		assert.Equal(t, want, decision.Judge(in).Reason, "yolo: %v", end)
		in.State.Asked = true
		if want == continuation.ReasonAsk {
			want = continuation.ReasonAsked
		}
		assert.Equal(t, want, decision.Judge(in).Reason, "yolo, asked: %v", end)
		in.Turn.NothingOpen = true
		assert.Equal(t, continuation.ReasonNothingOpen, decision.Judge(in).Reason)
	}
}
