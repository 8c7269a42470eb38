package todo_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/todo"
)

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
	fromCall := todo.Origin{Place: todo.FromCall, Tool: "update_plan", Written: todo.WrittenNow}
	unconfirmed := func(why string) todo.Origin {
		return todo.Origin{Place: todo.FromCall, Tool: "update_plan", Unconfirmed: why, Written: todo.WrittenNow}
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
			todo.Origin{Place: todo.FromCall, Tool: "todo_write", Written: todo.WrittenNow},
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
		"item 1: content is blank":                                       {script("", completed), script("old", completed)},
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
		_, _, err := source.Locate(todo.WithTools(ctx, slices.Values(test.tools)))
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
	assert.Equal(t, todo.Origin{Place: todo.FromEarlierRequest, Tool: "update_plan", Written: todo.WrittenEarlier, Unconfirmed: "its script failed"}, origin)
}
