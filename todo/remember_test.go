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

	"github.com/carryon-go/carryon/todo"
)

// asking returns the ctx of a request of a session that offers the tools and has the
// calls in its history.
func asking(t *testing.T, session string, tools []string, calls ...todo.Call) context.Context {
	t.Helper()
	ctx := todo.WithConversation(in(t, session), slices.Values(calls))
	if tools != nil {
		ctx = todo.WithTools(ctx, slices.Values(tools))
	}
	return ctx
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
	assert.Equal(t, "earlier_request", origin.Place.Code())
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
