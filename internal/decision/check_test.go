package decision_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/handback"
	"github.com/carryon-go/carryon/internal/origins"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/todo"
)

// checked returns an input with a finished list and this result of the program's check.
func checked(tb testing.TB, result continuation.CheckResult) decision.Input {
	tb.Helper()
	in := satisfied(tb)
	in.Todos, in.Turn.End = []todo.Todo{completed("write")}, handback.Unclear
	in.State.Watermarks = decision.Watermarks{Set: true, Todos: 1, Completed: 1}
	in.Check, in.CheckDigest = result, 5
	return in
}

func TestJudgeCheck(t *testing.T) {
	t.Parallel()
	type in = decision.Input
	due, failed := continuation.CheckDue, continuation.CheckFailed
	yolo := func(i *in) { i.Settings.ApprovalMode = continuation.ApprovalYOLO }
	for name, c := range map[string]struct {
		result continuation.CheckResult
		change func(*in)
		want   continuation.Reason
	}{
		"none":                       {continuation.NoCheck, func(*in) {}, reasons.NoActiveTodos},
		"not asked yet":              {due, func(*in) {}, reasons.CheckDue},
		"passed":                     {continuation.CheckPassed, func(*in) {}, reasons.CheckPassed},
		"unknown":                    {continuation.CheckUnknown, func(*in) {}, reasons.CheckUnknown},
		"failed":                     {failed, func(*in) {}, reasons.CheckFailed},
		"failed, nobody is there":    {failed, yolo, reasons.CheckFailed},
		"work is left":               {due, func(i *in) { i.Todos, i.Turn.End = []todo.Todo{pending("write")}, handback.Announces }, reasons.Satisfied},
		"no list":                    {due, func(i *in) { i.TodosErr = todo.ErrNoList }, reasons.CheckDue},
		"an empty list":              {due, func(i *in) { i.Todos = nil }, reasons.CheckDue},
		"a list of unknown statuses": {due, func(i *in) { i.Todos = []todo.Todo{{ID: "1", Content: "write", Status: "odd"}} }, reasons.CheckDue},
		"the source fails":           {due, func(i *in) { i.TodosErr = errors.New("down") }, reasons.CheckDue},
		"an old list":                {failed, func(i *in) { i.Origin.Written = origins.Earlier }, reasons.CheckFailed},
		"a stale list":               {failed, func(i *in) { i.State.Stale = 7 }, reasons.CheckFailed},
		"the model is asked first":   {due, func(i *in) { i.TodosErr, i.MayAsk, i.AskAlways = todo.ErrNoList, true, true }, reasons.Ask},
		"and says nothing is open": {due, func(i *in) {
			i.TodosErr, i.MayAsk, i.AskAlways, i.State.ClosingQuestion, i.Turn.NothingOpen = todo.ErrNoList, true, true, true, true
		}, reasons.CheckDue},
		"the model asks the user": {due, func(i *in) { i.Turn.End = handback.Asks }, reasons.AsksUser},
		"it asks nobody":          {due, func(i *in) { yolo(i); i.Turn.End = handback.Asks }, reasons.CheckDue},
		"it waits":                {due, func(i *in) { yolo(i); i.Turn.End = handback.Waits }, reasons.Background},
		"in the background":       {due, func(i *in) { i.Background = decision.Background{Unfinished: 1, Oldest: noon} }, reasons.Background},
		"tools were called":       {due, func(i *in) { i.Turn.ToolCalls = true }, reasons.ToolCalls},
		"cut off":                 {due, func(i *in) { i.Turn.Finish = "length" }, reasons.NotEnded},
		"out of scope":            {due, func(i *in) { i.Scope = reasons.NoTools }, reasons.NoTools},
		"paused":                  {due, func(i *in) { i.State.Paused = continuation.Pause{Since: noon} }, reasons.Paused},
		"claimed":                 {due, func(i *in) { i.State.Claim = decision.Claim{Token: 1} }, reasons.Active},
		"no attempt is left":      {due, func(i *in) { i.State.Attempts = 4 }, reasons.MaxAttempts},
		"none after a failure":    {due, func(i *in) { i.State.Attempts, i.State.Check.Failed = 4, 1 }, reasons.CheckExhausted},
		"no tokens are left":      {due, func(i *in) { i.State.Tokens, i.State.Check.Failed = 1000, 1 }, reasons.CheckExhausted},
		"no progress":             {due, func(i *in) { i.State.Continuations, i.State.Check.Failed = 10, 1 }, reasons.CheckExhausted},
		"the same answer":         {due, func(i *in) { i.State.Repeats, i.State.Check.Failed = 2, 1 }, reasons.CheckExhausted},
		"the tenth failure":       {failed, func(i *in) { i.State.Check.Failed = 9 }, reasons.CheckFailed},
		"one more": {due, func(i *in) {
			i.Limits.MaxAttempts, i.Limits.MaxWithoutProgress, i.State.Check.Failed = continuation.Off, continuation.Off, 10
		}, reasons.CheckExhausted},
		"too soon":                {failed, func(i *in) { i.State.LastPrompt = noon.Add(-time.Nanosecond) }, reasons.TooSoon},
		"too soon, but asked now": {due, func(i *in) { i.State.LastPrompt = noon.Add(-time.Nanosecond) }, reasons.CheckDue},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := checked(t, c.result)
			c.change(&in)
			ev := decision.Judge(in)
			assert.Equal(t, c.want, ev.Reason)
			assert.Equal(t, c.want.Continues(), ev.Continue)
			assert.Equal(t, c.want.Exhausted(), ev.Limit > 0 || ev.LimitRule != "")
			if c.want == reasons.CheckFailed {
				assert.True(t, ev.Checks)
				assert.Zero(t, ev.Todo)
				assert.Equal(t, marks(decision.ConditionIntervalElapsed), ev.Conditions)
			}
		})
	}
}

// A failure that is another one than before is progress; the cap of failures holds all the same.
func TestJudgeAnotherFailureIsProgress(t *testing.T) {
	t.Parallel()
	in := checked(t, continuation.CheckFailed)
	in.State.Attempts, in.State.Continuations, in.State.Repeats = 4, 9, 2
	in.State.Check = decision.CheckState{Failed: 4, Last: 5}
	assert.Equal(t, reasons.CheckExhausted, decision.Judge(in).Reason, "the same failure")
	in.CheckDigest = 6
	ev := decision.Judge(in)
	assert.Equal(t, reasons.CheckFailed, ev.Reason)
	assert.Equal(t, 1, ev.Attempt)
	assert.Zero(t, ev.State.Attempts+ev.State.Continuations+ev.State.Repeats)
	in.State.Check.Failed = 10
	assert.Equal(t, reasons.CheckExhausted, decision.Judge(in).Reason)
}
