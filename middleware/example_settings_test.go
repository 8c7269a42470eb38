package middleware_test

import (
	"context"
	"fmt"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

func ExampleSettings_Command() {
	settings := middleware.New(todo.FromConversation()).Settings()
	for _, line := range []string{
		"/set todo-continuation false",
		"/set Approval_Mode=YOLO",
		"/set approval-mode reckless",
		"/set colour red",
		"/set",
		"Please fix the build.",
	} {
		if answer, _ := settings.Command(line); answer != "" {
			fmt.Println(answer)
			continue
		}
		fmt.Printf("to the model: %q\n", line)
	}
	// Output:
	// todo-continuation is now false.
	// approval-mode is now yolo.
	// approval-mode cannot be "reckless". It can be default or yolo.
	// There is no setting "colour". The settings are todo-continuation and approval-mode.
	// Settings: todo-continuation is false, approval-mode is yolo. Change one with /set NAME VALUE.
	// to the model: "Please fix the build."
}

func ExampleSettings_CommandFor() {
	settings := middleware.New(todo.FromConversation()).Settings()
	for _, line := range []string{"/set todo-continuation off", "/set todo-continuation maybe", "hello"} {
		answer, err := settings.CommandFor(context.Background(), "conversation-42", line)
		switch {
		case answer == "":
			fmt.Println("not a command")
		case err != nil:
			fmt.Println("refused:", err)
		default:
			fmt.Println(answer)
		}
	}
	for _, session := range []string{"conversation-42", "another"} {
		values, err := settings.Load(context.Background(), session)
		fmt.Println(values.TodoContinuation, err)
	}
	// Output:
	// todo-continuation is now false.
	// refused: middleware: invalid value of a setting: todo-continuation cannot be "maybe" (valid: true, false)
	// not a command
	// false <nil>
	// true <nil>
}

func ExampleSettings() {
	settings := middleware.New(todo.FromConversation()).Settings()
	_ = settings.SetTodoContinuation(context.Background(), "quiet", false)                                // one session
	if err := settings.SetApprovalMode(context.Background(), "", continuation.ApprovalYOLO); err != nil { // all others
		fmt.Println(err)
	}
	for _, session := range []string{"quiet", "other"} {
		values, err := settings.Load(context.Background(), session)
		fmt.Println(values.TodoContinuation, values.ApprovalMode, err)
	}
	_ = settings.Reset(context.Background(), "quiet")
	values, err := settings.Load(context.Background(), "quiet")
	fmt.Println(values.TodoContinuation, err)

	fmt.Println(settings.SetApprovalMode(context.Background(), "", "reckless"))
	// Output:
	// false yolo <nil>
	// true yolo <nil>
	// true <nil>
	// continuation: unknown approval mode "reckless" (valid: default, yolo)
}
