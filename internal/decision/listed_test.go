package decision_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/origins"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/measure"
	"github.com/carryon-go/carryon/todo"
)

// Each list with its counts, its reason, and the text for people.
func TestJudgeReportsTheList(t *testing.T) {
	t.Parallel()
	with := func(statuses ...todo.Status) []todo.Todo {
		var list []todo.Todo
		for _, status := range statuses {
			list = append(list, todo.Todo{Content: "x", Status: status})
		}
		return list
	}
	for name, c := range map[string]struct {
		todos  []todo.Todo
		err    error
		reason continuation.Reason
		text   string
	}{
		"active":         {with("pending", "done", "skipped"), nil, reasons.Satisfied, "3 todos, 1 active, 1 completed, 1 cancelled"},
		"one":            {with("wip"), nil, reasons.Satisfied, "1 todo, 1 active"},
		"done":           {with("done", "completed"), nil, reasons.NoActiveTodos, "all 2 are done"},
		"one done":       {with("done"), nil, reasons.NoActiveTodos, "1 todo, none active, 1 completed"},
		"some cancelled": {with("done", "skipped"), nil, reasons.NoActiveTodos, "2 todos, none active, 1 completed, 1 cancelled"},
		"unknown": {
			with("done", "Later ", "sometime"), nil, reasons.UnknownStatus,
			`3 todos, none active, 1 completed, 2 of unknown status "Later"`,
		},
		"empty":   {nil, nil, reasons.EmptyList, "no todos"},
		"no list": {nil, &todo.NoListError{}, reasons.NoList, "no list: nothing was written so far"},
		"a lookalike": {
			nil, &todo.NoListError{Called: []string{"note_work"}, Lookalikes: []string{"note_work"}}, reasons.NoList,
			"no list: note_work looks like a todo tool and is not known: name it with todo.WithToolNames",
		},
		"unreadable": {
			nil, &todo.UnreadableError{Tool: "todo_write", Err: &todo.ArgumentsError{Item: 1, Problem: "content is missing or blank", Remedy: "send one"}},
			reasons.ListUnreadable, "the list of todo_write could not be read: item 1: content is missing or blank",
		},
		"no session": {
			nil, todo.ErrNoSession, reasons.NoSession, "no session: name the conversation with continuation.WithSession, " +
				"or say todo.NewMemory(todo.WithOneConversation())",
		},
		"late":              {nil, fmt.Errorf("database: %w", context.DeadlineExceeded), reasons.SourceLate, "database: context deadline exceeded"},
		"failed":            {nil, errors.New("no such table"), reasons.SourceFailed, "no such table"},
		"failed with todos": {with("pending"), errors.New("half of it"), reasons.SourceFailed, "half of it"},
	} {
		in := satisfied(t)
		in.Todos, in.TodosErr, in.Origin = c.todos, c.err, todo.Origin{Place: origins.Memory}
		ev := decision.Judge(in)
		assert.Equal(t, c.reason, ev.Reason, name)
		assert.Equal(t, c.text, ev.List.String(), name)
		assert.Equal(t, c.err, ev.List.Err, name)
		assert.Equal(t, in.Origin, ev.List.Origin, name)
		if c.err != nil {
			assert.Equal(t, in.State, ev.State, "%s: what was not read is no progress", name)
		}
	}
}

func TestListIsNotLookedAtBeforeItIsNeeded(t *testing.T) {
	t.Parallel()
	in := satisfied(t)
	in.Turn.ToolCalls = true
	assert.Zero(t, decision.Judge(in).List)
}

func TestCountsCostNothing(t *testing.T) {
	in := satisfied(t)
	in.Todos = []todo.Todo{{Content: "a", Status: todo.Completed}, {Content: "b", Status: todo.Cancelled}}
	assert.Zero(t, measure.Allocations(func() {
		if ev := decision.Judge(in); ev.List.Completed != 1 {
			t.Fatal(ev)
		}
	}))
}
