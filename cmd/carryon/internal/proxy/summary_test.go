package proxy

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

func TestSummaryIsALine(t *testing.T) {
	t.Parallel()
	list := continuation.List{Todos: 3, Active: 1, Completed: 2}
	for want, s := range map[string]Summary{
		"0 requests, 0 continuations, no call of a model seen":                           {},
		"1 request, 0 continuations, no call of a model seen, 1 WebSocket passed unread": {Requests: 1, WebSockets: 1},
		"3 requests, 0 continuations, no todo list seen, 2 encoded bodies passed unread": {Requests: 3, Calls: 1, Encoded: 2},
		"1 request, 0 continuations, no todo list seen":                                  {Requests: 1, Calls: 1},
		"1 request, 1 continuation, 2 of 3 todos done, 7 tokens added":                   {Requests: 1, Turns: 1, Tokens: 7, List: list},
		"2 requests, 1 continuation, paused by the model with 2 of 3 todos done":         {Requests: 2, Turns: 1, Paused: true, List: list},
		"2 requests, 0 continuations, the list of sql could not be read: it is strange":  {Requests: 2, Calls: 2, Problem: &todo.UnreadableError{Tool: "sql", Err: errors.New("it is strange")}},
		"2 requests, 0 continuations, no todo list seen (if plan_todos writes one: -todo-tools plan_todos,todo_add)": {
			Requests: 2, Calls: 2, Problem: &todo.NoListError{Lookalikes: []string{"plan_todos", "todo_add"}},
		},
		"2 requests, 0 continuations, the todo list is empty": {Requests: 2, Calls: 2, Empty: true},
		"1 request, 0 continuations, no todo list seen (-todo-tools names more tools that write one)": {
			Requests: 1, Calls: 1, Problem: &todo.NoListError{Lookalikes: []string{"plan_todos", "todo;rm -rf ~"}},
		},
	} {
		assert.Equal(t, want, s.String())
	}
}

// Nothing that a client sends becomes a command.
func TestSummaryQuotesNoName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"$(todo)", "todo`id`", "-todo", "todo list", "todo,x", "todo'", "todo\x1b[2J", "t\u202eodo", "", strings.Repeat("todo", 1000)} {
		s := Summary{Requests: 1, Calls: 1, Problem: &todo.NoListError{Lookalikes: []string{name}}}
		assert.Equal(t, "1 request, 0 continuations, no todo list seen (-todo-tools names more tools that write one)", s.String())
		s = Summary{Problem: &todo.UnreadableError{Tool: name, Err: errors.New("it is strange")}}
		assert.Less(t, len(s.String()), 1000)
	}
}

// A call that was continued and then called a tool has shown the list, which is
// all that an agent may show before it is stopped.
func TestSummaryKnowsTheListOfACallThatEndedInAToolCall(t *testing.T) {
	t.Parallel()
	var seen lastList
	seen.take(&middleware.Outcome{Reason: continuation.ReasonToolCalls})
	assert.Equal(t, lastList{}, seen, "the list was not looked at")
	list := continuation.List{Todos: 3, Active: 1, Completed: 2}
	seen.take(&middleware.Outcome{Reason: continuation.ReasonToolCalls, Turns: 2, List: list})
	assert.Equal(t, lastList{list: list, calls: true}, seen)
}
