package todo_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/todo"
)

func TestStatusActive(t *testing.T) {
	t.Parallel()
	for status, want := range map[todo.Status]bool{
		todo.Pending:    true,
		todo.InProgress: true,
		todo.Completed:  false,
		todo.Cancelled:  false,
		"":              false,
		"blocked":       false,
		"Pending":       false,
	} {
		assert.Equal(t, want, status.Active(), "status %q", status)
	}
}

func TestTodoJSON(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(todo.Todo{ID: "1", Content: "write", Status: todo.InProgress})
	require.NoError(t, err)
	assert.JSONEq(t, `{"id":"1","content":"write","status":"in_progress"}`, string(text))

	text, err = json.Marshal(todo.Todo{Priority: "high"})
	require.NoError(t, err)
	assert.JSONEq(t, `{"id":"","content":"","status":"","priority":"high"}`, string(text))
}
