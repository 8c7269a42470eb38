package todo_test

import (
	"fmt"

	"github.com/carryon-go/carryon/todo"
)

// A program that reads its limits from a configuration file reports a wrong value
// instead of crashing on it.
func ExampleTryNewMemory() {
	_, err := todo.TryNewMemory(todo.WithMaxItems(-3))

	fmt.Println(err)
	// Output:
	// todo: WithMaxItems: limit -3 is not positive (use todo.Off for no limit)
}

func ExampleTryFromConversation() {
	_, err := todo.TryFromConversation(todo.WithToolNames(""))

	fmt.Println(err)
	// Output:
	// todo: WithToolNames: blank name
}
