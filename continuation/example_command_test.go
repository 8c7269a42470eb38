package continuation_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/carryon-go/carryon/continuation"
)

func ExampleSettings_Command() {
	settings := continuation.NewSettings(continuation.DefaultValues()) // or mw.Settings()
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
	settings := continuation.NewSettings(continuation.DefaultValues())
	for _, line := range []string{"/set todo-continuation off", "/set todo-continuation maybe", "hello"} {
		answer, err := settings.CommandFor(context.Background(), "conversation-42", line)
		switch {
		case errors.Is(err, continuation.ErrNotCommand):
			fmt.Println("not a command")
		case err != nil:
			fmt.Println("refused:", err)
		default:
			fmt.Println(answer)
		}
	}
	fmt.Println(settings.Local("conversation-42").TodoContinuation, settings.Local("another").TodoContinuation)
	// Output:
	// todo-continuation is now false.
	// refused: continuation: invalid value of a setting: todo-continuation cannot be "maybe" (valid: true, false)
	// not a command
	// false true
}
