// Package frameworktest tests whether a framework for agents finishes its todo list with carryon, and stops early without.
package frameworktest

import (
	"context"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// Task is what the agents are asked to do.
const Task = "Write and test the parser."

// Program works on the task with a framework's own loop. It sends its requests to url, which ends in /v1, with client, and
// offers the model todo_write and write_file.
type Program func(ctx context.Context, url string, client *http.Client, tools *Tools) error

// Run runs a program against a model that stalls with its list open. The framework's loop ends there. With carryon in the
// HTTP client, it finishes the list.
func Run(t *testing.T, program Program) {
	t.Helper()
	assert.Equal(t, []string{"parser.go"}, work(t, program, nil), "without carryon")
	mw := middleware.New(todo.FromConversation(), middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off}))
	assert.Equal(t, []string{"parser.go", "parser_test.go"}, work(t, program, transport.New(nil, mw)), "with carryon")
}

// work returns the files that a program writes with this transport, and checks that its list is done only if it wrote all.
func work(t *testing.T, program Program, rt http.RoundTripper) []string {
	t.Helper()
	list := func(parser, tests string) string {
		return `{"todos":[{"content":"Write the parser","status":"` + parser + `"},{"content":"Test the parser","status":"` + tests + `"}]}`
	}
	server := carryontest.Start(
		carryontest.Call("todo_write", list("in_progress", "pending")),
		carryontest.Call("write_file", `{"path":"parser.go"}`),
		carryontest.Text("The parser is written. Next come the tests."),
		carryontest.Call("write_file", `{"path":"parser_test.go"}`),
		carryontest.Call("todo_write", list("completed", "completed")),
		carryontest.Text("Parser and tests are done."),
	)
	t.Cleanup(server.Close)
	tools := &Tools{}
	require.NoError(t, program(t.Context(), server.URL(), &http.Client{Transport: rt}, tools))
	assert.Equal(t, len(tools.files) == 2, tools.finished, "%q", tools.files)
	return tools.files
}

// Tools are the tools of an agent. A framework may call them from several goroutines.
type Tools struct {
	mu       sync.Mutex
	files    []string
	finished bool
}

// Todos are the arguments of todo_write.
type Todos struct {
	Todos []Todo `json:"todos"`
}

// Todo is one item of a list.
type Todo struct {
	Content string `json:"content"`
	Status  string `json:"status"`
}

// File is the argument of write_file.
type File struct {
	Path string `json:"path"`
}

// WriteTodos answers a call of todo_write.
func (t *Tools) WriteTodos(list Todos) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.finished = len(list.Todos) > 0
	for _, todo := range list.Todos {
		t.finished = t.finished && todo.Status == "completed"
	}
	return "ok"
}

// WriteFile answers a call of write_file.
func (t *Tools) WriteFile(file File) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.files = append(t.files, file.Path)
	return "ok"
}
