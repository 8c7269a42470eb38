package todo_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/tooldef"
	"github.com/carryon-go/carryon/records"
	"github.com/carryon-go/carryon/todo"
)

// failing is an engine that cannot be reached.
type failing struct{}

func (failing) Update(context.Context, string, records.UpdateFunc) error { return assert.AnError }

func TestTwoProcessesShareLists(t *testing.T) {
	t.Parallel()
	engine := records.NewMemoryEngine()
	a, b := todo.NewMemory(todo.WithRecords(engine)), todo.NewMemory(todo.WithRecords(engine))
	alice, bob := in(t, "alice"), in(t, "bob")

	result, ok := a.Handle(alice, "todo_write", `{"todos":[{"id":"1","content":"x","status":"pending"}]}`)
	require.True(t, ok)
	assert.Contains(t, result, "1 todo, 1 left")
	assert.Equal(t, []string{"x"}, contents(b.Read(alice)))
	assert.Empty(t, b.Read(bob))

	_, _ = b.Handle(alice, "todo_write", `{"merge":true,"todos":[{"id":"1","status":"completed"},{"id":"2","content":"y"}]}`)
	list, err := a.Todos(alice)
	require.NoError(t, err)
	assert.Equal(t, []todo.Todo{
		{ID: "1", Content: "x", Status: todo.Completed}, {ID: "2", Content: "y", Status: todo.Pending},
	}, list)

	require.Error(t, a.Write(alice, []todo.Todo{{Content: " "}}), "a refused list keeps the old one")
	assert.Len(t, b.Read(alice), 2)
	require.NoError(t, b.Write(alice, nil))
	list, err = a.Todos(alice)
	require.NoError(t, err, "a list that was cleared is an empty one")
	assert.Empty(t, list)

	require.NoError(t, a.Forget(alice))
	require.NoError(t, a.Write(alice, nil))
	_, err = b.Todos(alice)
	require.ErrorIs(t, err, todo.ErrNoList)
	assert.Zero(t, engine.Len())
}

func TestListsOfAnEngineAreKeptForTheirTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		engine := records.NewMemoryEngine()
		day := todo.NewMemory(todo.WithRecords(engine), todo.WithMaxAge(24*time.Hour))
		ever := todo.NewMemory(todo.WithRecords(records.WithPrefix(engine, "ever:")), todo.WithMaxAge(todo.Off))
		for _, memory := range []*todo.Memory{day, ever} {
			require.NoError(t, memory.Write(in(t, "s"), []todo.Todo{{Content: "x"}}))
		}
		for range 3 {
			<-time.After(23 * time.Hour)
			assert.Len(t, day.Read(in(t, "s")), 1, "reading a list keeps it")
		}
		<-time.After(24 * time.Hour)
		assert.Empty(t, day.Read(in(t, "s")))
		assert.Len(t, ever.Read(in(t, "s")), 1)
	})
}

func TestSubscribersHearOfListsThatThisProcessWrites(t *testing.T) {
	t.Parallel()
	engine := records.NewMemoryEngine()
	a, b := todo.NewMemory(todo.WithRecords(engine)), todo.NewMemory(todo.WithRecords(engine))
	var heard [][]string
	a.Subscribe(func(_ string, list []todo.Todo) { heard = append(heard, contents(list)) })
	require.NoError(t, a.Write(in(t, "s"), []todo.Todo{{Content: "x"}}))
	require.NoError(t, b.Write(in(t, "s"), []todo.Todo{{Content: "y"}}))
	require.NoError(t, a.Forget(in(t, "s")))
	require.NoError(t, a.Forget(in(t, "s")))
	assert.Equal(t, [][]string{{"x"}, nil}, heard)
}

func TestAnEngineThatFailsIsReported(t *testing.T) {
	t.Parallel()
	memory := todo.NewMemory(todo.WithRecords(failing{}))
	ctx := in(t, "s")
	_, err := memory.Todos(ctx)
	require.ErrorIs(t, err, assert.AnError)
	require.ErrorIs(t, memory.Write(ctx, []todo.Todo{{Content: "x"}}), assert.AnError)
	require.ErrorIs(t, memory.Forget(ctx), assert.AnError)
	assert.Nil(t, memory.Read(ctx))
	for tool, want := range map[string]string{
		tooldef.TodoWrite: "Error: the list cannot be reached just now. The todo list was not changed.",
		tooldef.TodoRead:  "Error: the list cannot be reached just now.",
	} {
		result, ok := memory.Handle(ctx, tool, `{"todos":[]}`)
		assert.True(t, ok)
		assert.Equal(t, want, result, "the model does not see the engine's error")
	}
}

func TestOptionsOfEnginesAreChecked(t *testing.T) {
	t.Parallel()
	for want, opt := range map[string]todo.MemoryOption{
		"WithRecords: nil Records":          todo.WithRecords(nil),
		"WithMaxAge: 0s is not positive":    todo.WithMaxAge(0),
		"WithMaxAge: -1h0m0s is not posit":  todo.WithMaxAge(-time.Hour),
		"WithMaxAge: -2ns is not positive ": todo.WithMaxAge(-2),
	} {
		func() {
			defer func() { assert.Contains(t, recover(), want) }()
			todo.NewMemory(opt)
		}()
	}
}
