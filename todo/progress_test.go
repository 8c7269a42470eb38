package todo_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/origins"
	"github.com/carryon-go/carryon/todo"
)

// statusesIn returns the statuses of a list of the items, as a model wrote it.
func statusesIn(t *testing.T, items string) []todo.Status {
	t.Helper()
	list, err := todo.ParseList(`{"todos":[` + items + `]}`)
	require.NoError(t, err, items)
	statuses := make([]todo.Status, len(list))
	for i := range list {
		statuses[i] = list[i].Status
	}
	return statuses
}

// Whether an item is done may stand under any name that says so.
func TestStatusUnderAnotherName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"isComplete", "is_complete", "IsCompleted", "complete", "completed", "is-done", "isdone", "ISDONE", "done", "taskDone", "finished",
		"is_finished", "isFinish", "checked", "isChecked", "check", "ticked", "resolved", "closed", "hasBeenClosed", "fixed", "passes",
		"succeeded", "todo_completed", "itemIsDone",
	} {
		for _, values := range [][2]string{{"true", "false"}, {`"yes"`, `"no"`}, {"1", "0"}, {`"x"`, `" "`}, {`"true"`, `"False"`}, {`"done"`, `"open"`}} {
			items := `{"title":"a","` + name + `":` + values[0] + `},{"title":"b","` + name + `":` + values[1] + `}`
			assert.Equal(t, []todo.Status{todo.Completed, todo.Pending}, statusesIn(t, items), items)
		}
	}
	for _, name := range []string{"isOpen", "open", "incomplete", "unfinished", "not_done", "unchecked", "is_unresolved"} {
		items := `{"title":"a","` + name + `":false},{"title":"b","` + name + `":true}`
		assert.Equal(t, []todo.Status{todo.Completed, todo.Pending}, statusesIn(t, items), items)
	}
	for _, name := range []string{"completedAt", "completed_at", "completedat", "done_on", "finishedDate", "closed-at", "completion_date", "resolvedTimestamp"} {
		for _, values := range [][2]string{{`"2026-11-28T10:00:00Z"`, "null"}, {"1764324000", "0"}, {`"yesterday"`, `""`}} {
			items := `{"title":"a","` + name + `":` + values[0] + `},{"title":"b","` + name + `":` + values[1] + `}`
			assert.Equal(t, []todo.Status{todo.Completed, todo.Pending}, statusesIn(t, items), items)
		}
	}
	for _, name := range []string{
		"progress", "percent", "percentage", "percentComplete", "percent_done", "completion", "completionPercentage", "progressPct", "done",
		"complete", "taskProgress", "done_ratio",
	} {
		for _, done := range []string{"100", `"100%"`, `"5/5"`, "100.0"} {
			items := `{"title":"a","` + name + `":` + done + `},{"title":"b","` + name + `":40}`
			assert.Equal(t, []todo.Status{todo.Completed, todo.InProgress}, statusesIn(t, items), items)
		}
	}
	for _, name := range []string{"status", "state", "taskStatus", "task_state", "todo_status", "currentStatus", "completionStatus", "stage", "phase", "progress"} {
		items := `{"title":"a","` + name + `":"done"},{"title":"b","` + name + `":"In Progress"}`
		assert.Equal(t, []todo.Status{todo.Completed, todo.InProgress}, statusesIn(t, items), items)
	}
}

