package adapter_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/reading"
	"github.com/carryon-go/carryon/internal/testkit/measure"
	"github.com/carryon-go/carryon/todo"
)

func TestHistoryWalkTellsTheUsersMessagesFromTheAgents(t *testing.T) {
	t.Parallel()
	const today, report = "<system-reminder>Today is Sunday.</system-reminder>", "<task-notification>1 is done</task-notification>"
	history := func(yield func(adapter.Entry) bool) {
		w := adapter.HistoryWalk{Yield: yield}
		_ = w.Text(today) && w.Text("Not the agent's.") && w.Call(todo.Call{ID: "3"}) &&
			w.User("Go on.", nil) && w.Call(todo.Call{ID: "2"}) &&
			w.User(report, slices.Values([]string{report})) && w.Call(todo.Call{ID: "1"}) &&
			w.User(report+"\x00Fix it.", slices.Values([]string{"Fix it.", report, " "})) && w.Call(todo.Call{})
	}
	all := []adapter.Entry{
		{Automatic: today},
		{Call: todo.Call{ID: "3"}},
		{FromUser: true},
		{Call: todo.Call{ID: "2", UserMessagesAfter: 1}},
		{Automatic: report},
		{Call: todo.Call{ID: "1", UserMessagesAfter: 1}},
		{Automatic: report}, // a part of the user's message
		{FromUser: true},
		{Call: todo.Call{UserMessagesAfter: 2}},
	}
	assert.Equal(t, all, slices.Collect(history))
	assert.Len(t, slices.Collect(reading.CallsOf(history)), 4)
	for n := range all { // the walk ends when the reader has enough
		var got []adapter.Entry
		for e := range history {
			got = append(got, e)
			if len(got) == n+1 {
				break
			}
		}
		assert.Equal(t, all[:n+1], got)
	}
	for call := range reading.CallsOf(history) {
		assert.Equal(t, "3", call.ID)
		break
	}
	assert.Nil(t, reading.CallsOf(nil))
}

func TestIsAutomatic(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"": false, "Go on.": false, "<b>Go on.</b>": false, "<system-reminder>": false, "<system-reminders></system-reminders>": false,
		"<system-reminder>\nToday is Sunday.\n</system-reminder>":                                       true,
		" \n<task-notification>\n<task-id>7</task-id> is done\n</task-notification>\n":                  true,
		"<system-reminder>a</system-reminder>\x00<task-notification id=\"7\">b</task-notification>\x00": true,
		"<current-task-list count=\"1\">\n [pending] a\n</current-task-list>":                           true,
		"<task-list-update changes=\"1\">\n [completed] a\n</task-list-update>":                         true,
		"<system-reminder>a</system-reminder>\x00Go on.":                                                false,
		"<system-reminder>a</system-reminder> Go on.":                                                   true,
		"Go on. <system-reminder>a</system-reminder>":                                                   false,
		"<system-reminder>a</system-reminder><user>Go on.</user>":                                       true,
		"<codex_internal_context source=\"goal\">\nGo on.\n</codex_internal_context>":                   true,
		"<codex_internal_context source=\"other\">Go on.</codex_internal_context>":                      true,
		"<environment_context>\n<cwd>/w</cwd>\n</environment_context>":                                  true,
		"<teammate-message teammate_id=\"ada\" summary=\"a > b\">Go on.</teammate-message>":             true,
	} {
		assert.Equal(t, want, adapter.IsAutomatic(text), "%q", text)
	}
}

// A text whose elements are never closed is read once per element name.
func BenchmarkIsAutomaticIsLinear(b *testing.B) {
	read := func(n int) func() {
		text := strings.Repeat("<system-reminder></system-reminder>", n) + "<system-reminder>"
		return func() { assert.False(b, adapter.IsAutomatic(text)) }
	}
	measure.Linear(b, "open elements", read(1<<13), read(measure.Longer<<13))
}

func TestResultsAreTakenOnceAndNewestFirst(t *testing.T) {
	t.Parallel()
	var r adapter.ToolResults[string]
	r.Add("", "newest without an id")
	r.Add("a", "of a, again")
	r.Add("", "older without an id")
	r.Add("a", "of a, once")
	r.Add("a", "of a")

	for i, want := range []struct{ id, result string }{
		{"a", "of a, again"}, {"", "newest without an id"}, {"a", "of a, once"}, {"a", "of a"}, {"", "older without an id"}, {"a", "of a, at first"},
	} {
		if i == 1 {
			r.Add("a", "of a, at first")
		}
		got, ok := r.Take(want.id)
		assert.True(t, ok)
		assert.Equal(t, want.result, got)
	}
	for _, id := range []string{"a", "", "b"} {
		got, ok := r.Take(id)
		assert.False(t, ok)
		assert.Empty(t, got)
	}
}

func TestAdditions(t *testing.T) {
	t.Parallel()
	var a adapter.Additions
	assert.True(t, a.IsZero())
	assert.False(t, (&adapter.Additions{PauseTool: new(adapter.PauseTool)}).IsZero())
	for i := range 20 {
		a.Attachments = append(a.Attachments, adapter.Attachment{Message: 10 - i})
	}
	var order []int
	for message := range a.ByMessage() {
		order = append(order, message)
	}
	assert.True(t, slices.IsSorted(order), order)
}
