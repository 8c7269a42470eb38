package todo_test

import (
	"context"
	"errors"
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
