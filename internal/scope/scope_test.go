package scope_test

import (
	"context"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/internal/scope"
)

func TestNothingIsSetAtFirst(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	assert.Empty(t, scope.Session(ctx))
	assert.False(t, scope.Suppressed(ctx))
	assert.False(t, scope.IsAutomatic(ctx))
	assert.False(t, scope.InLayer(ctx))
	_, ok := scope.UserTurn(ctx)
	assert.False(t, ok)
}

func TestEachValueIsItsOwn(t *testing.T) {
	t.Parallel()
	type facts struct {
		session                      string
		suppressed, automatic, layer bool
		turn                         string
		named                        bool
	}
	read := func(ctx context.Context) facts {
		turn, named := scope.UserTurn(ctx)
		return facts{scope.Session(ctx), scope.Suppressed(ctx), scope.IsAutomatic(ctx), scope.InLayer(ctx), turn, named}
	}
	for name, c := range map[string]struct {
		ctx  context.Context
		want facts
	}{
		"session":    {scope.WithSession(t.Context(), "a"), facts{session: "a"}},
		"suppressed": {scope.Suppress(t.Context()), facts{suppressed: true}},
		"automatic":  {scope.Automatic(t.Context()), facts{automatic: true}},
		"layer":      {scope.EnterLayer(t.Context()), facts{layer: true}},
		"user turn":  {scope.WithUserTurn(t.Context(), "1"), facts{turn: "1", named: true}},
		"unnamed":    {scope.WithUserTurn(t.Context(), ""), facts{named: true}},
		"all": {
			scope.WithUserTurn(scope.EnterLayer(scope.Automatic(scope.Suppress(scope.WithSession(t.Context(), "a")))), "1"),
			facts{"a", true, true, true, "1", true},
		},
	} {
		assert.Equal(t, c.want, read(c.ctx), name)
	}
}

func TestTheInnermostCounts(t *testing.T) {
	t.Parallel()
	outer := scope.WithUserTurn(scope.WithSession(t.Context(), "a"), "1")
	inner := scope.WithUserTurn(scope.WithSession(outer, ""), "2")
	assert.Empty(t, scope.Session(inner), `"" is no session`)
	turn, _ := scope.UserTurn(inner)
	assert.Equal(t, "2", turn)
	assert.Equal(t, "a", scope.Session(outer), "the outer ctx is as it was")
}

func TestTurn(t *testing.T) {
	t.Parallel()
	_, ok := scope.Turn(t.Context())
	assert.False(t, ok)
	want := scope.TurnID{Session: "a", Turn: 2, Attempt: 1}
	got, ok := scope.Turn(scope.WithTurn(t.Context(), want))
	assert.True(t, ok)
	assert.Equal(t, want, got)
}

func TestLongNamesAreShortened(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ü", 1<<20)
	for _, name := range []string{"", "a", long[:scope.MaxName]} {
		assert.Equal(t, name, scope.Name(name))
	}
	for _, name := range []string{long, long + "a", "a" + long, long[:scope.MaxName] + "a"} {
		short := scope.Name(name)
		assert.LessOrEqual(t, len(short), scope.MaxName)
		assert.True(t, utf8.ValidString(short))
		assert.True(t, strings.HasPrefix(name, short[:40]), "people know it by its beginning")
		assert.Equal(t, short, scope.Name(short))
		assert.Equal(t, short, scope.Session(scope.WithSession(t.Context(), name)))
	}
	assert.NotEqual(t, scope.Name(long), scope.Name(long+"a"))
}
