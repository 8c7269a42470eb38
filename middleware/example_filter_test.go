package middleware_test

import (
	"context"
	"fmt"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// texts is the dialect of the values of the SDK's callback: plain text.
type texts struct{}

func (texts) Read(text *string, s adapter.TurnReader) { s.Text(*text) }

func (texts) AppendShown(dst []string, text *string, e *adapter.Edit) []string {
	if e.Text == "" {
		return dst
	}
	return append(dst, e.Text)
}

func (texts) Clone(text *string) string { return *text }

func (texts) EndTurn(bool) {}

// An adapter for an SDK that streams to a callback during a unary call needs a third
// dialect, for the values of the callback.
func Example_adapterOfACallback() {
	model := &sdkClient{turns: []sdkAnswer{
		{Text: "Next I will fix the build.", Stop: "stop"},
		{Text: "It can't be done.", Stop: "tools", Calls: []sdkCall{
			{Name: "todo_pause", Args: `{"reason": "The compiler is not installed"}`},
		}},
	}}
	todos := todo.Static(todo.Todo{ID: "1", Content: "Fix the build", Status: todo.InProgress})
	agent := &client{model, middleware.New(todos)}

	answer, err := agent.Complete(context.Background(), sdkRequest{
		Messages: []sdkMessage{{Role: "user", Text: "Fix the build."}},
		Tools:    []sdkTool{{Name: "edit_file"}},
		OnText:   func(text string) error { fmt.Print(text); return nil },
	})
	fmt.Println()
	fmt.Println(len(answer.Calls), answer.Stop, err)
	// Output:
	// Next I will fix the build.
	//
	// It can't be done.
	//
	// Task paused: The compiler is not installed
	// 0 stop <nil>
}
