package todo_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/todo"
)

// notes reads the plan that a model writes as text with the tool note.
type notes struct{ newest todo.Call }

func (n *notes) Look(call todo.Call) (about, last bool) {
	if call.Name != "note" {
		return false, false
	}
	n.newest = call
	return true, true
}

func (n *notes) List(iter.Seq[todo.Call]) ([]todo.Todo, todo.Origin, error) {
	var list []todo.Todo
	for line := range strings.Lines(n.newest.Arguments) {
		list = append(list, todo.Todo{Content: line})
	}
	return list, todo.Origin{Tool: n.newest.Name}, nil
}

func ExampleReader() {
	todos := todo.FromConversation(todo.WithReader(func(iter.Seq[string]) todo.Reader { return new(notes) }, "note"))
	ctx := todo.WithConversation(context.Background(), slices.Values([]todo.Call{
		{Name: "note", Arguments: "Write the parser\nTest it"},
	}))
	fmt.Println(todos.Todos(ctx))
	// Output:
	// [{1 Write the parser pending   } {2 Test it pending   }] <nil>
}

// scripted is a Reader of the calls of tools that begin with "p". Those of "plan" have the
// list, and those of "peek" come before it.
type scripted struct {
	list  string
	older []string
	err   error
	why   string
}

func (s *scripted) Look(call todo.Call) (about, last bool) {
	if call.Name == "plan" {
		s.list = call.Arguments
	}
	return strings.HasPrefix(call.Name, "p"), call.Name == "plan"
}

func (s *scripted) List(older iter.Seq[todo.Call]) ([]todo.Todo, todo.Origin, error) {
	for call := range older {
		s.older = append(s.older, call.Name)
	}
	origin := todo.Origin{Place: "tool_call", Tool: "plan", Unconfirmed: s.why}
	if s.list == "" && s.err == nil {
		return nil, origin, todo.ErrNoList
	}
	return []todo.Todo{{Content: s.list}}, origin, s.err
}

func TestReaders(t *testing.T) {
	t.Parallel()
	other, peek, plan := todo.Call{Name: "ls"}, todo.Call{Name: "peek"}, todo.Call{Name: "plan", Arguments: "read"}
	broken := errors.New("it is broken")
	for name, c := range map[string]struct {
		reader scripted
		calls  []todo.Call
		want   string // the content of the list, or the error
		tool   string
		older  []string
	}{
		"the newest list":          {scripted{}, []todo.Call{other, plan, write("old")}, "read", "plan", []string{"todo_write"}},
		"a newer list":             {scripted{}, []todo.Call{write("new"), plan}, "new", "todo_write", nil},
		"no list":                  {scripted{}, []todo.Call{peek, write("old"), other}, "old", "todo_write", []string{"ls"}},
		"no call":                  {scripted{err: broken}, []todo.Call{other, write("old")}, "old", "todo_write", nil},
		"an older list in error":   {scripted{err: broken}, []todo.Call{peek, write("old")}, "old", "todo_write", nil},
		"no older list in error":   {scripted{err: broken}, []todo.Call{plan, write("old")}, "todo: the list of plan could not be read: it is broken", "", []string{"todo_write"}},
		"no list at all":           {scripted{}, []todo.Call{peek, other}, "todo: no list: none of the tools called is known to write one: ls", "", nil},
		"an older one that counts": {scripted{why: "it did not end"}, []todo.Call{peek, write("old")}, "old", "todo_write", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reader := c.reader
			source := locator(todo.FromConversation(todo.WithReader(func(iter.Seq[string]) todo.Reader { return &reader })))
			list, origin, err := source.Locate(todo.WithConversation(t.Context(), slices.Values(c.calls)))
			assert.Equal(t, c.older, reader.older)
			assert.Equal(t, c.tool, origin.Tool)
			if c.tool == "" {
				require.EqualError(t, err, c.want)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, only(c.want), list)
			assert.Equal(t, c.reader.why, origin.Unconfirmed)
		})
	}
}

// A call that does not count does not lose the list of an earlier request.
func TestReaderWhoseCallDoesNotCount(t *testing.T) {
	t.Parallel()
	reader := scripted{err: errors.New("it did not end"), why: "it did not end"}
	source := locator(todo.FromConversation(todo.WithReader(func(iter.Seq[string]) todo.Reader { return &reader })))
	in := func(calls ...todo.Call) context.Context {
		return todo.WithConversation(continuation.WithSession(t.Context(), "s"), slices.Values(calls))
	}
	_, _, err := source.Locate(in(write("old")))
	require.NoError(t, err)
	list, origin, err := source.Locate(in(todo.Call{Name: "peek"}))
	require.NoError(t, err)
	assert.Equal(t, only("old"), list)
	assert.Equal(t, todo.Origin{Place: "earlier_request", Tool: "todo_write", Written: "earlier", Unconfirmed: "it did not end"}, origin)
	reader.why = ""
	_, _, err = source.Locate(in(todo.Call{Name: "peek"}))
	require.ErrorIs(t, err, todo.ErrUnreadable)
}

// The names of a reader's tools say which requests can have its list.
func TestToolsOfAReader(t *testing.T) {
	t.Parallel()
	source, ok := todo.FromConversation(todo.WithReader(func(iter.Seq[string]) todo.Reader { return new(notes) }, "sql", " ")).(interface {
		WritesList(tool string) bool
		DoneTool(origin todo.Origin, offered iter.Seq[string]) string
	})
	require.True(t, ok)
	assert.True(t, source.WritesList("mcp__db__SQL"))
	assert.False(t, source.WritesList("session_store_sql"))
	assert.Equal(t, "sql", source.DoneTool(todo.Origin{Tool: "sql"}, slices.Values([]string{"sql", "shell"})))
	assert.PanicsWithValue(t, "carryon/todo: WithReader: nil function", func() { todo.WithReader(nil) })
}

// Of several calls that do not count, the newest is named.
func TestReadersThatBothDoubt(t *testing.T) {
	t.Parallel()
	newer, older := scripted{why: "it runs"}, scripted{why: "it failed"}
	option := func(r *scripted) todo.ConversationOption {
		return todo.WithReader(func(iter.Seq[string]) todo.Reader { return ofTool{r, r.why} })
	}
	source := locator(todo.FromConversation(option(&older), option(&newer)))
	_, origin, err := source.Locate(todo.WithConversation(t.Context(), slices.Values([]todo.Call{{Name: "it runs"}, {Name: "it failed"}, write("old")})))
	require.NoError(t, err)
	assert.Equal(t, "it runs", origin.Unconfirmed)
}

// ofTool is a Reader of the calls of one tool.
type ofTool struct {
	todo.Reader
	tool string
}

func (o ofTool) Look(call todo.Call) (about, last bool) { return call.Name == o.tool, false }
