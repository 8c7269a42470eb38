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
	"pgregory.net/rapid"

	"github.com/carryon-go/carryon/todo"
)

// todosOf returns the list that FromConversation reads from the calls, newest first;
// nil if there is none.
func todosOf(t require.TestingT, calls []todo.Call, opts ...todo.ConversationOption) []todo.Todo {
	list, _, err := locate(calls, opts...)
	if !errors.Is(err, todo.ErrNoList) && !errors.Is(err, todo.ErrUnreadable) {
		require.NoError(t, err)
		require.NotNil(t, list)
	}
	return list
}

func locate(calls []todo.Call, opts ...todo.ConversationOption) ([]todo.Todo, todo.Origin, error) {
	ctx := todo.WithConversation(context.Background(), slices.Values(calls))
	return locator(todo.FromConversation(opts...)).Locate(ctx)
}

// locator returns a source of this package as a Locator.
func locator(source todo.Provider) todo.Locator {
	l, _ := source.(todo.Locator)
	return l
}

// write is a call that wrote a list with one pending todo.
func write(content string) todo.Call {
	return todo.Call{
		Name: "todo_write", Arguments: `{"todos":[{"id":"1","content":` + quoted(content) + `,"status":"pending"}]}`,
		Result: "Todo list saved: 1 todo, 1 left to do.", Answered: true,
	}
}

func failed(content, result string) todo.Call {
	call := write(content)
	call.Result = result
	return call
}

// only is the list that write wrote.
func only(content string) []todo.Todo {
	return []todo.Todo{{ID: "1", Content: content, Status: todo.Pending}}
}

// The tool of each agent, as its model calls it, and the result that it returns.
func TestListsOfAgents(t *testing.T) {
	t.Parallel()
	for agent, call := range map[string]todo.Call{
		"carryon": {
			Name: "todo_write", Arguments: `{"todos":[{"id":"1","content":"a","status":"completed"},{"id":"2","content":"b","status":"in_progress"}]}`,
			Result: "Todo list saved: 2 todos, 1 left to do.\n" +
				`[{"id":"1","content":"a","status":"completed"},{"id":"2","content":"b","status":"in_progress"}]`,
		},
		"Claude Code": {
			Name: "TodoWrite", Arguments: `{"todos":[{"content":"a","status":"completed","activeForm":"Doing a"},{"content":"b","status":"in_progress","activeForm":"Doing b"}]}`,
			Result: "Todos have been modified successfully. Ensure that you continue to use the todo list to track your progress.",
		},
		"opencode": {
			Name: "todowrite", Arguments: `{"todos":[{"content":"a","status":"completed","priority":""},{"content":"b","status":"in_progress","priority":""}]}`,
			Result: "[\n  {\n    \"content\": \"a\",\n    \"status\": \"completed\"\n  }\n]",
		},
		"LangChain": {
			Name: "write_todos", Arguments: `{"todos":[{"content":"a","status":"completed"},{"content":"b","status":"in_progress"}]}`,
			Result: "Updated todo list to [{'content': 'a', 'status': 'completed'}, {'content': 'b', 'status': 'in_progress'}]",
		},
		"Gemini CLI": {
			Name: "write_todos", Arguments: `{"todos":[{"description":"a","status":"completed"},{"description":"b","status":"in_progress"}]}`,
			Result: `{"output":"Successfully updated the todo list. The current list is now:\n1. [completed] a\n2. [in_progress] b"}`,
		},
		"Codex": {
			Name: "update_plan", Arguments: `{"explanation":"why","plan":[{"step":"a","status":"completed"},{"step":"b","status":"in_progress"}]}`,
			Result: "Plan updated",
		},
		"Zed": {
			Name: "update_plan", Arguments: `{"title":"Plan","steps":[{"title":"a","status":"completed"},{"title":"b","status":"in_progress"}]}`,
			Result: `Updated the plan "Plan" with 2 step(s), 1 completed.`,
		},
		"Roo Code": {
			Name: "update_todo_list", Arguments: `{"todos":"[x] a\n[-] b"}`, Result: "Todo list updated successfully.",
		},
		"Copilot": {
			Name: "manage_todo_list", Arguments: `{"operation":"write","todoList":[{"id":1,"title":"a","description":"long","status":"completed"},{"id":2,"title":"b","description":"long","status":"in-progress"}]}`,
			Result: "Successfully wrote todo list",
		},
		"nanocoder": {
			Name: "write_tasks", Arguments: `{"tasks":[{"title":"a","status":"completed"},{"title":"b","status":"in_progress"}]}`,
			Result: "Tasks updated",
		},
		"Kimi CLI": {
			Name: "SetTodoList", Arguments: `{"todos":[{"title":"a","status":"done"},{"title":"b","status":"in_progress"}]}`,
			Result: "<system>Todo list updated</system>",
		},
		"Hermes": {
			Name: "todo_list", Arguments: `{"todos":[{"id":"1","content":"a","status":"completed"},{"id":"2","content":"b","status":"in_progress"}],"merge":false}`,
			Result: `{"todos":[],"revision":3,"summary":{"total":2}}`,
		},
		"Crush": {
			Name: "todos", Arguments: `{"todos":[{"content":"a","status":"completed","active_form":"Doing a"},{"content":"b","status":"in_progress","active_form":"Doing b"}]}`,
			Result: "Todo list updated successfully.\n\nStatus: 0 pending, 1 in progress, 1 completed",
		},
		"Mistral Vibe": {
			Name: "todo", Arguments: `{"action":"write","todos":[{"id":"1","content":"a","status":"completed"},{"id":"2","content":"b","status":"in_progress"}]}`,
			Result: "message: Updated 2 todos",
		},
		"OpenHands": {
			Name: "task_tracker", Arguments: `{"command":"plan","task_list":[{"id":"1","title":"a","status":"done","notes":""},{"id":"2","title":"b","status":"in_progress"}]}`,
			Result: "Task list has been updated with 2 item(s).",
		},
		"goose": {
			Name: "todo__todo_write", Arguments: `{"content":"# Plan\n- [x] a\n- [-] b\n"}`, Result: "Updated (22 chars)",
		},
		"Continue": {
			Name: "Checklist", Arguments: `{"checklist":"- [x] a\n- [~] b"}`, Result: "Task list status:\n- [x] a\n- [~] b",
		},
		"langchaingo": {
			Name: "todo_write", Arguments: `{"__arg1":"{\"todos\":[{\"content\":\"a\",\"status\":\"completed\"},{\"content\":\"b\",\"status\":\"in_progress\"}]}"}`,
			Result: "saved",
		},
		"a server of MCP": {
			Name: "mcp__planner__todo_write", Arguments: `{"todos":"[{\"content\":\"a\",\"status\":\"completed\"},{\"content\":\"b\",\"status\":\"in_progress\"}]"}`,
			Result: `{"content":[{"type":"text","text":"ok"}],"isError":false}`,
		},
	} {
		t.Run(agent, func(t *testing.T) {
			t.Parallel()
			want := []todo.Todo{
				{ID: "1", Content: "a", Status: todo.Completed},
				{ID: "2", Content: "b", Status: todo.InProgress},
			}
			for _, answered := range []bool{true, false} {
				call.Answered = answered
				assert.Equal(t, want, todosOf(t, []todo.Call{call, write("older")}))
			}
		})
	}
}

