package continuation_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/scope"
)

func TestSession(t *testing.T) {
	t.Parallel()
	assert.Empty(t, continuation.Session(t.Context()))
	ctx := continuation.WithSession(t.Context(), "a")
	assert.Equal(t, "a", continuation.Session(ctx))
	assert.Equal(t, "b", continuation.Session(continuation.WithSession(ctx, "b")), "the innermost counts")
	assert.Empty(t, continuation.Session(continuation.WithSession(ctx, "")), "the empty name is no session")
	assert.Equal(t, "a", continuation.Session(ctx))
}

func TestContextHelpersReachTheSharedScope(t *testing.T) {
	t.Parallel()
	ctx := continuation.WithSession(t.Context(), "a")
	assert.Equal(t, "a", scope.Session(ctx))

	assert.False(t, scope.Suppressed(ctx))
	assert.True(t, scope.Suppressed(continuation.Suppress(ctx)))
	assert.False(t, scope.IsAutomatic(ctx))
	assert.True(t, scope.IsAutomatic(continuation.Automatic(ctx)))

	_, ok := scope.UserTurn(ctx)
	assert.False(t, ok)
	id, ok := scope.UserTurn(continuation.WithUserTurn(ctx, ""))
	assert.True(t, ok, "the empty name is one too")
	assert.Empty(t, id)
}

func TestFromContext(t *testing.T) {
	t.Parallel()
	_, ok := continuation.FromContext(t.Context())
	assert.False(t, ok)

	want := continuation.TurnID{Session: "a", Turn: 2, Attempt: 1}
	ctx, cancel := context.WithCancel(scope.WithTurn(t.Context(), scope.TurnID(want)))
	defer cancel()
	got, ok := continuation.FromContext(ctx)
	assert.True(t, ok)
	assert.Equal(t, want, got)

	_, ok = continuation.FromContext(scope.WithTurn(t.Context(), scope.TurnID{}))
	assert.True(t, ok, "an id without values is one too")
}
