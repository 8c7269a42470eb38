package middleware

import (
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/todo"
)

func TestReportsArePromisedInTheWordsOfAgents(t *testing.T) {
	t.Parallel()
	for result, want := range map[string]bool{
		"": false, "Saved.": false, "Command running in background with ID: bash_1": false,
		"Command running in background with ID: b6u5. Output is being written to: /tmp/b6u5.output. You will be notified when it completes.": true,
		"Async agent launched successfully.\nagentId: a300 (internal ID)\noutput_file: /tmp/a300.output":                                     true,
		"The agent is working in the background. You will be notified automatically when it completes.":                                      true,
		"Workflow launched in background. Task ID: w8. You'll be notified when it finishes.":                                                 true,
		"Agent launched successfully. Its result arrives as a `<task-notification>` in a later turn.":                                        true,
		"Background task launched.\n\nTask ID: bg_1\n\nSystem notifies on completion. Use `background_output` to check.":                     true,
		"You will be notified when it completes." + strings.Repeat(" and so on", maxNotice/10):                                               false,
	} {
		assert.Equal(t, want, promisesReport(result), "%q", result)
	}
}

// historyOf returns a history of the calls, newest first.
func historyOf(calls ...todo.Call) iter.Seq[adapter.Entry] {
	return func(yield func(adapter.Entry) bool) {
		for _, c := range calls {
			if !yield(adapter.Entry{Call: c}) {
				return
			}
		}
	}
}

func TestOnlyCallsOfTheUserTurnAreAwaited(t *testing.T) {
	t.Parallel()
	begun := todo.Call{Name: "Bash", Result: "You will be notified when it completes.", Answered: true}
	other := todo.Call{Name: "edit_file", Result: "Saved.", Answered: true}
	earlier := begun
	earlier.UserMessagesAfter = 1
	for name, c := range map[string]struct {
		calls []todo.Call
		want  bool
	}{
		"none":                      {nil, false},
		"the newest":                {[]todo.Call{begun}, true},
		"one before others":         {[]todo.Call{other, other, begun}, true},
		"before the user's message": {[]todo.Call{other, earlier}, false},
		"too many since":            {append(slices.Repeat([]todo.Call{other}, maxAwaited), begun), false},
		"just in time":              {append(slices.Repeat([]todo.Call{other}, maxAwaited-1), begun), true},
	} {
		assert.Equal(t, c.want, awaitsReport(historyOf(c.calls...)), name)
	}
	assert.False(t, awaitsReport(nil), "no history")
}
