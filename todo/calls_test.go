package todo_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/origins"
	"github.com/carryon-go/carryon/internal/scope"
	"github.com/carryon-go/carryon/todo"
)

// called is an answered call.
func called(name, arguments, result string) todo.Call {
	return todo.Call{Name: name, Arguments: arguments, Result: result, Answered: true}
}

// Lists that agents keep in several calls, oldest call first, with the results of
// their tools. In each, "a" is done and "b" is still to do.
func TestListsKeptItemByItem(t *testing.T) {
	t.Parallel()
	ab := []todo.Todo{{ID: "1", Content: "a", Status: todo.Completed}, {ID: "2", Content: "b", Status: todo.Pending}}
	for agent, c := range map[string]struct {
		calls []todo.Call
		place string
	}{
		"Claude Code": {[]todo.Call{
			called("TaskCreate", `{"subject":"a","description":"all of a"}`, "Task #1 created successfully: a"),
			called("TaskCreate", `{"subject":"b","description":"all of b"}`, "Task #2 created successfully: b"),
			called("TaskUpdate", `{"taskId":"1","status":"in_progress"}`, "Updated task #1 status"),
			called("TaskUpdate", `{"taskId":"1","status":"completed"}`, "Updated task #1 status"),
		}, origins.ToolCalls},
		"Claude Code, listed": {[]todo.Call{
			called("TaskCreate", `{"subject":"old"}`, "Task #1 created successfully: old"),
			called("TaskList", `{}`, "#1 [completed] a\n#2 [pending] b"),
		}, origins.ToolResult},
		"Claude Code, a task deleted": {[]todo.Call{
			called("TaskCreate", `{"subject":"a"}`, "Task #1 created successfully: a"),
			called("TaskCreate", `{"subject":"b"}`, "Task #2 created successfully: b"),
			called("TaskUpdate", `{"taskId":"1","status":"completed"}`, "Updated task #1 status"),
			called("TaskUpdate", `{"taskId":"9","status":"deleted"}`, "Updated task #9 status"),
		}, origins.ToolCalls},
		"Mastra": {[]todo.Call{
			called("task_write", `{"tasks":[{"id":"1","content":"a","status":"pending","activeForm":"A"},{"id":"2","content":"b","status":"pending","activeForm":"B"}]}`, "ok"),
			called("task_update", `{"id":"1","status":"in_progress"}`, "ok"),
			called("task_complete", `{"id":"1"}`, "ok"),
		}, origins.ToolCalls},
		"Mastra, whose result has all tasks": {[]todo.Call{
			called("task_complete", `{"id":"1"}`, `{"content":"Done","tasks":[{"id":"1","content":"a","status":"completed"},{"id":"2","content":"b","status":"pending"}]}`),
		}, origins.ToolResult},
		"grok-cli": {[]todo.Call{
			called("create_todo_list", `{"todos":[{"id":"1","content":"a","status":"in_progress","priority":""},{"id":"2","content":"b","status":"pending","priority":""}]}`, "created"),
			called("update_todo_list", `{"updates":[{"id":"1","status":"completed"}]}`, "updated"),
		}, origins.ToolCalls},
		"pi": {[]todo.Call{
			called("todo", `{"action":"add","text":"a"}`, "Added todo #1: a"),
			called("todo", `{"action":"add","text":"b"}`, "Added todo #2: b"),
			called("todo", `{"action":"toggle","id":1}`, "Todo #1 completed"),
			called("todo", `{"action":"toggle","id":2}`, "Todo #2 completed"),
			called("todo", `{"action":"toggle","id":2}`, "Todo #2 uncompleted"),
		}, origins.ToolCalls},
		"pi, listed": {[]todo.Call{
			called("todo", `{"action":"add","text":"old"}`, "Added todo #1: old"),
			called("todo", `{"action":"list"}`, "[x] #1: a\n[ ] #2: b"),
		}, origins.ToolResult},
		"pi, cleared": {[]todo.Call{
			called("todo", `{"action":"add","text":"old"}`, "Added todo #1: old"),
			called("todo", `{"action":"clear"}`, "Cleared 1 todos"),
			called("todo", `{"action":"add","text":"a"}`, "Added todo #1: a"),
			called("todo", `{"action":"complete","id":"1"}`, "Todo #1 completed"),
			called("todo", `{"action":"add","texts":["b"]}`, "Added todo #2: b"),
		}, origins.ToolCalls},
		"Copilot CLI of old": {[]todo.Call{
			called("update_todo", `{"todos":"- [x] a\n- [ ] b"}`, "saved"),
		}, origins.ToolCall},
		"Qwen Code's wrapper": {[]todo.Call{
			called("tool_call", `{"name":"todo_write","arguments":{"todos":[{"id":"1","content":"a","status":"completed"},{"id":"2","content":"b","status":"pending"}]}}`, "ok"),
		}, origins.ToolCall},
		"a wrapper with text": {[]todo.Call{
			called("tool_call", `{"name":"todo_write","arguments":"{\"todos\":[{\"content\":\"a\",\"status\":\"done\"},{\"content\":\"b\"}]}"}`, "ok"),
		}, origins.ToolCall},
		"Gemini CLI's tracker": {[]todo.Call{
			called("tracker_create_task", `{"title":"a","type":"task"}`, `{"task":{"id":"1","title":"a","status":"open"}}`),
			called("tracker_create_task", `{"title":"b","type":"task"}`, `{"task":{"id":"2","title":"b","status":"open"}}`),
			called("tracker_update_task", `{"id":"1","status":"closed"}`, "ok"),
		}, origins.ToolCalls},
		"Gemini CLI's tracker, in words": {[]todo.Call{
			called("tracker_create_task", `{"title":"a","description":"#7","type":"task"}`, "Created task 1: a"),
			called("tracker_create_task", `{"title":"b","description":"","type":"bug"}`, "Created task 2: b"),
			called("tracker_update_task", `{"id":"1","status":"closed"}`, "Updated task 1. Status: closed"),
		}, origins.ToolCalls},
		"a result of MCP that repeats the list": {[]todo.Call{
			called("mcp__x__task_complete", `{"id":"1"}`, `{"content":[{"type":"text","text":"- [x] #1: a\n- [ ] #2: b"}],"isError":false}`),
		}, origins.ToolResult},
		"arguments that are not known, and a result that is": {[]todo.Call{
			called("todo_write", `{"markdown":"…"}`, `Saved: [{"id":"1","content":"a","status":"completed"},{"id":"2","content":"b","status":"pending"}]`),
		}, origins.ToolResult},
	} {
		t.Run(agent, func(t *testing.T) {
			t.Parallel()
			slices.Reverse(c.calls)
			got, origin, err := locate(c.calls)
			require.NoError(t, err)
			open := slices.DeleteFunc(slices.Clone(got), func(item todo.Todo) bool { return item.Status == todo.Cancelled })
			assert.Equal(t, ab, open)
			assert.Equal(t, c.place, origin.Place, origin)
		})
	}
}

