package agentlists_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/agentlists"
	"github.com/carryon-go/carryon/internal/origins"
	"github.com/carryon-go/carryon/internal/scope"
	"github.com/carryon-go/carryon/todo"
)

func called(name, arguments, result string) todo.Call {
	return todo.Call{Name: name, Arguments: arguments, Result: result, Answered: true}
}

func quoted(text string) string {
	out, _ := json.Marshal(text)
	return string(out)
}

// write is a call that wrote a list with one pending todo.
func write(content string) todo.Call {
	return called("todo_write", `{"todos":[{"id":"1","content":`+quoted(content)+`,"status":"pending"}]}`, "ok")
}

// only is the list that write wrote.
func only(content string) []todo.Todo {
	return []todo.Todo{{ID: "1", Content: content, Status: todo.Pending}}
}

func locator(source todo.Provider) todo.Locator {
	l, _ := source.(todo.Locator)
	return l
}

func locate(calls []todo.Call, opts ...todo.ConversationOption) ([]todo.Todo, todo.Origin, error) {
	ctx := todo.WithConversation(context.Background(), slices.Values(calls))
	return locator(todo.FromConversation(append(agentlists.Readers(), opts...)...)).Locate(ctx)
}

// writesList asks FromConversation about a tool.
func writesList(t *testing.T, tool string) bool {
	t.Helper()
	source, ok := todo.FromConversation(agentlists.Readers()...).(interface{ WritesList(tool string) bool })
	require.True(t, ok)
	return source.WritesList(tool)
}

// Results of Codex's exec and wait.
const (
	completed = "Script completed\nWall time 0.1 seconds\nOutput:\n\n{}"
	broken    = "Script failed\nWall time 0.0 seconds\nOutput:\n\nScript error:\nx is not defined"
	runs      = "Script running with cell ID 3\nWall time 10.0 seconds\nOutput:\n"
)

// script is a call of exec whose script writes a list with one pending todo.
func script(content, result string) todo.Call {
	return called("exec", "text(await tools.update_plan({plan: [{step: "+quoted(content)+", status: 'pending'}]}))", result)
}

func wait(cell, result string) todo.Call {
	return called("wait", `{"cell_id":"`+cell+`","yield_time_ms":1000}`, result)
}

func TestListInScripts(t *testing.T) {
	t.Parallel()
	shell := called("exec", "text(await tools.exec_command({cmd: 'ls'}))", completed)
	fromCall := todo.Origin{Place: origins.ToolCall, Tool: "update_plan", Written: origins.Now}
	unconfirmed := func(why string) todo.Origin {
		return todo.Origin{Place: origins.ToolCall, Tool: "update_plan", Unconfirmed: why, Written: origins.Now}
	}
	for name, test := range map[string]struct {
		calls  []todo.Call
		want   string
		origin todo.Origin
	}{
		"the newest": {[]todo.Call{shell, script("new", completed), script("old", completed)}, "new", fromCall},
		"failed":     {[]todo.Call{script("new", broken), script("old", completed)}, "old", unconfirmed("its script failed")},
		"computed and failed": {
			[]todo.Call{called("exec", "await tools.update_plan({plan: f()})", broken), script("old", completed)},
			"old", unconfirmed("its script failed"),
		},
		"aborted":             {[]todo.Call{script("new", "aborted by user"), script("old", completed)}, "old", unconfirmed("the result of its script does not say whether it ran")},
		"running":             {[]todo.Call{script("new", runs), script("old", completed)}, "old", unconfirmed("its script has not ended")},
		"waited for":          {[]todo.Call{wait("3", completed), wait("3", runs), script("new", runs), script("old", completed)}, "new", fromCall},
		"waited for in vain":  {[]todo.Call{wait("3", broken), script("new", runs), script("old", completed)}, "old", unconfirmed("its script failed")},
		"waited for too long": {[]todo.Call{wait("3", broken), wait("3", completed), script("new", runs), script("old", completed)}, "new", fromCall},
		"another is waited for": {
			[]todo.Call{wait("4", completed), script("new", runs), script("old", completed)},
			"old", unconfirmed("its script has not ended"),
		},
		"the same cell again": {
			[]todo.Call{wait("3", broken), script("newest", runs), wait("3", completed), script("new", runs), script("old", completed)},
			"new", unconfirmed("its script failed"),
		},
		"another one ran at the same time": {
			[]todo.Call{wait("3", completed), script("new", completed), called("exec", "await tools.exec_command({cmd: 'make'})", runs), script("old", completed)},
			"new", fromCall,
		},
		"the older one had ended": {[]todo.Call{script("new", completed), wait("3", completed), script("old", runs)}, "new", fromCall},
		"a function of the same kind is newer": {
			[]todo.Call{called("update_plan", `{"plan":[{"step":"new","status":"pending"}]}`, "Plan updated"), script("old", completed)},
			"new", fromCall,
		},
		"a shell of that name": {
			[]todo.Call{called("exec", `{"command":"rg 'tools.update_plan('"}`, "ok"), write("old")},
			"old",
			todo.Origin{Place: origins.ToolCall, Tool: "todo_write", Written: origins.Now},
		},
	} {
		list, origin, err := locate(test.calls)
		require.NoError(t, err, name)
		assert.Equal(t, only(test.want), list, name)
		assert.Equal(t, test.origin, origin, name)
	}
	assert.Equal(t, "the last call of update_plan; a newer call is not confirmed: its script failed", unconfirmed("its script failed").String())
}

func TestListInScriptsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for want, calls := range map[string][]todo.Call{
		"its script computes the list":                                   {called("exec", "await tools.update_plan({plan: f()})", completed), script("old", completed)},
		"its script failed":                                              {script("new", broken)},
		"two scripts that ran at the same time wrote it":                 {wait("3", completed), script("new", completed), script("old", runs)},
		"item 1: content is missing or blank":                            {script("", completed), script("old", completed)},
		"it is kept in more calls than carryon reads":                    append(slices.Repeat([]todo.Call{called("TaskUpdate", `{"taskId":"1","status":"pending"}`, "Updated task #1")}, 1001), script("old", completed)),
		"the arguments have no array of todos":                           {called("exec", "await tools.update_plan({})", completed)},
		"its script may call it under another name":                      {called("exec", "await tools['update_' + 'plan']({plan: []})", completed), script("old", completed)},
		"its script does not call it in every case, or not with await":   {called("exec", "if (x) await tools.update_plan({plan: []})", completed), script("old", completed)},
		"its script has a syntax that carryon does not read":             {called("exec", "await tools.update_plan({plan: []})'", completed), script("old", completed)},
		"the list of update_plan could not be read: its script computes": {called("exec", "await tools.update_plan({plan: f()})", completed)},
	} {
		list, _, err := locate(calls)
		require.ErrorIs(t, err, todo.ErrUnreadable, want)
		require.ErrorContains(t, err, want)
		assert.Empty(t, list)
	}
}

// A request that does not offer update_plan to its scripts has no list.
func TestListInScriptsOfARequestWithoutIt(t *testing.T) {
	t.Parallel()
	source := locator(todo.FromConversation(agentlists.Readers()...))
	for _, test := range []struct {
		tools []string
		found bool
	}{
		{[]string{"exec", "wait"}, false},
		{[]string{"exec", "exec_command", "update_plan", "wait"}, true},
	} {
		ctx := todo.WithConversation(t.Context(), slices.Values([]todo.Call{script("new", completed)}))
		_, _, err := source.Locate(scope.WithTools(ctx, slices.Values(test.tools)))
		assert.Equal(t, !test.found, err != nil)
		if !test.found {
			require.EqualError(t, err, "todo: no list: none of the tools called is known to write one: exec")
		}
	}
	assert.False(t, writesList(t, "exec"))
	assert.False(t, writesList(t, "wait"))
	assert.True(t, writesList(t, "update_plan"))
}

// A program may have a tool of its own of that name.
func TestToolNamedExec(t *testing.T) {
	t.Parallel()
	calls := []todo.Call{called("exec", `{"todos":[{"id":"1","content":"own","status":"pending"}]}`, "ok")}
	list, _, err := locate(calls, todo.WithToolNames("exec"))
	require.NoError(t, err)
	assert.Equal(t, only("own"), list)
	_, _, err = locate(calls)
	require.EqualError(t, err, "todo: no list: exec looks like a todo tool and is not known: name it with todo.WithToolNames")
}

// A script that failed keeps the list of an earlier request too.
func TestRememberedListAndAScriptThatFailed(t *testing.T) {
	t.Parallel()
	source := locator(todo.FromConversation(agentlists.Readers()...))
	locateIn := func(calls ...todo.Call) ([]todo.Todo, todo.Origin, error) {
		return source.Locate(todo.WithConversation(continuation.WithSession(t.Context(), "s"), slices.Values(calls)))
	}
	_, _, err := locateIn(script("old", completed))
	require.NoError(t, err)
	list, origin, err := locateIn(script("new", broken))
	require.NoError(t, err)
	assert.Equal(t, only("old"), list)
	assert.Equal(t, todo.Origin{Place: origins.EarlierRequest, Tool: "update_plan", Written: origins.Earlier, Unconfirmed: "its script failed"}, origin)
}

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
	assert.Equal(t, todo.Origin{Place: origins.ToolCalls, Tool: "sql", Written: origins.Now}, origin)
	assert.True(t, writesList(t, "sql"))
	assert.False(t, writesList(t, "session_store_sql"))
}

func TestListInSQLThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for want, newest := range map[string]todo.Call{
		"one of its SQL statements is of a kind that carryon does not read": sql(t, "UPDATE todos SET status = lower('DONE')", "2 row(s) updated."),
		"content is missing or blank":                                       sql(t, "UPDATE todos SET title = '' WHERE id = 'first'", "1 row(s) updated."),
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
