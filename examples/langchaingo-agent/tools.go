package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/carryon-go/carryon/todo"
)

// todoTool is todo_write as a tool of langchaingo, whose input is a string.
type todoTool struct{ todos *todo.Memory }

func (t *todoTool) Name() string { return todo.WriteTool().Name }

func (t *todoTool) Description() string {
	return `Write the whole todo list anew, as JSON: [{"id": "1", "content": "what has to be done", ` +
		`"status": "pending"}]. A status is pending, in_progress, completed or cancelled.`
}

func (t *todoTool) Call(ctx context.Context, input string) (string, error) {
	result, _ := t.todos.Handle(ctx, todo.WriteTool().Name, input)
	return result, nil
}

// fileTool writes files to memory.
type fileTool struct{ written map[string]string }

func (f *fileTool) Name() string { return "write_file" }

func (f *fileTool) Description() string {
	return "Write a text file. The first line of the input is the path, the others are the content."
}

func (f *fileTool) Call(_ context.Context, input string) (string, error) {
	path, content, _ := strings.Cut(input, "\n")
	path = strings.TrimSpace(path)
	if path == "" {
		return "Error: the first line must be a path.", nil
	}
	f.written[path] = content
	return fmt.Sprintf("Wrote %s, %d bytes.", path, len(content)), nil
}