func TestStatusUnderOtherNames(t *testing.T) {
	t.Parallel()
	const notStated, contradictory = todo.Status("not stated"), todo.Status("contradictory")
	for items, want := range map[string][]todo.Status{
		// A share of 1 is all of it, unless another item or the name shows that it is a percentage.
		`{"title":"a","progress":1},{"title":"b","progress":0.5}`: {todo.Completed, todo.InProgress},
		`{"title":"a","progress":1},{"title":"b","progress":50}`:  {todo.Pending, todo.InProgress}, // only one is in progress
		`{"title":"a","percent":1}`:                               {todo.InProgress},
		`{"title":"a","progress":"1%"}`:                           {todo.InProgress},
		`{"title":"a","progress":0}`:                              {todo.Pending},

		// Members that agree, and members that contradict each other.
		`{"title":"a","status":"in_progress","progress":40,"done":false}`:                                {todo.InProgress},
		`{"title":"a","status":"completed","isComplete":true,"progress":100}`:                            {todo.Completed},
		`{"title":"a","status":"completed","completed_at":null,"started":true}`:                          {todo.Completed},
		`{"title":"a","startedAt":"2026-01-01","completedAt":null}`:                                      {todo.InProgress},
		`{"title":"a","status":"cancelled","done":false}`:                                                {todo.Cancelled},
		`{"title":"a","status":"pending","active":false,"blocked":false,"deleted":false}`:                {todo.Pending},
		`{"title":"a","done":true,"blocked":true,"new":true}`:                                            {todo.Completed},
		`{"title":"a","status":"pending","done":true}`:                                                   {contradictory},
		`{"title":"a","status":"completed","done":false}`:                                                {contradictory},
		`{"title":"a","progress":100,"isComplete":false},{"title":"b","progress":100,"isComplete":true}`: {contradictory, todo.Completed},
		`{"title":"a","status":"odd","done":true}`:                                                       {todo.Completed},
		`{"title":"a","active":false},{"title":"b","active":true}`:                                       {notStated, todo.InProgress},
		`{"title":"a","pending":false},{"title":"b","pending":true}`:                                     {notStated, todo.Pending},

		// Members that nobody knows.
		`{"title":"a","phase":"Z"},{"title":"b","phase":"Z"}`: {notStated, notStated},
		`{"title":"a","bucket":3},{"title":"b"}`:              {notStated, notStated},
		`{"title":"a","tags":["x"]}`:                          {notStated},
		`{"title":"a","urgent":true}`:                         {notStated},
		`{"title":"a","status":"Z"},{"title":"b"}`:            {"Z", notStated},
		`{"title":"a","phase":"Z"},{"title":"b","done":true}`: {todo.Pending, todo.Completed},
		`{"title":"a","phase":1},{"title":"b","phase":2}`:     {notStated, notStated},
		`{"title":"a","done":[]}`:                             {notStated},

		// A text and an id say nothing of a status, and neither does what a todo may have besides.
		`{"title":"a"},{"title":"b"}`: {todo.Pending, todo.Pending},
		`"a","b"`:                     {todo.Pending, todo.Pending},
		`{"id":1,"title":"a","description":"long","priority":"high","activeForm":"A","blockedBy":["2"]}`: {todo.Pending},
		`{"title":"a","phase":null}`: {todo.Pending},
	} {
		assert.Equal(t, want, statusesIn(t, items), items)
	}
}