// An incomplete list is not guessed at.
func TestListsKeptItemByItemThatAreIncomplete(t *testing.T) {
	t.Parallel()
	var many []todo.Call
	for i := range 1100 {
		many = append(many, called("TaskCreate", `{"subject":"x"}`, fmt.Sprintf("Task #%d created successfully: x", i)))
	}
	for want, calls := range map[string][]todo.Call{
		"the list of TaskUpdate could not be read: it changes todos that the conversation does not hold any more": {
			called("TaskUpdate", `{"taskId":"7","status":"in_progress"}`, "Updated task #7 status"),
			called("TaskCreate", `{"subject":"b"}`, "Task #8 created successfully: b"),
		},
		// The second may be the task whose creation did not tell its id.
		"the list of task_update could not be read: it changes todos that the conversation does not hold any more": {
			called("task_update", `{"id":"7","status":"completed"}`, "ok"),
			called("TaskCreate", `{"subject":"b"}`, "created"),
		},
		"the list of TaskCreate could not be read: it is kept in more calls than carryon reads":                                                       many,
		"the list of TaskUpdate could not be read: it names no todo":                                                                                  {called("TaskUpdate", `{"status":"completed"}`, "ok")},
		"the list of TaskCreate could not be read: its result reports a failure":                                                                      {called("TaskCreate", `{"subject":"b"}`, "Error: no")},
		"the list of todo could not be read: its action is not known; if its calls change single todos, give carryon the list with todo.ProviderFunc": {called("todo", `{"action":"frobnicate","id":"1"}`, "ok")},
	} {
		got, _, err := locate(calls)
		assert.Empty(t, got, want)
		require.EqualError(t, err, "todo: "+want)
	}
}

// The history was cut, and the rest of the list is done.
func TestListKeptItemByItemWhoseRestIsDone(t *testing.T) {
	t.Parallel()
	got, _, err := locate([]todo.Call{
		called("TaskUpdate", `{"taskId":"7","status":"completed"}`, "Updated task #7 status"),
		called("TaskCreate", `{"subject":"b"}`, "Task #8 created successfully: b"),
	})
	require.NoError(t, err)
	assert.Equal(t, []todo.Todo{{ID: "8", Content: "b", Status: todo.Pending}}, got)
}

// A list in a result counts only if it has the todos of the call.
func TestResultThatRepeatsAnotherList(t *testing.T) {
	t.Parallel()
	for _, result := range []string{
		`[{"id":"9","content":"z","status":"completed"}]`, `{"todos":[]}`, "- [x] z", `["new"]`, `[{"content":"new"}]`, "[{",
		`{"output":"- [x] z"}`, "#", "{}", "null", `{"content":[{"text":"- [x] z"}, 3]}`,
	} {
		assert.Equal(t, only("new"), todosOf(t, []todo.Call{failed("new", result), write("old")}), result)
	}
	assert.Equal(t, []todo.Todo{{ID: "t-1", Content: "new", Status: todo.Completed}},
		todosOf(t, []todo.Call{failed("new", `{"todos":[{"id":"t-1","content":"new","status":"done"}]}`)}), "the tool knows better")
}

// Many calls for one todo each cost no more than their number.
func BenchmarkListKeptItemByItem(b *testing.B) {
	for _, n := range []int{100, 400} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			calls := make([]todo.Call, 0, 2*n)
			for i := range n {
				calls = append(calls, called("TaskCreate", `{"subject":"`+strings.Repeat("x", 20)+strconv.Itoa(i)+`"}`, fmt.Sprintf("Task #%d created successfully: x", i)),
					called("TaskUpdate", fmt.Sprintf(`{"taskId":"%d","status":"completed"}`, i), "ok"))
			}
			slices.Reverse(calls)
			b.ReportAllocs()
			for b.Loop() {
				if list, _, err := locate(calls); err != nil || len(list) != n {
					b.Fatal(len(list), err)
				}
			}
		})
	}
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
	source := locator(todo.FromConversation())
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
	assert.Equal(t, only("own"), todosOf(t, calls, todo.WithToolNames("exec")))
	_, _, err := locate(calls)
	require.EqualError(t, err, "todo: no list: exec looks like a todo tool and is not known: name it with todo.WithToolNames")
}

// A script that failed keeps the list of an earlier request too.
func TestRememberedListAndAScriptThatFailed(t *testing.T) {
	t.Parallel()
	source := locator(todo.FromConversation())
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
