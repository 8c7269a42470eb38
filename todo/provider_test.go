package todo_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/todo"
)

func TestStaticIsACopyBothWays(t *testing.T) {
	t.Parallel()
	source := []todo.Todo{{ID: "1", Content: "write"}}
	provider := todo.Static(source...)
	source[0].Content = "changed by the caller"

	first, err := provider.Todos(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []todo.Todo{{ID: "1", Content: "write"}}, first)
	first[0].Content = "changed by the reader"

	second, err := provider.Todos(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "write", second[0].Content)
}

func TestStaticWithoutTodos(t *testing.T) {
	t.Parallel()
	list, err := todo.Static().Todos(t.Context())
	require.NoError(t, err)
	assert.Empty(t, list)
}

func TestProviderFunc(t *testing.T) {
	t.Parallel()
	broken := errors.New("database is down")
	type key struct{}
	provider := todo.ProviderFunc(func(ctx context.Context) ([]todo.Todo, error) {
		if ctx.Value(key{}) != nil {
			return nil, broken
		}
		return []todo.Todo{{ID: "7"}}, nil
	})

	list, err := provider.Todos(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []todo.Todo{{ID: "7"}}, list)

	_, err = provider.Todos(context.WithValue(t.Context(), key{}, true))
	require.ErrorIs(t, err, broken)

	assert.PanicsWithValue(t, "carryon/todo: nil ProviderFunc", func() {
		_, _ = todo.ProviderFunc(nil).Todos(t.Context())
	})
}

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