// The order of an object's members is random in Go.
func FuzzStatusesOfItems(f *testing.F) {
	for _, seed := range []string{
		`{"title":"a","isComplete":true}`, `{"title":"a","progress":1,"percent":"40%"}`, `{"title":"a","Status":"x","STATUS":"y","state":"z"}`,
		`{"title":"a","completed_at":"","isÜber":1e999,"":0}`, `{"title":"a","done":{"at":[1]},"is":"has","ON":true}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, item string) {
		list, err := todo.ParseList("[" + item + "]")
		for range 3 {
			again, problem := todo.ParseList("[" + item + "]")
			require.Equal(t, err, problem)
			require.Equal(t, list, again)
		}
		for i := range list {
			require.NotEmpty(t, list[i].Status)
		}
	})
}

// A status that is written twice costs no more than the text is long.
func TestItemsWithManyMembersAreCheap(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(`{"title":"a"`)
	for i := range 100_000 {
		b.WriteString(`,"isDone` + strings.Repeat("X", i%40) + string(rune('a'+i%26)) + `":true`)
	}
	list, err := todo.ParseList("[" + b.String() + "}]")
	require.NoError(t, err)
	assert.Len(t, list, 1)
}

// Lists that agents keep item by item, oldest call first: "a" is done and "b" is open.
func TestItemToolsOfGoAgents(t *testing.T) {
	t.Parallel()
	docker := func(status ...string) string {
		all := []map[string]string{}
		for i, s := range status {
			all = append(all, map[string]string{"id": "todo_" + string(rune('1'+i)), "description": string(rune('a' + i)), "status": s})
		}
		text, _ := json.Marshal(map[string]any{"all_todos": all, "reminder": "The following todos are still incomplete"})
		return string(text)
	}
	for agent, test := range map[string]struct {
		calls  []todo.Call
		a, b   string // their ids
		origin string
	}{
		"docker-agent": {[]todo.Call{
			called("create_todos", `{"descriptions":["a","b"]}`, docker("pending", "pending")),
			called("update_todos", `{"updates":[{"id":"todo_1","status":"completed"},{"id":"todo_9","status":"in-progress"}]}`, docker("completed", "pending")),
		}, "todo_1", "todo_2", origins.ToolResult},
		"docker-agent, one by one": {[]todo.Call{
			called("create_todo", `{"description":"a"}`, `{"created":{"id":"todo_1","description":"a","status":"pending"}}`),
			called("create_todo", `{"description":"b"}`, `{"created":{"id":"todo_2","description":"b","status":"pending"}}`),
			called("update_todos", `{"updates":[{"id":"todo_1","status":"completed"}]}`, `{"updated":[{"id":"todo_1","status":"completed"}]}`),
		}, "todo_1", "todo_2", origins.ToolCalls},
		"docker-agent, listed": {[]todo.Call{
			called("list_todos", `{}`, `{"todos":[{"id":"todo_1","description":"a","status":"completed"},{"id":"todo_2","description":"b","status":"pending"}]}`),
		}, "todo_1", "todo_2", origins.ToolResult},
		"agent-framework in Go": {[]todo.Call{
			called("todos_add", `{"input":[{"title":"a"}]}`, `[{"id":0,"title":"a","isComplete":false}]`),
			called("todos_add", `{"input":[{"title":"b","description":"To stdout"},{"title":"c"}]}`,
				`[{"id":1,"title":"b","description":"To stdout","isComplete":false},{"id":2,"title":"c","isComplete":false}]`),
			called("todos_complete", `{"items":[{"id":0,"reason":"written"}]}`, "1"),
			called("todos_remove", `{"ids":[2]}`, "1"),
		}, "0", "1", origins.ToolCalls},
		"agent-framework, wrapped": {[]todo.Call{ // a result that has to be an object, as Google's protocol wants
			called("todos_add", `{"input":[{"title":"a"}]}`, `{"result":[{"id":0,"title":"a","isComplete":false}]}`),
			called("todos_add", `{"input":[{"title":"b"}]}`, `"[{\"id\":1,\"title\":\"b\",\"isComplete\":false}]"`),
			called("todos_add", `{"input":[{"title":"c"}]}`, `[{"type":"text","text":"[{\"id\":2,\"title\":\"c\",\"isComplete\":false}]"}]`),
			called("todos_complete", `{"items":[{"id":0}]}`, `{"output":{"result":1}}`),
			called("todos_remove", `{"ids":[2]}`, "1"),
		}, "0", "1", origins.ToolCalls},
		"agent-framework in Go, all": {[]todo.Call{
			called("todos_get_all", `{}`, `[{"id":0,"title":"a","isComplete":true},{"id":1,"title":"b","isComplete":false}]`),
			called("todos_get_remaining", `{}`, `[{"id":1,"title":"b","isComplete":false}]`),
		}, "0", "1", origins.ToolResult},
		"agent-framework in .NET": {[]todo.Call{
			called("todos_add", `{"todos":[{"title":"a"},{"title":"b"}]}`, `[{"id":1,"title":"a","isComplete":false},{"id":2,"title":"b","isComplete":false}]`),
			called("todos_complete", `{"items":"[{\"id\":1,\"reason\":\"written\"}]"}`, "1"),
		}, "1", "2", origins.ToolCalls},
		"agent-framework in .NET, before": {[]todo.Call{
			called("TodoList_Add", `{"todos":[{"title":"a"},{"title":"b"}]}`, `[{"Id":1,"Title":"a","IsComplete":false},{"Id":2,"Title":"b","IsComplete":false}]`),
			called("TodoList_Complete", `{"ids":[1]}`, "1"),
		}, "1", "2", origins.ToolCalls},
		"agent-framework in Python": {[]todo.Call{
			called("add_todos", `{"todos":[{"title":"a"},{"title":"b"}]}`, `[{"id":1,"title":"a","description":null,"is_complete":false},{"id":2,"title":"b","description":null,"is_complete":false}]`),
			called("complete_todos", `{"ids":[1]}`, `{"completed":1}`),
		}, "1", "2", origins.ToolCalls},
		"AstrBot": {[]todo.Call{
			called("todolist_add", `{"tasks":["a","b"]}`, "已添加 2 个任务:\n#1: a\n#2: b"),
			called("todolist_update", `{"task_id":1,"status":"completed"}`, "已更新任务 #1: a [completed]"),
		}, "1", "2", origins.ToolCalls},
	} {
		list, origin, err := locate(newestFirst(test.calls))
		require.NoError(t, err, agent)
		open := list[:0:0]
		for _, item := range list {
			if item.Status != todo.Cancelled {
				open = append(open, todo.Todo{ID: item.ID, Content: item.Content, Status: item.Status})
			}
		}
		assert.Equal(t, []todo.Todo{{ID: test.a, Content: "a", Status: todo.Completed}, {ID: test.b, Content: "b", Status: todo.Pending}}, open, agent)
		assert.Equal(t, test.origin, origin.Place, agent)
	}
}

// A list that a tool has changed in a way that cannot be followed is out of date.
func TestChangesThatCannotBeFollowed(t *testing.T) {
	t.Parallel()
	plan := called("todo_list", `{"command":"create","tasks":[{"task_description":"a","title":"a"},{"title":"b"}]}`, "ok")
	for arguments, problem := range map[string]string{
		`{"command":"complete","completed_indices":[0,1]}`: "it names its todo in a way that carryon does not read",
		`{"command":"archive","list":"all"}`:               "its action is not known",
	} {
		_, _, err := locate([]todo.Call{called("todo_list", arguments, "ok"), plan})
		require.ErrorIs(t, err, todo.ErrUnreadable, arguments)
		require.ErrorContains(t, err, problem)
	}
	_, _, err := locate([]todo.Call{
		called("todos_complete", `{"items":[{"id":1}]}`, "1"),
		called("todos_add", `{"todos":[{"title":"a"},{"title":"b"}]}`, "2 todos were added"),
	})
	require.ErrorIs(t, err, todo.ErrUnreadable, "nobody knows which of them has this id")
}
