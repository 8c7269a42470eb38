package todo_test

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/origins"
	"github.com/carryon-go/carryon/internal/scope"
	"github.com/carryon-go/carryon/todo"
)

// asking returns the ctx of a request of a session that offers the tools and has the
// calls in its history.
func asking(t *testing.T, session string, tools []string, calls ...todo.Call) context.Context {
	t.Helper()
	ctx := todo.WithConversation(in(t, session), slices.Values(calls))
	if tools != nil {
		ctx = scope.WithTools(ctx, slices.Values(tools))
	}
	return ctx
}

// An agent summarizes a long history, and goes on to change its list item by item.
func TestListOfAHistoryThatWasCutIsChanged(t *testing.T) {
	t.Parallel()
	tools := []string{"edit", "TaskCreate", "TaskUpdate"}
	create := func(id, subject string) todo.Call {
		return called("TaskCreate", `{"subject":"`+subject+`"}`, "Task #"+id+" created successfully: "+subject)
	}
	update := func(id, status string) todo.Call {
		return called("TaskUpdate", `{"taskId":"`+id+`","status":"`+status+`"}`, "Updated task #"+id+" status")
	}
	task := func(id, subject string, status todo.Status) todo.Todo {
		return todo.Todo{ID: id, Content: subject, Status: status}
	}
	history := []todo.Call{update("1", "completed"), create("2", "b"), create("1", "a")} // newest first
	for name, test := range map[string]struct {
		calls []todo.Call
		want  []todo.Todo
	}{
		"changes": {
			[]todo.Call{update("2", "in_progress")},
			[]todo.Todo{task("1", "a", todo.Completed), task("2", "b", todo.InProgress)},
		},
		"the last change": {
			[]todo.Call{update("2", "completed")},
			[]todo.Todo{task("1", "a", todo.Completed), task("2", "b", todo.Completed)},
		},
		"changes and additions": {
			[]todo.Call{create("3", "c"), update("2", "completed")},
			[]todo.Todo{task("1", "a", todo.Completed), task("2", "b", todo.Completed), task("3", "c", todo.Pending)},
		},
		"changes that the list has already": {
			[]todo.Call{update("2", "in_progress"), update("1", "completed"), create("2", "b")},
			[]todo.Todo{task("1", "a", todo.Completed), task("2", "b", todo.InProgress)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			provider := locator(todo.FromConversation())
			_, _, err := provider.Locate(asking(t, "a", tools, history...))
			require.NoError(t, err)
			for range 2 { // the second request sends the same history again
				list, origin, err := provider.Locate(asking(t, "a", tools, test.calls...))
				require.NoError(t, err)
				assert.Equal(t, test.want, list)
				assert.Equal(t, origins.EarlierRequest, origin.Place)
			}
		})
	}

	provider := locator(todo.FromConversation())
	_, _, err := provider.Locate(asking(t, "a", tools, history...))
	require.NoError(t, err)
	for name, calls := range map[string][]todo.Call{
		"a todo that the list lacks": {update("7", "in_progress"), update("2", "completed")},
		"a todo without an id":       {called("TaskCreate", `{"subject":"x"}`, "created"), update("2", "in_progress")},
	} {
		_, _, err := provider.Locate(asking(t, "a", tools, calls...))
		require.ErrorIs(t, err, todo.ErrUnreadable, name)
	}
	list, _, err := provider.Locate(asking(t, "a", tools, create("1", "new")))
	require.NoError(t, err)
	assert.Equal(t, only("new"), list, "a conversation that begins again has a new list")
}

// An agent summarizes a long history, and the list is gone.
func TestListOfAHistoryThatWasCutIsRemembered(t *testing.T) {
	t.Parallel()
	tools := []string{"edit", "todo_write"}
	provider := locator(todo.FromConversation())
	list, _, err := provider.Locate(asking(t, "a", tools, write("new"), write("old")))
	require.NoError(t, err)
	list[0].Content = "changed by the caller"

	search := todo.Call{Name: "search"}
	list, origin, err := provider.Locate(asking(t, "a", tools, search))
	require.NoError(t, err)
	assert.Equal(t, only("new"), list)
	assert.Equal(t, "an earlier request of the session, todo_write", origin.String())
	assert.Equal(t, "earlier_request", origin.Place)
	list[0].Content = "changed again"
	list, _, err = provider.Locate(asking(t, "a", tools))
	require.NoError(t, err)
	assert.Equal(t, only("new"), list)

	for name, ctx := range map[string]context.Context{
		"another session":              asking(t, "b", tools, search),
		"no session":                   asking(t, "", tools, search),
		"another agent of the session": asking(t, "a", []string{"search", "todo_write"}, search),
		"tools that are not known":     asking(t, "a", nil, search),
	} {
		_, _, err := provider.Locate(ctx)
		require.ErrorIs(t, err, todo.ErrNoList, name)
	}
	_, _, err = provider.Locate(asking(t, "a", tools, failed("x", "Error: no")))
	require.ErrorIs(t, err, todo.ErrUnreadable, "the remembered list does not replace an unreadable one")
}

func TestEmptyListIsRememberedToo(t *testing.T) {
	t.Parallel()
	provider := todo.FromConversation()
	for _, call := range []todo.Call{write("a"), {Name: "todo_write", Arguments: `{"todos":[]}`}} {
		_, err := provider.Todos(asking(t, "a", nil, call))
		require.NoError(t, err)
	}
	list, err := provider.Todos(asking(t, "a", nil))
	require.NoError(t, err)
	assert.Empty(t, list)
}

func TestListWithoutASessionIsNotRemembered(t *testing.T) {
	t.Parallel()
	provider := todo.FromConversation()
	_, err := provider.Todos(asking(t, "", nil, write("a")))
	require.NoError(t, err)
	_, err = provider.Todos(asking(t, "", nil))
	require.ErrorIs(t, err, todo.ErrNoList)
}

// The remembered lists are bounded in sessions and in bytes: the newest stay.
func TestWhatIsRememberedIsBounded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		content  string
		sessions int
		oldest   int // that is still remembered
	}{
		"sessions": {"x", 10_100, 100},
		"bytes":    {strings.Repeat("x", 200<<10), 100, 19},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			provider := todo.FromConversation()
			for i := range c.sessions {
				_, err := provider.Todos(asking(t, strconv.Itoa(i), nil, write(c.content)))
				require.NoError(t, err)
			}
			remembers := func(i int) bool {
				_, err := provider.Todos(asking(t, strconv.Itoa(i), nil))
				return err == nil
			}
			assert.False(t, remembers(c.oldest-1))
			assert.True(t, remembers(c.oldest))
			assert.True(t, remembers(c.sessions-1))
		})
	}
}

func TestRememberingUnderConcurrency(t *testing.T) {
	t.Parallel()
	provider := todo.FromConversation()
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for range 200 {
				session := strconv.Itoa(i % 3)
				if _, err := provider.Todos(asking(t, session, nil, write(session))); err != nil {
					t.Error(err)
				}
				list, err := provider.Todos(asking(t, session, nil))
				if err != nil || list[0].Content != session {
					t.Error(list, err)
				}
			}
		})
	}
	group.Wait()
}
