package postgres_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/records"
	"github.com/carryon-go/carryon/stores/postgres"
	"github.com/carryon-go/carryon/todo"
)

// Two replicas of a program share lists and sessions. The URL is such as
// postgres://user:password@host/database.
func Example() { //nolint:testableexamples // TestExample runs it where there is a server
	ctx := continuation.WithSession(context.Background(), "conversation-42")
	open := func() *postgres.Engine {
		engine, err := postgres.Open(ctx, os.Getenv("DATABASE_URL"))
		if err != nil {
			panic(err)
		}
		if err := engine.CreateTable(ctx); err != nil {
			panic(err)
		}
		return engine
	}
	replica := func(engine records.Records) (*todo.Memory, *middleware.Middleware) {
		todos := todo.NewMemory(todo.WithRecords(engine))
		return todos, middleware.New(todos, middleware.WithRecords(engine))
	}
	engineOfA, engineOfB := open(), open()
	defer func() { _, _ = engineOfA.Close(), engineOfB.Close() }()
	todosOfA, a := replica(engineOfA)
	todosOfB, b := replica(engineOfB)

	fmt.Println(todosOfA.Write(ctx, []todo.Todo{{Content: "Paint the fence"}}))
	list, err := todosOfB.Todos(ctx)
	fmt.Println(list[0].Content, err)
	fmt.Println(a.Pause(ctx, "The paint is missing"))
	state, err := b.State(ctx)
	fmt.Println(state.Paused.Reason, err)
	// It prints:
	// <nil>
	// Paint the fence <nil>
	// <nil>
	// The paint is missing <nil>
}

// The example runs where there is a server.
func TestExample(t *testing.T) {
	t.Setenv("DATABASE_URL", server(t).URL)
	assert.Equal(t, "<nil>\nPaint the fence <nil>\n<nil>\nThe paint is missing <nil>\n", printed(t, Example))
}

// printed returns what f prints. Nothing else may run meanwhile.
func printed(t *testing.T, f func()) string {
	t.Helper()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	stdout := os.Stdout //nolint:forbidigo // where an example prints
	os.Stdout = w       //nolint:forbidigo // as above
	f()
	os.Stdout = stdout //nolint:forbidigo // as above
	require.NoError(t, w.Close())
	text, err := io.ReadAll(r)
	require.NoError(t, err)
	return string(text)
}
