package todo_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/todo"
)

func TestConversationFromIsNeverNil(t *testing.T) {
	t.Parallel()
	none := todo.ConversationFrom(t.Context())
	require.NotNil(t, none)
	assert.Empty(t, slices.Collect(none))

	none = todo.ConversationFrom(todo.WithConversation(t.Context(), nil))
	require.NotNil(t, none)
	assert.Empty(t, slices.Collect(none))
}

func TestConversationIsLazyAndInnermost(t *testing.T) {
	t.Parallel()
	calls := []todo.Call{
		{ID: "b", Name: "todo_write", Arguments: "[]", Result: "saved", Answered: true},
		{ID: "a", Name: "search", Arguments: "{}"},
	}
	made := 0
	ctx := todo.WithConversation(t.Context(), slices.Values(calls[1:]))
	ctx = todo.WithConversation(ctx, func(yield func(todo.Call) bool) {
		for _, call := range calls {
			made++
			if !yield(call) {
				return
			}
		}
	})
	assert.Zero(t, made)
	for call := range todo.ConversationFrom(ctx) {
		assert.Equal(t, calls[0], call)
		break
	}
	assert.Equal(t, 1, made)
	assert.Equal(t, calls, slices.Collect(todo.ConversationFrom(ctx)))

	// A nil conversation hides the one of the outer ctx.
	assert.Empty(t, slices.Collect(todo.ConversationFrom(todo.WithConversation(ctx, nil))))
}
