package todo_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/todo"
)

func TestHandleWrite(t *testing.T) {
	t.Parallel()
	memory := todo.NewMemory(todo.WithOneConversation())
	for _, test := range []struct{ arguments, want string }{
		{
			`{"todos":[{"id":1,"content":"read <it> & weep","status":"done"},{"content":"b","status":"doing","priority":"high"},"c"]}`,
			"Todo list saved: 3 todos, 2 left to do.\n" +
				`[{"id":"1","content":"read <it> & weep","status":"completed"},` +
				`{"id":"2","content":"b","status":"in_progress","priority":"high"},` +
				`{"id":"3","content":"c","status":"pending"}]`,
		},
		{`["a"]`, "Todo list saved: 1 todo, 1 left to do.\n" + `[{"id":"1","content":"a","status":"pending"}]`},
		{`{"todos":[]}`, "Todo list cleared.\n[]"},
	} {
		out, ok := memory.Handle(in(t, "s"), "todo_write", test.arguments)
		assert.True(t, ok)
		assert.Equal(t, test.want, out)
		read, ok := memory.Handle(in(t, "s"), "todo_read", `{}`)
		assert.True(t, ok)
		assert.Equal(t, test.want[strings.Index(test.want, "\n")+1:], read)
	}
	assert.Empty(t, memory.Read(t.Context()), "another session")
}

func TestHandleErrorsAreForTheModel(t *testing.T) {
	t.Parallel()
	memory := todo.NewMemory(todo.WithOneConversation(), todo.WithMaxItems(2))
	require.NoError(t, memory.Write(t.Context(), listOf("kept")))
	for arguments, want := range map[string]string{
		``:              `Error: the arguments are empty; send the whole list as {"todos":[{"id":"1","content":"what has to be done","status":"pending"}]}. The todo list was not changed.`,
		`["a",""]`:      `Error: item 2: content is missing or blank; send what has to be done as a string that is not blank. The todo list was not changed.`,
		`["a","b","c"]`: `Error: the list has 3 todos; send at most 2. The todo list was not changed.`,
	} {
		out, ok := memory.Handle(t.Context(), "todo_write", arguments)
		assert.True(t, ok)
		assert.Equal(t, want, out)
		assert.Equal(t, []string{"kept"}, contents(memory.Read(t.Context())))
	}
}

func TestHandleASingleItem(t *testing.T) {
	t.Parallel()
	memory := todo.NewMemory(todo.WithOneConversation())
	for _, arguments := range []string{`{"content":"a","status":"doing"}`, `{"todos":{"content":"a","status":"doing"}}`} {
		out, _ := memory.Handle(t.Context(), "todo_write", arguments)
		assert.Equal(t, "Todo list saved: 1 todo, 1 left to do.\n"+`[{"id":"1","content":"a","status":"in_progress"}]`, out)
	}
}

func TestHandleMerge(t *testing.T) {
	t.Parallel()
	memory := todo.NewMemory(todo.WithMaxItems(3), todo.WithMaxContent(8))
	ctx := in(t, "s")
	var seen recorder
	require.NoError(t, memory.Write(ctx, listOf("a", "b")))
	memory.Subscribe(seen.notify)
	for _, test := range []struct{ arguments, want string }{
		{
			`{"merge":true,"todos":[{"id":1,"status":"done"},{"id":"c","content":"new","status":"doing"}]}`,
			"Todo list saved: 3 todos, 2 left to do.\n" + `[{"id":"1","content":"a","status":"completed"},` +
				`{"id":"2","content":"b","status":"pending"},{"id":"c","content":"new","status":"in_progress"}]`,
		},
		{
			`{"merge":true,"todos":[{"id":"2","content":"better"},{"id":"7","status":"done"}]}`,
			"Error: item 2: the list has no todo of this id, and content is missing or blank; " +
				"send what has to be done as a string that is not blank. The todo list was not changed.",
		},
		{`{"merge":true,"todos":[{"status":"done"}]}`, "Error: item 1: the list has no todo of this id, and content is missing or blank; " +
			"send what has to be done as a string that is not blank. The todo list was not changed."},
		{`{"merge":true,"todos":["fourth"]}`, "Error: the list has 4 todos; send at most 3. The todo list was not changed."},
		{`{"merge":true,"todos":["1","2","3","4"]}`, "Error: the list has 4 todos; send at most 3. The todo list was not changed."},
		{`{"merge":true,"todos":[{"id":"2","content":"too long!"}]}`, "Error: item 2: content has 9 bytes; send at most 8. The todo list was not changed."},
		{`{"merge":true,"todos":[{"id":"2","status":3}]}`, "Error: item 1: status is a number; send one of pending, in_progress, completed, cancelled. The todo list was not changed."},
		{
			`{"merge":true,"todos":[{"id":"2","status":"doing"}]}`,
			"Todo list saved: 3 todos, 2 left to do.\n" + `[{"id":"1","content":"a","status":"completed"},` +
				`{"id":"2","content":"b","status":"pending"},{"id":"c","content":"new","status":"in_progress"}]`,
		},
	} {
		out, ok := memory.Handle(ctx, "todo_write", test.arguments)
		assert.True(t, ok)
		assert.Equal(t, test.want, out, test.arguments)
	}
	assert.Equal(t, []string{"s[a b new]", "s[a b new]"}, seen.take(), "only what took effect")
	assert.Empty(t, memory.Read(t.Context()), "another session")
}

