package todo_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/tooldef"
	"github.com/carryon-go/carryon/todo"
)

func FuzzHandleWrite(f *testing.F) {
	for _, seed := range []string{
		``, `null`, `[]`, `{"todos":[]}`, abJSON, quoted(abJSON), `{"__arg1":` + quoted(abJSON) + `}`, `["a",""]`, `[{"id":{}}]`,
		`{"content":"a","status":"doing"}`, `{"todos":{"content":"a"}}`, `{"merge":true,"todos":[{"id":"1","status":"done"},"new"]}`,
		`{"merge":true,"todos":[{"id":"9","status":"done"}]}`, `["a","b","c","d","e"]`, `["123456789"]`, "- [x] a\n- [ ] b", "[\"\xff\"]",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, arguments string) {
		const maxItems, maxContent = 4, 8
		memory := todo.NewMemory(todo.WithMaxItems(maxItems), todo.WithMaxContent(maxContent))
		require.NoError(t, memory.Write(in(t, "s"), listOf("kept 1", "kept 2")))
		before := memory.Read(in(t, "s"))
		var told [][]todo.Todo
		memory.Subscribe(func(_ string, list []todo.Todo) { told = append(told, list) })

		out, ok := memory.Handle(in(t, "s"), tooldef.TodoWrite, arguments)
		require.True(t, ok)
		require.Empty(t, memory.Read(in(t, "another")))
		after := memory.Read(in(t, "s"))
		if strings.HasPrefix(out, "Error: ") {
			require.True(t, strings.HasSuffix(out, ". The todo list was not changed."), out)
			require.Equal(t, before, after)
			require.Empty(t, told)
			return
		}
		checkInvariants(t, after)
		require.LessOrEqual(t, len(after), maxItems)
		require.False(t, slices.ContainsFunc(after, func(item todo.Todo) bool { return len(item.Content) > maxContent }))
		require.Len(t, told, 1)
		require.ElementsMatch(t, after, told[0])

		_, shown, _ := strings.Cut(out, "\n")
		var list []todo.Todo
		require.NoError(t, json.Unmarshal([]byte(shown), &list))
		require.ElementsMatch(t, after, list, "the model is told what the list is now")
		again, _ := memory.Handle(in(t, "s"), tooldef.TodoWrite, shown)
		require.Equal(t, out, again, "the list in the result can be sent back")
	})
}
