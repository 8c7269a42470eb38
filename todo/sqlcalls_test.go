package todo_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/todo"
)

// sql is a call of Copilot CLI's tool.
func sql(t *testing.T, query, result string) todo.Call {
	t.Helper()
	arguments, err := json.Marshal(map[string]string{"description": "Keep the list", "query": query})
	require.NoError(t, err)
	return called("sql", string(arguments), result)
}

// sqlHistory is the calls of a list in SQL, newest first: "a" is done, and "b" is still
// to do.
func sqlHistory(t *testing.T) []todo.Call {
	t.Helper()
	return []todo.Call{
		called("bash", `{"command":"ls"}`, "a.txt"),
		sql(t, "UPDATE todos SET status = 'done' WHERE id = 'first'", "1 row(s) updated."),
		sql(t, "SELECT 1", "1 row(s) returned:\n\n| 1 |\n| --- |\n| 1 |"),
		sql(t, "UPDATE todos SET status = 'doing'", "SQL Error: Error: CHECK constraint failed: status"),
		sql(t, "DELETE FROM todos", "The user rejected this tool call."),
		called("sql", `{"query":["DELETE FROM todos"]}`, "Error: query must be a string"),
		sql(t, "INSERT INTO todos (id, title) VALUES ('first', 'a'), ('second', 'b')", "2 row(s) inserted. Last inserted row ID: 2."),
	}
}

func TestListInSQL(t *testing.T) {
	t.Parallel()
	got, origin, err := locate(sqlHistory(t))
	require.NoError(t, err)
	assert.Equal(t, []todo.Todo{
		{ID: "first", Content: "a", Status: todo.Completed},
		{ID: "second", Content: "b", Status: todo.Pending},
	}, got)
	assert.Equal(t, todo.Origin{Place: todo.FromSeveralCalls, Tool: "sql", Written: todo.WrittenNow}, origin)
	assert.True(t, writesList(t, "sql"))
	assert.False(t, writesList(t, "session_store_sql"))
}

// writesList asks FromConversation about a tool.
func writesList(t *testing.T, tool string) bool {
	t.Helper()
	source, ok := todo.FromConversation().(interface{ WritesList(tool string) bool })
	require.True(t, ok)
	return source.WritesList(tool)
}

func TestListInSQLThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for want, newest := range map[string]todo.Call{
		"one of its SQL statements is of a kind that carryon does not read": sql(t, "UPDATE todos SET status = lower('DONE')", "2 row(s) updated."),
		"content is blank": sql(t, "UPDATE todos SET title = '' WHERE id = 'first'", "1 row(s) updated."),
	} {
		got, _, err := locate(append([]todo.Call{newest}, sqlHistory(t)...))
		require.ErrorContains(t, err, "the list of sql could not be read: ")
		require.ErrorContains(t, err, want)
		require.ErrorIs(t, err, todo.ErrUnreadable)
		assert.Empty(t, got)
	}
	cut := sqlHistory(t)
	_, _, err := locate(cut[:len(cut)-1])
	require.EqualError(t, err, "todo: the list of sql could not be read: it has rows that the conversation does not hold")

	large := sql(t, "SELECT * FROM todos", strings.Repeat("x", 257<<10))
	_, _, err = locate(append([]todo.Call{cut[1], large}, cut...))
	require.ErrorContains(t, err, "the conversation does not hold", "the search ends at the large result")
}

// A program may have tables of this name, and a todo tool besides.
func TestListInSQLAndAnotherOne(t *testing.T) {
	t.Parallel()
	other := sql(t, "UPDATE todos SET done = 1", "ok")
	for name, test := range map[string]struct {
		calls []todo.Call
		tool  string
	}{
		"a newer one":                        {append([]todo.Call{write("x")}, sqlHistory(t)...), "todo_write"},
		"newer changes":                      {append([]todo.Call{called("TaskCreate", `{"subject":"x"}`, "Task #1 created")}, sqlHistory(t)...), "TaskCreate"},
		"an older one":                       {append(sqlHistory(t), write("x")), "sql"},
		"an older one, and SQL of no list":   {[]todo.Call{other, write("x")}, "todo_write"},
		"an older one, and other statements": {[]todo.Call{sql(t, "SELECT 1", "1"), write("x")}, "todo_write"},
	} {
		list, origin, err := locate(test.calls)
		require.NoError(t, err, name)
		assert.Equal(t, test.tool, origin.Tool, name)
		assert.Equal(t, test.tool != "sql", list[0].Content == "x", name)
	}
	_, _, err := locate([]todo.Call{sql(t, "SELECT 1", "1")})
	require.ErrorIs(t, err, todo.ErrNoList, "other statements are no list")
}
