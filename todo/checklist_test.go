package todo_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/todo"
)

func TestParseListReadsChecklists(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"plain":           "[x] a\n[ ] b",
		"bullets":         "- [x] a\n- [ ] b",
		"other bullets":   "* [X] a\n+ [ ] b",
		"numbers":         "1. [x] a\n2) [ ] b",
		"words":           "[completed] a\n[pending] b",
		"signs":           "- [✓] a\n- [?] b",
		"headings, notes": "# Plan\n\nFirst things first:\n- [x] a\n  - see [1] and [the docs](https://go.dev)\n- [ ] b\n",
		"nested":          "- [x] a\n\t- [ ] b",
		"Windows":         "- [x] a\r\n- [ ] b\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, arguments := range []string{
				text, quoted(text), `{"todos":` + quoted(text) + `}`, `{"checklist":` + quoted(text) + `}`,
				`{"content":` + quoted(text) + `}`, `{"__arg1":` + quoted(text) + `}`,
				`{"__arg1":` + quoted(`{"todos":`+quoted(text)+`}`) + `}`,
			} {
				list, err := todo.ParseList(arguments)
				require.NoError(t, err, arguments)
				assert.Equal(t, ab, list, arguments)
			}
		})
	}
}

func TestChecklistMarks(t *testing.T) {
	t.Parallel()
	for want, marks := range map[todo.Status][]string{
		todo.Pending:    {" ", "  ", "?", "!", "⏳", "todo", "Not started"},
		todo.InProgress: {"-", " - ", "~", "/", ">", "*", "in progress", " in_progress "},
		todo.Completed:  {"x", "X", " x ", "✓", "✔", "✅", "done"},
		todo.Cancelled:  {"cancelled", "skipped"},
	} {
		for _, mark := range marks {
			list, err := todo.ParseList("- [" + mark + "] Fix the bug")
			require.NoError(t, err, mark)
			assert.Equal(t, []todo.Todo{{ID: "1", Content: "Fix the bug", Status: want}}, list, mark)
		}
	}
}

func TestTextWithoutACheckBoxIsNoList(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "Fix the bug", "- a\n- b", "1. a\n2. b", "[docs](https://go.dev)", "[1] a", "[2026-10-06] a", "[x]", "[x]a",
		"[x", "x] a", "[] a", "[x] ", "---", "[wait] a", "12 [x] a", ") [x] a", strings.Repeat("[", 1000),
	} {
		for _, arguments := range []string{text, `{"todos":` + quoted(text) + `}`, `{"content":` + quoted(text) + `}`} {
			_, err := todo.ParseList(arguments)
			require.ErrorIs(t, err, todo.ErrArguments, arguments)
		}
	}
}

func TestContentOfAnItemIsNotAChecklist(t *testing.T) {
	t.Parallel()
	list, err := todo.ParseList(`{"todos":[{"content":"- [x] a","status":"pending"},"[x] b"]}`)
	require.NoError(t, err)
	assert.Equal(t, []todo.Todo{
		{ID: "1", Content: "- [x] a", Status: todo.Pending},
		{ID: "2", Content: "[x] b", Status: todo.Pending},
	}, list)
}
