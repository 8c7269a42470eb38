package todo_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/origins"
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