func TestHandleMergeOfSeveralChangesOfOneTodo(t *testing.T) {
	t.Parallel()
	memory := todo.NewMemory(todo.WithOneConversation())
	out, _ := memory.Handle(t.Context(), "todo_write", `{"merge":true,"todos":[{"id":"n","content":"a"},{"id":"n","status":"done"}]}`)
	assert.Equal(t, "Todo list saved: 1 todo, 0 left to do.\n"+`[{"id":"n","content":"a","status":"completed"}]`, out)
}

// An item that was encoded as a string is read like any other.
func TestHandleMergeOfAnItemInAString(t *testing.T) {
	t.Parallel()
	memory := todo.NewMemory(todo.WithOneConversation())
	require.NoError(t, memory.Write(t.Context(), []todo.Todo{{ID: "n", Content: "a", Status: todo.Completed}}))
	memory.Handle(t.Context(), "todo_write", `{"merge":true,"todos":["{\"id\":\"n\",\"content\":\"b\"}"]}`)
	assert.Equal(t, []todo.Todo{{ID: "n", Content: "b", Status: todo.Completed}}, memory.Read(t.Context()))
}

// Changes that are merged must not undo one another.
func TestHandleMergeIsAtomic(t *testing.T) {
	t.Parallel()
	const workers, each = 8, 50
	memory := todo.NewMemory(todo.WithOneConversation())
	var group sync.WaitGroup
	for worker := range workers {
		group.Go(func() {
			for i := range each {
				memory.Handle(in(t, "s"), "todo_write", fmt.Sprintf(`{"merge":true,"todos":[{"id":"%d-%d","content":"x"}]}`, worker, i))
			}
		})
	}
	group.Wait()
	assert.Len(t, memory.Read(in(t, "s")), workers*each)
}

func TestHandleNames(t *testing.T) {
	t.Parallel()
	memory := todo.NewMemory(todo.WithOneConversation())
	for name, want := range map[string]bool{
		"todo_write": true, "todo_read": true, "Todo_Write": true, "TODO_READ": true,
		"": false, "todo": false, "todo_write2": false, " todo_write": false, "todo_pause": false, "search": false,
	} {
		_, ok := memory.Handle(t.Context(), name, `["a"]`)
		assert.Equal(t, want, ok, name)
	}
}

func TestHandleReadIgnoresArguments(t *testing.T) {
	t.Parallel()
	out, ok := todo.NewMemory(todo.WithOneConversation()).Handle(t.Context(), "todo_read", "not JSON")
	assert.True(t, ok)
	assert.Equal(t, "[]", out)
}

func TestDefinitions(t *testing.T) {
	t.Parallel()
	for name, definition := range map[string]todo.Definition{"todo_write": todo.WriteTool(), "todo_read": todo.ReadTool()} {
		assert.Equal(t, name, definition.Name)
		assert.NotEmpty(t, definition.Description)
		assert.Less(t, len(definition.Description), 1024, "what providers accept")

		var schema map[string]any
		require.NoError(t, json.Unmarshal(definition.Parameters, &schema))
		assert.Equal(t, "object", schema["type"])
		assert.Contains(t, schema, "properties")

		text, err := json.Marshal(definition)
		require.NoError(t, err)
		var function map[string]any
		require.NoError(t, json.Unmarshal(text, &function))
		assert.Equal(t, name, function["name"])
		assert.Equal(t, schema, function["parameters"])
	}
}

func TestDefinitionsAreTheCallersOwn(t *testing.T) {
	t.Parallel()
	clear(todo.WriteTool().Parameters)
	assert.True(t, json.Valid(todo.WriteTool().Parameters))
}

// TestWriteToolDescribesTodo checks that the schema, the struct and ParseList have
// the same fields.
func TestWriteToolDescribesTodo(t *testing.T) {
	t.Parallel()
	var schema struct {
		Properties struct {
			Todos struct {
				Items struct {
					Properties map[string]struct{ Enum []string }
				}
			}
		}
	}
	require.NoError(t, json.Unmarshal(todo.WriteTool().Parameters, &schema))
	properties := schema.Properties.Todos.Items.Properties
	assert.Equal(t, []string{"pending", "in_progress", "completed", "cancelled"}, properties["status"].Enum)

	full := todo.Todo{ID: "7", Content: "a", Status: todo.Cancelled, Priority: "low"}
	text, err := json.Marshal([]todo.Todo{full})
	require.NoError(t, err)
	var items []map[string]any
	require.NoError(t, json.Unmarshal(text, &items))
	for name := range items[0] {
		assert.Contains(t, properties, name)
	}
	assert.Len(t, properties, len(items[0]))

	list, err := todo.ParseList(string(text))
	require.NoError(t, err)
	assert.Equal(t, []todo.Todo{full}, list)
}