func TestNewestListWins(t *testing.T) {
	t.Parallel()
	search := todo.Call{Name: "search", Arguments: `{"todos":["not one"]}`, Answered: true}
	assert.Equal(t, only("new"), todosOf(t, []todo.Call{search, write("new"), search, write("old")}))
	assert.Empty(t, todosOf(t, []todo.Call{search, search}))
	assert.Empty(t, todosOf(t, nil))
}

func TestEmptyListMeansNothingToDo(t *testing.T) {
	t.Parallel()
	for _, arguments := range []string{`{"todos":[]}`, `[]`, `{"todos":"[]"}`, `{"__arg1":"[]"}`} {
		call := todo.Call{Name: "todo_write", Arguments: arguments, Result: "Todo list cleared.\n[]", Answered: true}
		assert.Empty(t, todosOf(t, []todo.Call{call, write("old")}), arguments)
	}
}

func TestListThatCannotBeReadIsPassedOver(t *testing.T) {
	t.Parallel()
	for name, arguments := range map[string]string{
		"nothing":      ``,
		"cut off":      `{"todos":[{"content":"a"`,
		"no list":      `{}`,
		"prose":        `{"todos":"buy milk"}`,
		"deep":         strings.Repeat("[", 100_000),
		"read":         `{"operation":"read","todoList":[]}`,
		"view":         `{"command":"view","task_list":[]}`,
		"nested read":  `{"input":{"action":"READ","todos":[]}}`,
		"one todo":     `{"content":"a","status":"pending"}`,
		"no change":    `{"merge":true,"todos":[]}`,
		"other change": `{"merge":true,"todos":[{"id":"9","status":"completed"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			call := todo.Call{Name: "todo_write", Arguments: arguments, Result: "saved", Answered: true}
			assert.Equal(t, only("old"), todosOf(t, []todo.Call{call, write("old")}))
			assert.Empty(t, todosOf(t, []todo.Call{call}))
		})
	}
}

// The errors for a missing list, as people read them.
func TestWhatThereIsInPlaceOfAList(t *testing.T) {
	t.Parallel()
	call := func(name, arguments, result string) todo.Call {
		return todo.Call{Name: name, Arguments: arguments, Result: result, Answered: true}
	}
	search := call("search", `{"query":"status"}`, "{}")
	list := `{"todos":[{"content":"a","status":"pending"}]}`
	var many []todo.Call
	for i := range 20 {
		many = append(many, call(fmt.Sprint("tool_", i), `{}`, ""))
	}
	for want, calls := range map[string][]todo.Call{
		"no list: nothing was written so far":                                                                                     nil,
		"no list: none of the tools called is known to write one: search, edit":                                                   {search, call("edit", `{}`, "ok"), search},
		"no list: none of the tools called is known to write one: tool_0, tool_1, tool_2, tool_3, tool_4, tool_5, tool_6, tool_7": many,
		"no list: note_work looks like a todo tool and is not known: name it with todo.WithToolNames":                             {search, call("note_work", list, "ok")},
		"no list: my_todos, note_work look like todo tools and are not known: name them with todo.WithToolNames": {
			call("my_todos", `{}`, list), search, call("note_work", list, "ok"), call("note_work", list, "ok"),
		},
		"no list: note_work looks like a todo tool and is not known: name it with todo.WithToolNames ": {
			call("my_todos", `{}`, "ok"), call("note_work", list, "ok"),
		},
		"no list: my_todos looks like a todo tool, but its calls do not have the whole list: give carryon the list with todo.ProviderFunc": {
			call("my_todos", `{"text":"a"}`, "ok"),
		},
		"no list: todo_tick, todo_new look like todo tools, but their calls do not have the whole list: give carryon the list with todo.ProviderFunc": {
			call("todo_tick", `{"id":"1"}`, "ok"), call("todo_new", `{"text":"a"}`, "ok"),
		},
		"the list of todo_write could not be read: its result reports a failure": {search, failed("a", "Error: disk full")},
		"the list of TodoWrite could not be read: the arguments have no array of todos": {
			call("TodoWrite", `{}`, "ok"), call("todo_write", ``, "ok"),
		},
		"the list of todo_write could not be read: it changes todos that the conversation does not hold any more": {
			call("todo_write", `{"merge":true,"todos":[{"id":"7","status":"done"}]}`, "ok"),
		},
		// Older lists would be a guess.
		"the list of todo_write could not be read: item 2: content is missing or blank": {
			call("todo_write", `{"todos":["a",{"content":" "}]}`, "ok"), write("old"),
		},
		"the list of todo_write could not be read: item 1: status is an object": {
			call("todo_write", `{"merge":true,"todos":[{"id":"1","status":{}}]}`, "ok"), write("old"),
		},
		"the list of todo_write could not be read: it is too long": {
			call("todo_write", `{"todos":["`+strings.Repeat("x", 256<<10)+`"]}`, "ok"), write("old"),
		},
	} {
		got, origin, err := locate(calls)
		assert.Empty(t, got, want)
		assert.Zero(t, origin, want)
		if assert.Error(t, err, want) {
			text, _, _ := strings.Cut(err.Error(), ";") // after it, what the model should send
			assert.Equal(t, "todo: "+strings.TrimSpace(want), text)
		}
	}
}

// What an outcome recommends works: no advice leads to another refusal.
func TestAdviceThatIsFollowedWorks(t *testing.T) {
	t.Parallel()
	const provider, names = "give carryon the list with todo.ProviderFunc", "with todo.WithToolNames"
	for _, test := range []struct{ arguments, result, advice string }{
		{`{"todos":[{"content":"a","status":"pending"}]}`, "ok", names},
		{`{"entries":[{"content":"a","status":"pending"}]}`, "ok", provider},
		{`{"todos":["a","b"]}`, "ok", names},
		{`{"items":[{"title":"a","isComplete":false}]}`, "ok", names},
		{`{"items":[{"title":"a","phase":"Z"}]}`, "ok", provider}, // named, its status would not be known
		{`{}`, `[{"content":"a","status":"pending"}]`, names},
		{`{"text":"- [ ] a\n- [x] b"}`, "ok", provider},
		{`{"checklist":"- [ ] a\n- [x] b"}`, "ok", names},
		{`{"text":"a"}`, "Added todo #1: a", provider},
		{`{"id":"1","content":"a","status":"done"}`, "ok", provider},
		{`{"action":"add","text":"a"}`, "Added todo #1: a", provider},
		{`{"todos":[{"content":""}]}`, "ok", provider},
		{`not JSON`, "ok", provider},
		{``, "", provider},
		{`{"todos":[{"content":"` + strings.Repeat("x", 40<<10) + `","status":"pending"}]}`, "ok", provider},
	} {
		for _, name := range []string{"my_todos", "todo_add_item", "checklist_edit"} {
			calls := []todo.Call{{Name: name, Arguments: test.arguments, Result: test.result}}
			_, _, err := locate(calls)
			require.ErrorIs(t, err, todo.ErrNoList)
			require.ErrorContains(t, err, test.advice, test.arguments)
			list, _, err := locate(calls, todo.WithToolNames(name))
			if test.advice == names {
				require.NoError(t, err, test.arguments)
				require.NotEmpty(t, list)
				for i := range list {
					_, known := todo.ParseStatus(string(list[i].Status))
					assert.True(t, known, test.arguments)
				}
			} else if errors.Is(err, todo.ErrNoList) || errors.Is(err, todo.ErrUnreadable) {
				assert.NotContains(t, err.Error(), names, "it is named already")
				assert.NotContains(t, err.Error(), "send", "the program cannot send a list")
			}
		}
	}
	for _, arguments := range []string{`{"id":"1","content":"a","status":"done"}`, `{"text":"a"}`, `{"action":"file","text":"a"}`, `{"action":"tick","text":"a"}`} {
		_, _, err := locate([]todo.Call{called("note_work", arguments, "ok")}, todo.WithToolNames("note_work"))
		require.ErrorIs(t, err, todo.ErrUnreadable, arguments)
		require.ErrorContains(t, err, provider, arguments)
	}
	list, err := todo.ProviderFunc(func(context.Context) ([]todo.Todo, error) { return only("a"), nil }).Todos(t.Context())
	require.NoError(t, err)
	assert.Equal(t, only("a"), list)
}

func TestWhereTheListWasRead(t *testing.T) {
	t.Parallel()
	change := todo.Call{Name: "mcp__x__TodoWrite", Arguments: `{"merge":true,"todos":[{"id":"1","status":"done"}]}`}
	_, origin, err := locate([]todo.Call{write("a"), change})
	require.NoError(t, err)
	assert.Equal(t, "the last call of todo_write", origin.String())
	_, origin, err = locate([]todo.Call{change, write("a")})
	require.NoError(t, err)
	assert.Equal(t, "the calls of mcp__x__TodoWrite", origin.String())
	assert.Equal(t, "tool_calls", origin.Place)
}

// A tool that reads the list, a todo_pause, and data that happens to have a status.
func TestWhatDoesNotLookLikeATodoTool(t *testing.T) {
	t.Parallel()
	for name, arguments := range map[string]string{
		"todo_read": `{}`, "todo_pause": `{}`, "get_todos": `{}`, "publish": `{"items":[{"status":"draft"},{"text":"b"}]}`,
		"report": `{"status":"done"}`, "post": `{"items":["status"]}`, "note": `{"content":"a","status":"done"}`,
		"upload": `{"items":[{"status":"done","x":"` + strings.Repeat("x", 40<<10) + `"}]}`,
	} {
		_, _, err := locate([]todo.Call{{Name: name, Arguments: arguments}})
		var none *todo.NoListError
		require.ErrorAs(t, err, &none, name)
		assert.Equal(t, []string{name}, none.Called)
		assert.Empty(t, none.Lookalikes, name)
	}
}

func TestActionsThatWrite(t *testing.T) {
	t.Parallel()
	for _, member := range []string{
		`"action":"write"`, `"action":"Write"`, `"operation":"set"`, `"command":"plan"`, `"action":"replace"`,
		`"action":"create"`, `"action":"update"`, `"action":""`, `"action":null`, `"action":3`,
	} {
		call := todo.Call{Name: "todo", Arguments: `{` + member + `,"todos":["new"]}`}
		assert.Equal(t, only("new"), todosOf(t, []todo.Call{call, write("old")}), member)
	}
}

func TestMergedChangesArePutTogether(t *testing.T) {
	t.Parallel()
	merge := func(items string) todo.Call {
		return todo.Call{Name: "todo_write", Arguments: `{"merge":true,"todos":[` + items + `]}`, Result: "ok", Answered: true}
	}
	whole := todo.Call{Name: "todo_write", Arguments: `{"merge":false,"todos":[
		{"id":"a","content":"one","status":"in_progress","priority":"low"},{"id":"b","content":"two","status":"pending"}]}`}
	assert.Equal(t, []todo.Todo{
		{ID: "a", Content: "one", Status: todo.Completed, Priority: "low"},
		{ID: "b", Content: "two, renamed", Status: todo.InProgress, Priority: "high"},
		{ID: "c", Content: "three", Status: todo.Pending},
		{ID: "4", Content: "four", Status: todo.Pending},
	}, todosOf(t, []todo.Call{
		merge(`{"id":"b","status":"in_progress"},{"id":"z","status":"completed"}`),
		failed("lost", "Error: no"),
		merge(`{"id":" a ","status":"done"},{"id":"b","content":"two, renamed","priority":"high"},{"id":"c","content":"three"},"four"`),
		merge(`{"id":"a","status":"pending"}`),
		whole,
		write("old"),
	}))

	// Several changes of one todo in a call, and several new ones.
	assert.Equal(t, []todo.Todo{
		{ID: "a", Content: "one, renamed", Status: todo.InProgress, Priority: "low"},
		{ID: "b", Content: "two", Status: todo.Completed},
		{ID: "c", Content: "three", Status: todo.Completed},
		{ID: "4", Content: "four", Status: todo.Pending},
		{ID: "5", Content: "five", Status: todo.Pending},
	}, todosOf(t, []todo.Call{
		merge(`{"id":"a","content":"one, renamed"},{"id":"b","done":true},{"id":"c","content":"three"},{"id":"c","state":"done"},"four","five"`),
		whole,
	}))

	// If the whole list is no longer in the history, the changes alone.
	assert.Equal(t, only("x"), todosOf(t, []todo.Call{
		merge(`{"id":"9","status":"completed"}`), merge(`{"id":"1","content":"x"}`),
	}))

	// As text, as some models write booleans.
	asText := todo.Call{Name: "todo_write", Arguments: `{"merge":"True","todos":[{"id":"1","status":"completed"}]}`}
	assert.Equal(t, []todo.Todo{{ID: "1", Content: "old", Status: todo.Completed}}, todosOf(t, []todo.Call{asText, write("old")}))
}

func TestResultsThatReportAFailure(t *testing.T) {
	t.Parallel()
	memory := todo.NewMemory(todo.WithOneConversation(), todo.WithMaxItems(1))
	refused, _ := memory.Handle(t.Context(), "todo_write", `{"todos":["a","b"]}`)
	unread, _ := memory.Handle(t.Context(), "todo_write", `{"todos":3}`)
	for _, result := range []string{
		refused, unread,
		"Error: boom", "error: boom", "ERROR\nboom", " \n Error", "[ERROR] boom", "[Error: boom]", "Error!", "**Error**: boom", "**Error:** boom",
		"❌ Error: boom", "⚠️ Failed to save", "# Error: boom", "Error - boom", `"Error: boom"`,
		"ValidationError: boom", "pydantic_core._pydantic_core.ValidationError: boom", "java.lang.RuntimeException: boom",
		"Exception: boom", "ValueError('boom')", "1 validation error for write_todos", "2 validation errors: []",
		"Error: ValueError('boom')\n Please fix your mistakes.", "Error invoking tool 'write_todos' with kwargs {}",
		"Error executing tool write_todos: boom", "Error calling todo_write: boom", "Error parsing the arguments",
		"Error running todo_write", "Error saving todos", "Error updating the list", "Error while saving", "Error writing todos",
		"An error occurred while running the tool. Please try again. Error: boom",
		"[An error occurred during execution.]", "The tool call returned the following error:\nboom",
		"The tool execution failed with the following error:\n<error>\nboom\n</error>",
		"<tool_use_error>InputValidationError: boom</tool_use_error>", "<tool_error>boom</tool_error>",
		"<error>boom</error>", "<system>ERROR: boom</system>", "<system>Failed to save</system>",
		"Failed to modify todos.", "failed to parse function arguments: boom", "failed: boom", "Failure: boom",
		"Invalid parameters provided.", "Cannot store more than 100 todos", "Could not save", "Unable to save",
		"Unknown tool: todo_write", "Tool not found: todo_write", "Tool call failed", "Tool execution failed: boom",
		"todo_write is not a valid tool, try another one",
		"User declined to update the todoList.", "The user denied this operation.", "User rejected the call", "The user declined it", "The user rejected it", "Permission denied",
		`{"error":"boom"}`, `{"error":{"code":-32602,"message":"boom"}}`, `{"Error":"boom"}`, `{"errors":["boom"]}`, `{"error":true}`,
		`{"error":1}`, `{"isError":true,"content":[{"type":"text","text":"boom"}]}`, `{"is_error":true}`,
		`{"success":false}`, `{"ok":false,"message":"boom"}`, `{"status":"error","message":"boom"}`, `{"status":"Failed"}`,
		`{"status":"denied"}`, "\n {\"error\":\"boom\"} ", quoted(`{"error":"boom"}`),
	} {
		assert.Equal(t, only("old"), todosOf(t, []todo.Call{failed("new", result), write("old")}), result)
	}
}

func TestResultsThatMentionAnError(t *testing.T) {
	t.Parallel()
	saved, _ := todo.NewMemory(todo.WithOneConversation()).Handle(t.Context(), "todo_write", `{"todos":["Error: handle it","Failed to parse"]}`)
	for _, result := range []string{
		saved, "", "ok", "Plan updated", "Saved without an error.", "Updated. Error handling is next.", "0 errors",
		"No error: saved", "Error handling was added to the list.", "Errors are tracked now", "✅ Error pages added to the list",
		"- Error: handle it", "* Error: handle it", "+ Error: handle it", "1. Error: handle it", "[ ] Error: handle it", "- [ ] Failed to parse",
		"[completed] Error: handle it", "# Todo\n- [ ] Error: handle it", "[]", `["Error: handle it"]`, `[{"content":"Error: handle it"}]`,
		"Updated todo list to [{'content': 'Error: handle it'}]", "Todo list updated: Failed to parse",
		"<system>Todo list updated</system> Error: none", "<a><b>Error: handle it",
		"The error is on the list now", "Failing tests are next", "Invalidated the cache",
		`{"error":null,"todos":[]}`, `{"error":""}`, `{"error":false}`, `{"errors":[]}`, `{"errors":0}`, `{"error":{}}`,
		`{"isError":false}`, `{"success":true}`, `{"status":"ok"}`, `{"status":3}`, `{"message":"Error: handle it"}`,
		`{"todos":[{"content":"x","error":"boom","status":"failed"}]}`, `{"error":"boom"`, `{'todos': 'x'}`,
		`{"error":"` + strings.Repeat("x", 20<<10) + `"}`, "\"Error: boom", "❌", "{", "\"", "<", "[", "<>", "\xff\xfe",
		strings.Repeat("x", 1<<20) + "Error: boom", strings.Repeat("é", 40) + " is not a valid tool",
	} {
		assert.Equal(t, only("new"), todosOf(t, []todo.Call{failed("new", result), write("old")}), result)
	}
}

func TestNamesOfTools(t *testing.T) {
	t.Parallel()
	own := todo.WithToolNames("make_plan", "Liste-Schreiben")
	for name, known := range map[string]bool{
		"todo_write": true, "TodoWrite": true, "TODO-WRITE": true, "todoWrite": true, "default__todo_write": true, "a__b__TodoWrite": true, "todo_write__": true,
		"makePlan": true, "MAKE_PLAN": true, "planner__make_plan": true, "liste_schreiben": true,
		"": false, "todo_writer": false, "todo_writ": false, "my_todo_write": false, "todo_read": false,
		"todo_pause": false, "__": false, "plan": false, "make": false, "todo write": false, "plan_todos": false,
	} {
		call := write("new")
		call.Name = name
		want := only("old")
		if known {
			want = only("new")
		}
		assert.Equal(t, want, todosOf(t, []todo.Call{call, write("old")}, own), name)
	}
	call := write("new")
	call.Name = "make_plan"
	assert.Equal(t, only("old"), todosOf(t, []todo.Call{call, write("old")}), "not without the option")
}

func TestFromConversationRefuses(t *testing.T) {
	t.Parallel()
	assert.PanicsWithValue(t, "carryon/todo: nil context", func() {
		_, _ = todo.FromConversation().Todos(nil) //nolint:staticcheck // the test is about nil
	})
	list, err := todo.FromConversation(nil, todo.WithToolNames(), todo.WithToolNames("", " _- ")).Todos(t.Context())
	require.EqualError(t, err, "todo: no list: nothing was written so far")
	assert.Empty(t, list)
}

func TestConversationIsReadNoFurtherThanNeeded(t *testing.T) {
	t.Parallel()
	calls := []todo.Call{{Name: "search"}, failed("lost", "Error: no"), write("new"), write("old"), write("older")}
	seen := 0
	ctx := todo.WithConversation(t.Context(), func(yield func(todo.Call) bool) {
		for _, call := range calls {
			seen++
			if !yield(call) {
				return
			}
		}
	})
	list, err := todo.FromConversation().Todos(ctx)
	require.NoError(t, err)
	assert.Equal(t, only("new"), list)
	assert.Equal(t, 3, seen)
}

func TestFewCandidatesAreLookedAt(t *testing.T) {
	t.Parallel()
	for bad, want := range map[int][]todo.Todo{31: only("old"), 32: nil} {
		calls := slices.Repeat([]todo.Call{{Name: "todo_write", Arguments: "no"}}, bad)
		calls = slices.Insert(calls, 5, todo.Call{Name: "search"}) // does not count
		assert.Equal(t, want, todosOf(t, append(calls, write("old"))), "%d calls before it", bad)
	}
}

func TestArgumentsAreReadUpToALimit(t *testing.T) {
	t.Parallel()
	ofLength := func(length int) todo.Call {
		const head, tail = `{"merge":true,"note":"`, `","todos":[]}` // read to its end, and changes nothing
		return todo.Call{Name: "todo_write", Arguments: head + strings.Repeat("x", length-len(head)-len(tail)) + tail}
	}
	old := write("old")
	room := 256<<10 - len(old.Arguments)
	assert.Equal(t, only("old"), todosOf(t, []todo.Call{ofLength(room / 2), ofLength(room - room/2), old}))
	_, _, err := locate([]todo.Call{ofLength(room / 2), ofLength(room - room/2 + 1), old})
	require.EqualError(t, err, "todo: the list of todo_write could not be read: it is too long")
}

func TestEndOfTheContextEndsTheSearch(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	seen := 0
	ctx = todo.WithConversation(ctx, func(yield func(todo.Call) bool) {
		for seen = 1; seen < 1000; seen++ {
			if seen == 3 {
				cancel()
			}
			if !yield(todo.Call{Name: "search"}) {
				return
			}
		}
	})
	list, err := todo.FromConversation().Todos(ctx)
	require.ErrorIs(t, err, context.Canceled)
	assert.Nil(t, list)
	assert.Equal(t, 3, seen)
}

// The newest accepted list is found, whatever calls are newer.
func TestFromConversationFindsTheNewestList(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var want []todo.Todo
		var calls []todo.Call
		for i := range rapid.IntRange(0, 30).Draw(t, "calls") {
			content := fmt.Sprint("todo ", i)
			switch rapid.SampledFrom([]string{"good", "failed", "bad", "other"}).Draw(t, "kind") {
			case "good":
				if want == nil {
					want = only(content)
				}
				calls = append(calls, write(content))
			case "failed":
				calls = append(calls, failed(content, "Error: no"))
			case "bad":
				arguments := write(content).Arguments
				cut := rapid.IntRange(0, len(arguments)-1).Draw(t, "cut")
				calls = append(calls, todo.Call{Name: "TodoWrite", Arguments: arguments[:cut]})
			case "other":
				call := write(content)
				call.Name = "write_file"
				calls = append(calls, call)
			}
		}
		assert.Equal(t, want, todosOf(t, calls))
	})
}

func FuzzFromConversation(f *testing.F) {
	for _, seed := range []struct {
		name, arguments, result string
		answered                bool
	}{
		{"todo_write", `{"todos":` + abJSON + `}`, "saved", true},
		{"TodoWrite", `{"todos":"[x] a\n[ ] b"}`, "", false},
		{"update_plan", `{"plan":[{"step":"a","status":"completed"}]}`, `{"error":"boom"}`, true},
		{"todo__todo_write", `{"content":"- [x] a"}`, "<system>ERROR: boom</system>", true},
		{"write_todos", `{"__arg1":"{\"todos\":[\"a\"]}"}`, "❌ Error: boom", true},
		{"todo_write", `{"merge":true,"todos":[{"id":"1","status":"done"},{"content":"new"}]}`, "ok", true},
		{"manage_todo_list", `{"operation":"read","todoList":[]}`, "", true},
		{"search", `{}`, "", true},
		{"TaskCreate", `{"subject":"a"}`, "Task #1 created successfully: a", true},
		{"TaskUpdate", `{"taskId":"1","status":"done"}`, "#1 [x] a", true},
		{"todo", `{"action":"toggle","id":1}`, "Todo #1 completed", true},
		{"tool_call", `{"name":"TaskList","arguments":{}}`, "#1 [pending] a\n[x] #2: b", true},
		{"task_complete", `{"id":"1"}`, `{"content":[{"text":"- [ ] a"}]}`, true},
		{"todo_write", "[\"\xff\"]", "\xff", true},
	} {
		f.Add(seed.name, seed.arguments, seed.result, seed.answered)
	}
	f.Fuzz(func(t *testing.T, name, arguments, result string, answered bool) {
		call := todo.Call{Name: name, Arguments: arguments, Result: result, Answered: answered}
		calls := []todo.Call{call, write("old")}
		list := todosOf(t, calls)
		checkInvariants(t, list)
		require.Equal(t, list, todosOf(t, calls), "the same again")

		call.Name = "search"
		require.Equal(t, only("old"), todosOf(t, []todo.Call{call, write("old")}), "another tool")
		call = todo.Call{Name: "todo_write", Arguments: arguments, Result: "Error: " + result, Answered: true}
		require.Equal(t, only("old"), todosOf(t, []todo.Call{call, write("old")}), "failed")
	})
}

// Some tools that are called once per todo have the name of a list tool.
func TestASingleItemIsACallForEachTodo(t *testing.T) {
	t.Parallel()
	whole := todo.Call{Name: "todo", Arguments: `{"todos":[{"content":"whole"}]}`}
	for arguments, want := range map[string]string{
		`{"content":"one","status":"pending"}`:                   "whole",
		`{"__arg1":"{\"content\":\"one\",\"status\":\"done\"}"}`: "whole",
		`{"todos":{"content":"one"}}`:                            "one",
	} {
		ctx := todo.WithConversation(t.Context(), slices.Values([]todo.Call{{Name: "todo", Arguments: arguments}, whole}))
		list, err := todo.FromConversation().Todos(ctx)
		require.NoError(t, err)
		assert.Equal(t, []string{want}, contents(list), arguments)
	}
}

func TestToolsThatWriteTheList(t *testing.T) {
	t.Parallel()
	source, ok := todo.FromConversation(todo.WithToolNames("note_work")).(interface{ WritesList(tool string) bool })
	require.True(t, ok)
	for _, tool := range []string{
		"todo_write", "TodoWrite", "mcp__tasks__todo_write", "TaskCreate", "TaskUpdate", "task_complete", "note_work", "tool_call",
		"ToolSearch", "tool_search", "tool_search_tool_regex", "tool_search_tool_bm25",
	} {
		assert.True(t, source.WritesList(tool), tool)
	}
	for _, tool := range []string{"", "edit_file", "todo_read", "TaskList", "todo_pause", "search", "summarize"} {
		assert.False(t, source.WritesList(tool), tool)
	}
}

// The tool that marks todos as done is the one that has written the list, if it can, or the
// only one of the request that can.
func TestDoneTool(t *testing.T) {
	t.Parallel()
	source, ok := todo.FromConversation(todo.WithToolNames("note_work")).(interface {
		DoneTool(origin todo.Origin, offered iter.Seq[string]) string
	})
	require.True(t, ok)
	for _, c := range []struct {
		wrote, offered, want string
	}{
		{"TodoWrite", "Bash TodoWrite TaskUpdate", "TodoWrite"},
		{"note_work", "note_work todo_write", "note_work"},
		{"mcp__plan__update_plan", "mcp__plan__update_plan", "mcp__plan__update_plan"},
		{"todo_write", "mcp__plan__todo_write", "mcp__plan__todo_write"}, // as it is called now
		{"todo_write", "shell tool_call", "todo_write"},                  // which calls it
		{"todo_write", "", "todo_write"},                                 // the tools may stand in a text
		{"todo_write", "edit_file", ""},
		{"TaskCreate", "TaskCreate TaskUpdate TaskList TodoWrite", "TaskUpdate"},
		{"TaskList", "TaskList TaskUpdate", "TaskUpdate"},
		{"todos_add", "todos_add todos_remove todos_complete", "todos_complete"},
		{"create_todos", "create_todos list_todos update_todos", "update_todos"},
		{"todo_read", "todo_read todo_write", "todo_write"},
		{"todo_read", "todo_read todo_write update_plan", ""}, // one of two
		{"TaskCreate", "", ""},
		{"TaskCreate", "tool_call", ""},
		{"", "edit_file", ""},
	} {
		offered := slices.Values(strings.Fields(c.offered))
		assert.Equal(t, c.want, source.DoneTool(todo.Origin{Tool: c.wrote}, offered), "%q, offered %q", c.wrote, c.offered)
	}
	assert.Equal(t, "todo_write", source.DoneTool(todo.Origin{Tool: "todo_write"}, nil))
	assert.Empty(t, source.DoneTool(todo.Origin{Tool: "todo_read"}, nil))
}

// A list that is read counts as written when the model wrote it.
func TestListThatIsReadAfterItWasWritten(t *testing.T) {
	t.Parallel()
	shown := todo.Call{Name: "todo_read", Arguments: "{}", Result: `{"todos":[{"id":"1","content":"a","status":"pending"}]}`, Answered: true}
	earlier := write("a")
	earlier.UserMessagesAfter = 1
	for written, calls := range map[string][]todo.Call{
		"now":     {shown, {Name: "edit_file"}, write("a")},
		"earlier": {shown, {Name: "edit_file"}, earlier},
	} {
		list, origin, err := locate(calls)
		require.NoError(t, err)
		assert.Equal(t, only("a"), list)
		assert.Equal(t, "todo_read", origin.Tool)
		assert.Equal(t, written, origin.Written)
	}
}
