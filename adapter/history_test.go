package adapter_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/adapter"
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
			w.User(report+" Fix it.", slices.Values([]string{"Fix it.", report, " "})) && w.Call(todo.Call{})
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
	assert.Len(t, slices.Collect(adapter.Calls(history)), 4)
	for n := range all { // the walk ends when the reader has enough
		var got []adapter.Entry
		for e := range history {
			if got = append(got, e); len(got) == n+1 {
				break
			}
		}
		assert.Equal(t, all[:n+1], got)
	}
	for call := range adapter.Calls(history) {
		assert.Equal(t, "3", call.ID)
		break
	}
	assert.Nil(t, adapter.Calls(nil))
}
